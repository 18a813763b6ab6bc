"""The base class of systems under test: declared in a suite, opened once per run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

import msgspec

from evenhand.errors import Problem
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Json, Request, Response, Usage
from evenhand.model.quota import Quota
from evenhand.model.transform import WrittenTransform
from evenhand.registry import Registry
from evenhand.template import Engine

Keyer = Callable[[Request], Json]
"""Makes the canonical view of what a provider would send for a question: what its answer depends on, without
credentials and without anything that differs from machine to machine. Raises `ClassifiedError` where the question
cannot be put."""


class Session(Protocol):
    """A provider in use: whatever must stay open between calls lives here."""

    async def complete(self, request: Request) -> Response:
        """Put one question and bring back the answer; raises `ProviderError`. Cancelling it ends the call."""
        ...

    async def close(self) -> None:
        """Release what the session holds. Called once, also after failures."""
        ...


class RateLimit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How fast calls may be sent to a provider, evenly spaced."""

    rps: Annotated[
        Annotated[float, msgspec.Meta(gt=0)] | None, msgspec.Meta(description="Calls per second.")
    ] = None
    tpm: Annotated[
        Annotated[float, msgspec.Meta(gt=0)] | None,
        msgspec.Meta(
            description="Tokens per minute: estimated before a call, put right by what the provider reports."
        ),
    ] = None


def _tell_nobody(_: Quota) -> None:
    return None


class ProviderContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider may use while it is open: the suite's folder and how many calls can be in flight."""

    directory: Path
    concurrency: int = 1
    timeout_ms: float | None = None
    """The run's limit for one call; None where nothing limits it."""
    engine: Engine = msgspec.field(default_factory=Engine)
    env: Mapping[str, str] = {}
    """The environment variables that templates may see."""
    confinement: Confinement | None = None
    """The limits of the suite; None where nothing limits it."""
    tell_quota: Callable[[Quota], None] = _tell_nobody
    """Takes in what an answer says of the calls that the other side will still take."""


class Provider(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="type",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """A system under test, as a suite declares it. One class per type; its fields are the options of that type."""

    id: Annotated[
        str, msgspec.Meta(description="Name of the provider in filters and reports; its type where left out.")
    ] = ""
    label: Annotated[str | None, msgspec.Meta(description="Text that reports show instead of the id.")] = None
    transform: Annotated[
        WrittenTransform,
        msgspec.Meta(
            description="Change of every output before it is judged: inline JavaScript, `file://` with a script, or "
            "a mapping."
        ),
    ] = None
    fallback: Annotated[
        tuple[str, ...],
        msgspec.Meta(description="Ids of providers to ask in turn where this one fails or refuses."),
    ] = ()
    rate_limit: Annotated[
        RateLimit | None,
        msgspec.Meta(description="How fast calls may be sent to it; what is unset is the runner's."),
    ] = None
    fallback_only: Annotated[
        bool, msgspec.Meta(description="Only answer for others: no case is put to this provider itself.")
    ] = False

    cache: Annotated[
        bool | None,
        msgspec.Meta(
            description="Whether answers are kept and used again; by default for all types that are not called "
            "in this process."
        ),
    ] = None
    cache_salt: Annotated[
        str | None,
        msgspec.Meta(
            description="Text that separates kept answers, as the version of what is tested; "
            "`$digest: <pattern>` stands for the content of files."
        ),
    ] = None

    keeps_answers: ClassVar[bool] = True
    """Whether answers of this type are kept unless the suite says otherwise."""
    needs_no_call: ClassVar[bool] = False
    """Whether answering neither leaves this process nor runs anybody's code."""
    beside_the_question: ClassVar[frozenset[str]] = frozenset(
        {"label", "cache", "fallback", "fallback_only", "rate_limit", "pricing", "transform"}
    )
    """Options that change nothing about an answer: what it is called, who is asked next, how fast, at which price, and
    what is made of it."""
    reports_tool_calls: ClassVar[bool] = True
    """Whether this type can say which tools a model called."""
    takes_images: ClassVar[bool] = False
    """Whether this type passes the images of a turn on; a suite that would lose them is refused."""
    reads_vars: ClassVar[bool] = True
    """Whether this type is given a case's vars beside the prompt."""
    embeds: ClassVar[bool] = False
    """Whether this type turns texts into vectors: it then serves `similar` and is no system under test."""
    reach: ClassVar[Literal["nothing", "hosts", "anything"]] = "anything"
    """What a call may touch: nothing outside this process, the hosts that it says, or anything. A suite in a sandbox
    may not use a type that may touch anything."""
    example: ClassVar[str] = ""
    """A provider block in YAML, for the reference."""

    @property
    def calls_at_once(self) -> int | None:
        """How many calls the provider works on at the same time; None for as many as are asked for.

        Calls beyond that wait inside the session, so whoever measures or limits the time of a call lets no more
        of them in.
        """
        return None

    def cost_of(self, usage: Usage) -> float | None:
        """What so many tokens cost in US dollars; None where the declaration does not tell."""
        return None

    def answer_tokens(self, expected: int) -> int:
        """The tokens that an answer may have, where so many are expected of one."""
        return expected

    @property
    def credentials(self) -> tuple[str, ...]:
        """Environment variables that may hold the secret to call with, in the order in which they are looked for.

        Empty where the provider needs none.
        """
        return ()

    @property
    def lacks(self) -> str | None:
        """What has to be installed before the provider can be called, and how; None where nothing is missing."""
        return None

    def secrets(self, env: Mapping[str, str]) -> Iterator[str]:
        """Values of the declaration itself that must not be stored: credentials written into headers.

        `env` are the environment variables that its templates see.
        """
        return iter(())

    @property
    def is_cached(self) -> bool:
        """Whether answers are kept and used again."""
        return self.keeps_answers if self.cache is None else self.cache

    @property
    def address(self) -> str | None:
        """Where calls go, for a type whose kept answers do not depend on it; None for every other.

        Two providers of a suite that differ in nothing else are told apart by it all the same.
        """
        return None

    @property
    def can_keep_answers(self) -> bool:
        """Whether the type says what makes two of its questions the same."""
        return type(self).keyer is not Provider.keyer

    def keyer(self, context: ProviderContext) -> Keyer | None:
        """What makes the questions under which answers are kept; None for a type whose answers cannot be."""
        return None

    def priced(self, response: Response) -> Response:
        """The answer with what its tokens cost today, as far as the rates are known."""
        cost = None if response.usage is None else self.cost_of(response.usage)
        if cost is None or cost == response.cost_usd:
            return response
        return msgspec.structs.replace(response, cost_usd=cost)

    def problems(self, confinement: Confinement) -> list[Problem]:
        """What is wrong with the options beyond their types, for a suite with these limits."""
        return []

    def addresses(self) -> Iterator[tuple[str, str]]:
        """The addresses that the provider calls, as far as they are known before a call, each with its option."""
        return iter(())

    @property
    def own_addresses(self) -> tuple[str, ...]:
        """Addresses of the vendor itself, which a sandbox lets the provider call."""
        return ()

    @property
    def own_credentials(self) -> tuple[str, ...]:
        """Variables that hold the vendor's usual key, which a sandbox lets the provider send."""
        return ()

    def warnings(self, directory: Path) -> list[Problem]:
        """What is legal but suspicious."""
        return []

    def unfit_to_judge(self, params: Mapping[str, Any]) -> str | None:
        """Why the vendor holds no answer to a form, with these parameters over its own; None where it does."""
        return None

    def open(self, context: ProviderContext) -> Session:
        """Make the provider ready for calls."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What reports call this provider."""
        return self.label or self.id


def _load_builtins() -> None:
    import evenhand.providers  # noqa: F401  (imports upward on purpose: registration on first use)


PROVIDERS: Registry[type[Provider]] = Registry("provider type", _load_builtins)
