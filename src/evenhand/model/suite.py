"""A finished suite: nothing in it is left to load, merge or look up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Protocol

import msgspec

from evenhand.errors import Location, Problem
from evenhand.model.assertion import Assertion
from evenhand.model.caching import CacheSettings
from evenhand.model.comparison import Baseline, Gate
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Json, Role, Tool
from evenhand.model.grading import Graders
from evenhand.model.provider import Provider, RateLimit
from evenhand.model.transform import WrittenTransform
from evenhand.template import Engine, Val

Meta = msgspec.Meta


class Retries(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a failed call is repeated. After attempt n it waits up to `initial_ms * 2**(n-1)`, at most `max_ms`."""

    max: Annotated[int, Meta(ge=0, le=100, description="Further attempts after the first.")] = 2
    initial_ms: Annotated[float, Meta(ge=0, description="Longest wait before the second attempt.")] = 500
    max_ms: Annotated[float, Meta(ge=0, description="Longest wait before any attempt.")] = 8_000
    jitter: Annotated[bool, Meta(description="Wait a random share of the time instead of all of it.")] = True
    retry_after_max_ms: Annotated[
        float,
        Meta(ge=0, description="Longest wait that a server may ask for; a longer one ends the attempts."),
    ] = 120_000


MAX_CONCURRENCY = 10_000
"""Cells in flight at once, at most."""

MAX_REPEAT = 100_000
"""Times that one question is asked in a run, at most."""


class Runner(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How the suite is run."""

    concurrency: Annotated[int, Meta(ge=1, le=MAX_CONCURRENCY, description="Cells in flight at once.")] = 8
    retries: Annotated[
        Retries, Meta(description="How failed calls are repeated; a number is short for `{max: n}`.")
    ] = Retries()
    rate_limit: Annotated[
        RateLimit | None, Meta(description="How fast calls may be sent to each provider that sets no other.")
    ] = None
    adaptive_concurrency: Annotated[
        bool,
        Meta(
            description="Send fewer calls at once to a provider that turns calls away, until it copes again."
        ),
    ] = True
    max_cost_usd: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(
            description="US dollars that a run may cost, graders included; it ends before it would cost more."
        ),
    ] = None
    timeout_ms: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="Time for one call; by default the provider's own limit."),
    ] = None
    case_timeout_ms: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="Time for one cell with all its attempts and assertions."),
    ] = None
    short_circuit: Annotated[
        bool, Meta(description="Skip graded assertions once they cannot change the case's verdict.")
    ] = True
    safe_mode: Annotated[
        bool,
        Meta(
            description="Reject inline JavaScript and Python; scripts in files run. Once on, nothing switches it off."
        ),
    ] = False
    skip_on_empty_reason: Annotated[
        tuple[str, ...],
        Meta(description="Reasons for an empty output that make a case `skip` instead of judged."),
    ] = ()
    refusal_patterns: Annotated[
        tuple[str, ...], Meta(description="Patterns that mark an output with text in it as a refusal.")
    ] = ()
    fallback: Annotated[
        bool, Meta(description="Whether a provider's fallbacks are asked where it fails or refuses.")
    ] = True
    fallback_on_empty_reason: Annotated[
        tuple[str, ...],
        Meta(description="Reasons for an empty output, or a refusal, for which fallbacks are asked."),
    ] = ("refusal", "content_filter")


class Server(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A program that serves what is tested while a run lasts."""

    command: Annotated[
        tuple[str, ...],
        Meta(
            min_length=1,
            description="The program and its arguments, started in the suite's folder, no shell.",
        ),
    ]
    url: Annotated[
        str,
        Meta(pattern=r"^https?://[^\s]+$", description="Where it listens: the run begins when it connects."),
    ]
    env: Annotated[
        Mapping[str, str], Meta(description="Environment variables for it, beside those that are set.")
    ] = {}
    timeout_ms: Annotated[float, Meta(gt=0, description="Time until it must listen.")] = 30_000


MAX_SPANS = 100_000


class Tracing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a run listens to what systems under test report of their work."""

    enabled: Annotated[
        bool,
        Meta(description="Receive spans over OTLP/HTTP on loopback, and hand every call a `traceparent`."),
    ] = False
    port: Annotated[
        int,
        Meta(ge=0, le=65_535, description="Port of the receiver; 0 for one that is free."),
    ] = 0
    wait_ms: Annotated[
        float,
        Meta(ge=0, le=600_000, description="Longest wait for spans that come after the answer."),
    ] = 2_000
    max_spans: Annotated[
        int,
        Meta(ge=1, le=MAX_SPANS, description="Spans of one call that are kept; further ones are counted."),
    ] = 1_000


class Repeat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How often a case is asked."""

    max: Annotated[
        int, Meta(ge=1, le=MAX_REPEAT, description="Repeats, or with `until_decided` the most of them.")
    ]
    until_decided: Annotated[
        bool,
        Meta(description="End as soon as a sequential test shows whether the case passes often enough."),
    ] = False
    alpha: Annotated[
        float, Meta(gt=0, lt=1, description="Chance of a wrong decision that the test accepts for the case.")
    ] = 0.05
    pass_rate: Annotated[
        float,
        Meta(gt=0, lt=1, description="Share of passes that the case must be shown to lie above or below."),
    ] = 0.5


class ToolCallTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call of a transcript before rendering. Name and id are taken as they are written."""

    name: str
    arguments: Val
    id: str | None = None


class MessageTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a prompt or history before rendering: `content` renders to text or to a list of blocks.

    What is no template (a model's thinking, turns from data files) is marked so inside the value.
    """

    role: Role
    content: Val
    tool_calls: tuple[ToolCallTemplate, ...] = ()
    tool_call_id: str | None = None


class HistoryMarker(msgspec.Struct, frozen=True):
    """The place in a prompt's turns where a case's history goes."""


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A question with holes: a template for text, or turns."""

    id: str
    label: str | None = None
    template: str | None = None
    messages: tuple[MessageTemplate | HistoryMarker, ...] = ()
    location: Location | None = None


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One test: values for the prompts' holes and what the answer must satisfy."""

    id: str
    description: str | None = None
    tags: tuple[str, ...] = ()
    vars: Mapping[str, Val] = {}
    assertions: tuple[Assertion, ...] = ()
    threshold: float | None = None
    history: tuple[MessageTemplate, ...] = ()
    only_providers: tuple[str, ...] = ()
    skip_providers: tuple[str, ...] = ()
    expect_fail: str | None = None
    """Why the case is expected to fail; empty text where no reason is given, None where it must pass."""
    cache_salt: str | None = None
    transform: WrittenTransform = None
    """Change of the output before any assertion sees it, after that of the provider."""
    repeat: Repeat | None = None
    location: Location | None = None


class Cases(Protocol):
    """The cases of a suite as a stream that can be read again; a suite may be larger than memory."""

    @property
    def is_held(self) -> bool:
        """Whether all cases are in memory; else each iteration reads files."""
        ...

    def __iter__(self) -> Iterator[Case]: ...

    def __len__(self) -> int: ...


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run."""

    path: Path
    """The suite's file; its folder is where programs run and data is looked up."""
    project: str | None = None
    suite: str | None = None
    description: str | None = None
    providers: tuple[Provider, ...]
    prompts: tuple[Prompt, ...] = ()
    cases: Cases
    tools: tuple[Tool, ...] = ()
    servers: tuple[Server, ...] = ()
    """What a run starts before its first call and ends after its last one."""
    tracing: Tracing = Tracing()
    env: Mapping[str, str] = {}
    """The environment variables that templates may see, with their values at load."""
    runner: Runner = Runner()
    gate: Gate | None = None
    """When a run counts as worse than its baseline; None is: every case must pass."""
    baseline: Baseline | None = None
    confinement: Confinement | None = None
    """What the suite may reach; None where nothing limits it."""
    engine: Engine
    graders: Graders = Graders()
    cache: CacheSettings = CacheSettings()
    generators_left: int = 0
    """What makes cases and was not run, so that its cases are not among `cases`."""
    has_repeats: bool = True
    """Whether any case may say how often it is asked; False saves looking for one."""
    has_graded_cases: bool = True
    """Whether any case may hold a graded assertion; False saves looking for one."""
    warnings: tuple[Problem, ...] = ()
    """What is legal but suspicious, found at load."""
    digests: Mapping[str, str] = {}
    """sha256 by part (prompts, providers, tests, asserts, files, env): equal digests mean an equal question."""
    snapshot: Json = None
    """The suite as it was put together, for storing: `${env:…}` not filled in, without the cases."""
    functions: tuple[object, ...] = ()
    """What keeps the functions that a caller handed over for as long as the suite lives."""

    def __repr__(self) -> str:
        return (
            f"<Suite {self.name!r} in {self.path}: {len(self.cases)} cases, "
            f"providers {[provider.id for provider in self.providers]}>"
        )

    @property
    def directory(self) -> Path:
        """The folder of the suite's file."""
        return self.path.parent

    @property
    def digest(self) -> str:
        """`sha256:` and 64 hex digits over the digests of the parts: equal where the whole question is."""
        parts = "".join(f"{name}:{self.digests[name]}\n" for name in sorted(self.digests))
        return f"sha256:{hashlib.sha256(parts.encode()).hexdigest()}"

    @property
    def name(self) -> str:
        """What reports call the suite."""
        return self.suite or self.project or self.path.parent.name or str(self.path)
