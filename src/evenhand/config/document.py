"""What people write in a suite, key by key.

Unknown keys are refused at every level. The descriptions are the reference: the JSON Schema and the table of keys
derive from them. Entries of `providers`, `assert` and `tests` are decoded one by one, by their own declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from evenhand.model.caching import CacheSettings
from evenhand.model.comparison import Baseline, Gate
from evenhand.model.exchange import Role, Tool
from evenhand.model.grading import VOTE_DESCRIPTION, Vote
from evenhand.model.suite import MAX_REPEAT, Repeat, Runner, Server, Tracing
from evenhand.model.transform import WrittenTransform

SUPPORTED_VERSION = 1
"""The version of the suite language."""

FREE_KEY_PREFIX = "x-"
"""Top-level keys that begin so are free, for anchors and notes."""

CASE_ASSERT = "assert"
SOURCE = "source"
GENERATOR = "generator"
HISTORY_MARKER: Literal["history"] = "history"


def _described(description: str, **schema: Any) -> msgspec.Meta:
    return msgspec.Meta(description=description, extra_json_schema=schema or None)


def _list_of(definition: str) -> dict[str, Any]:
    return {"items": {"$ref": f"#/$defs/{definition}"}}


def _map_of(definition: str) -> dict[str, Any]:
    return {"additionalProperties": {"$ref": f"#/$defs/{definition}"}}


class Written(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping that a person writes."""


Vars = Annotated[
    Mapping[str, Any],
    _described(
        "Values for the templates, by name. Text is a template itself unless marked `!raw`.",
        **_map_of("value"),
    ),
]
Asserts = Annotated[tuple[Any, ...], _described("What the answer must satisfy.", **_list_of("assertion"))]
Threshold = Annotated[
    float | None,
    _described("Weighted mean score from which a case passes; without it every assertion must pass."),
]
CacheSalt = Annotated[
    str | None,
    _described("Text that separates cached answers; `$digest: <pattern>` stands for the content of files."),
]
CaseTransform = Annotated[
    WrittenTransform,
    _described(
        "Change of the output before any assertion sees it, after that of the provider: inline JavaScript, `file://` "
        "with a script, or a mapping."
    ),
]
History = Annotated[
    Any,
    _described(
        "Turns that precede the prompt: a list, or `file://` with a YAML or JSON list.",
        anyOf=[
            {"type": "string", "pattern": "^file://"},
            {"type": "array", "items": {"$ref": "#/$defs/turn"}},
            {"type": "null"},
        ],
    ),
]


RepeatTimes = Annotated[
    int | Repeat | None,
    _described(
        "How often the question is asked: a number, or `{until_decided: true, max: n}`. `--repeat` overrides it.",
        anyOf=[
            {"type": "integer", "minimum": 1, "maximum": MAX_REPEAT},
            {"$ref": "#/$defs/Repeat"},
            {"type": "null"},
        ],
    ),
]


class WrittenDefaults(Written, frozen=True, kw_only=True):
    """What every case has unless it says otherwise."""

    vars: Vars = {}
    asserts: Annotated[Asserts, _described("Assertions of every case, before its own.")] = msgspec.field(
        default=(), name=CASE_ASSERT
    )
    tags: Annotated[tuple[str, ...], _described("Tags that are added to each case's own.")] = ()
    threshold: Threshold = None
    cache_salt: CacheSalt = None
    history: History = None
    transform: CaseTransform = None
    repeat: RepeatTimes = None


class WrittenCase(Written, frozen=True, kw_only=True):
    """One test: values for the prompts' holes and what the answer must satisfy."""

    __test__ = False

    id: Annotated[
        str | None, _described("Name of the case in filters and reports; made from its place if absent.")
    ] = None
    description: Annotated[str | None, _described("What the case is about, for people.")] = None
    tags: Annotated[tuple[str, ...], _described("Words to select cases by.")] = ()
    vars: Vars = {}
    matrix: Annotated[
        Mapping[str, Any],
        _described(
            "Lists of values by variable: the case is repeated for each combination.",
            additionalProperties={"type": "array", "minItems": 1},
        ),
    ] = {}
    matrix_id: Annotated[
        str | None,
        _described("Template over the matrix variables alone that gives each combination's whole id."),
    ] = None
    asserts: Asserts = msgspec.field(default=(), name=CASE_ASSERT)
    threshold: Threshold = None
    history: History = None
    only_providers: Annotated[
        tuple[str, ...], _described("Ids of the only providers that the case is put to.")
    ] = ()
    skip_providers: Annotated[
        tuple[str, ...], _described("Ids of providers that the case is not put to.")
    ] = ()
    expect_fail: Annotated[
        bool | str | None,
        _described("Whether the case is known to fail, or why; passing then fails the run."),
    ] = None
    cache_salt: CacheSalt = None
    transform: CaseTransform = None
    repeat: RepeatTimes = None


class WrittenTurn(Written, frozen=True, kw_only=True):
    """One turn of a conversation."""

    role: Annotated[Role, _described("Who speaks.")]
    content: Annotated[
        Any,
        _described(
            "Text (a template, or `file://` with one) or a list of blocks.",
            anyOf=[
                {"type": "string"},
                {"type": "null"},
                {"type": "array", "items": {"$ref": "#/$defs/block"}},
            ],
        ),
    ] = None
    tool_calls: Annotated[
        tuple[WrittenToolCall, ...], _described("Tools that the assistant called in this turn.")
    ] = ()
    tool_call_id: Annotated[str | None, _described("The call that a `tool` turn answers.")] = None


class WrittenToolCall(Written, frozen=True, kw_only=True):
    """A tool call inside a transcript."""

    name: Annotated[str, _described("Name of the tool.")]
    arguments: Annotated[Any, _described("What it was called with; text inside is a template.")] = None
    id: Annotated[str | None, _described("Id by which a `tool` turn answers.")] = None


class TextBlock(Written, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Text inside a turn."""

    text: Annotated[str, _described("A template.")]


class ThinkingBlock(Written, frozen=True, kw_only=True, tag_field="type", tag="thinking"):
    """A model's thinking inside a turn; never a template."""

    thinking: Annotated[str, _described("The thinking as the vendor gave it.")]
    signature: Annotated[str | None, _described("The vendor's signature of it.")] = None


class ImageBlock(Written, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """An image inside a turn, for providers that take them."""

    file: Annotated[
        str,
        _described("Path of a PNG, JPEG, GIF or WebP image of up to 20 MiB, relative to the suite's folder."),
    ]


BLOCKS: Mapping[str, type[Written]] = {"text": TextBlock, "thinking": ThinkingBlock, "image": ImageBlock}


class WrittenPrompt(Written, frozen=True, kw_only=True):
    """A question with holes: `template` or `messages`."""

    id: Annotated[str, _described("Name of the prompt in filters and reports.")]
    label: Annotated[str | None, _described("Text that reports show instead of the id.")] = None
    template: Annotated[str | None, _described("The prompt as text, or `file://` with it. A template.")] = (
        None
    )
    messages: Annotated[
        tuple[Any, ...] | None,
        _described(
            "The prompt as turns; the word `history` marks where a case's history goes.",
            items={"anyOf": [{"const": HISTORY_MARKER}, {"$ref": "#/$defs/turn"}]},
        ),
    ] = None


class WrittenSource(Written, frozen=True, kw_only=True):
    """Files that hold tests."""

    source: Annotated[
        str,
        _described("`file://` with a path or pattern, relative to the suite's folder.", pattern="^file://"),
    ]
    template: Annotated[
        bool, _described("Whether var values of data files (CSV, TSV, JSON, JSONL, Parquet) are templates.")
    ] = False


class WrittenSuite(Written, frozen=True, kw_only=True):
    """A suite file."""

    version: Annotated[
        int, _described(f"Version of the suite language: {SUPPORTED_VERSION}.", const=SUPPORTED_VERSION)
    ] = SUPPORTED_VERSION
    project: Annotated[str | None, _described("What the suite belongs to, for reports.")] = None
    suite: Annotated[str | None, _described("Name of the suite, for reports.")] = None
    description: Annotated[str | None, _described("What the suite checks, for people.")] = None
    extends: Annotated[
        str | None, _described("A suite file whose keys are taken over; this file's own win.")
    ] = None
    imports: Annotated[
        tuple[str, ...], _described("Files with parts of a suite, merged in their order over `extends`.")
    ] = ()
    providers: Annotated[tuple[Any, ...], _described("The systems under test.", **_list_of("provider"))] = ()
    prompts: Annotated[
        tuple[Any, ...],
        _described("The questions; without any, providers get the vars alone.", **_list_of("prompt")),
    ] = ()
    tools: Annotated[tuple[Tool, ...], _described("Tools offered to every provider; none is ever run.")] = ()
    grader: Annotated[
        Any,
        _described(
            "Who judges by rubrics: one grader, or a list of them that vote.",
            anyOf=[
                {"$ref": "#/$defs/grader"},
                {"type": "array", "items": {"$ref": "#/$defs/grader"}, "minItems": 1},
                {"type": "null"},
            ],
        ),
    ] = None
    vote: Annotated[Vote | None, _described(VOTE_DESCRIPTION)] = None
    tests: Annotated[
        tuple[Any, ...],
        _described("Cases, `file://` patterns of test files, and generators.", **_list_of("test")),
    ] = ()
    defaults: Annotated[WrittenDefaults, _described("What every case has unless it says otherwise.")] = (
        WrittenDefaults()
    )
    env: Annotated[
        tuple[str, ...],
        _described(
            "Environment variables that templates may see, beside those that the suite names as `env.NAME`."
        ),
    ] = ()
    servers: Annotated[
        tuple[Server, ...],
        _described("Programs that a run starts before its first call and ends after its last one."),
    ] = ()
    tracing: Annotated[
        Tracing, _described("How the run listens to what systems under test report of their work.")
    ] = Tracing()
    runner: Annotated[Runner, _described("How the suite is run.")] = Runner()
    cache: Annotated[CacheSettings, _described("How answers are kept and used again.")] = CacheSettings()
    baseline: Annotated[
        Baseline | None, _described("What every run is compared with unless `--against` says otherwise.")
    ] = None
    gate: Annotated[
        Gate | None,
        _described("When a run counts as worse than its baseline; without it every case must pass."),
    ] = None


def with_long_forms(runner: Any) -> Any:
    """A `runner` block whose short forms are written out: `retries: 3` is `retries: {max: 3}`."""
    retries = runner.get("retries") if isinstance(runner, dict) else None
    if isinstance(retries, int) and not isinstance(retries, bool):
        return {**runner, "retries": {"max": retries}}
    return runner
