"""What a run learned, as it is stored and printed."""

from __future__ import annotations

import enum
import hashlib
from typing import Any, TypeVar

import msgspec

from evenhand.model.calibration import CorrectedRate
from evenhand.model.comparison import Comparison, GateResult
from evenhand.model.exchange import Json, ToolCall, Usage
from evenhand.model.outcome import Status
from evenhand.model.trace import Trace

T = TypeVar("T")

RESULT_SCHEMA_VERSION = 1
"""Version of the run document. A new status or a changed meaning raises it; added fields do not."""


def stated(value: T) -> T:
    """The default of a field that documents state all the same, so that whoever reads them finds it in every case."""
    field: T = msgspec.field(default_factory=lambda: value)
    return field


def _no_vars() -> dict[str, Json]:
    """Stated too: of all factories, msgspec leaves out what `dict` itself made."""
    return {}


class CaseStatus(enum.StrEnum):
    """How a cell ended. `xfail` and `xpass` are the two ends of a case that is expected to fail."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    SKIP = "skip"
    XFAIL = "xfail"
    XPASS = "xpass"


NOT_PASSING = (CaseStatus.FAIL, CaseStatus.XPASS, CaseStatus.ERROR)
"""How the cells ended that somebody must look at, and that keep a run from exit code 0."""


class CellKey(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """Which combination a result belongs to."""

    provider_id: str
    prompt_id: str | None = None
    test_id: str
    repeat: int = stated(0)

    def digest(self) -> str:
        """16 hex digits that name the same combination in every run."""
        text = f"{self.provider_id}\0{self.prompt_id or ''}\0{self.test_id}\0"
        key = text.encode("utf-8", "surrogatepass") + self.repeat.to_bytes(4, "little")
        return hashlib.sha256(key).hexdigest()[:16]


class AssertResult(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One assertion of a cell and what it found. `criteria` is the assertion as written."""

    kind: str
    status: Status
    score: float | None = stated(None)
    weight: float = stated(1.0)
    reason: str = stated("")
    details: Any = None
    criteria: Any = None
    metric: str | None = None
    parts: tuple[Any, ...] = ()
    """What the verdict is made of: results of a group's members, each with its `kind`, or components of a script."""
    named_scores: dict[str, float] = {}
    named_score_weights: dict[str, float] = {}
    cached: bool = False
    cost_usd: float | None = None
    error_class: str | None = None
    """An `ErrorClass`, or one that only a newer version knows."""
    unenforced: bool = False


class FallbackAttempt(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A provider that was asked for a cell and whose answer is not the cell's: why not, and what asking it cost."""

    provider_id: str
    empty_reason: str | None = None
    error_class: str | None = None
    usage: Usage | None = None
    cost_usd: float | None = None


class RepeatDecision(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """How repeating a case until it was decided ended: `passing`, `failing` or `undecided`."""

    verdict: str
    passed: int
    failed: int
    calls_saved: int = 0


class CaseResult(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """Everything learned from one cell: exactly one per cell, whatever happens."""

    cell: CellKey
    case_key: str
    index: int = 0
    """Place of the cell in the run's plan, from 0: the order in which reports show results."""
    name: str
    tags: tuple[str, ...] = stated(())
    status: CaseStatus
    score: float | None = stated(None)
    location: str | None = None
    """Where the case is written: `file:line:column`, as far as it is known."""
    vars: dict[str, Json] = msgspec.field(default_factory=_no_vars)
    prompt: Json = None
    output: Json = None
    """What was judged: what the provider answered, or what the provider's and the case's transforms made of it."""
    raw_output: Json = None
    """What the provider answered, where a transform was applied to it."""
    tool_calls: tuple[ToolCall, ...] = stated(())
    asserts: tuple[AssertResult, ...] = stated(())
    named_scores: dict[str, float] = {}
    error: str | None = None
    error_class: str | None = None
    error_details: Json = None
    expect_fail_reason: str | None = None
    empty_reason: str | None = None
    reported_empty_reason: str | None = None
    """The reason that the provider itself gave, where it gave one; `empty_reason` may also be derived."""
    answered_by_provider_id: str | None = None
    """The fallback that gave the answer; None where the cell's own provider did."""
    fallback_attempts: tuple[FallbackAttempt, ...] = ()
    """Who else was asked, in order: before the answer, or in vain after the provider's own."""
    stop_reason: str | None = None
    model: str | None = None
    reasoning: str | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    wall_ms: float | None = None
    attempts: int = stated(0)
    cached: bool = stated(False)
    cache_key: str | None = None
    """What the answer is kept under; None where neither kept answers were looked at nor the new one could be kept."""
    request: Json = None
    """What the last call of the cell sent, as a `SentCall`; None where nothing was sent, as for a kept answer."""
    raw: Json = None
    """What came back, where the provider tells: the body of a reply as JSON; `status`, `headers` and `body` of one that
    could not be used."""
    log_probs: Json = None
    metadata: Json = None
    trace: Trace | None = None
    """What the system under test did during the call that ended the cell, where the run traces it."""
    prompt_digest: str | None = None
    provider_digest: str | None = None
    assert_digest: str | None = None
    repeats: int = 1
    """How many cells ask this question in the run; 0 where that is decided while it runs, on all but the last."""
    decision: RepeatDecision | None = None
    """What the repeats have shown, on the last of those that were repeated until they were decided."""
    unchecked: bool = False
    """Whether nothing was judged: no assertion, all skipped, or only budgets that nobody could enforce."""


class LimitCut(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One cut of the limit on calls in flight to a provider, that long after the run began."""

    at_ms: float
    before: int
    after: int
    reason: str
    """The `ErrorClass` of the refusal."""


class LimitHistory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the limit on calls in flight to a provider changed while it was overloaded."""

    provider_id: str
    configured: int
    lowest: int
    final: int
    refused_calls: int
    """Calls that were turned away because there were too many."""
    cut_count: int
    cuts: tuple[LimitCut, ...] = ()
    """The first cuts; `cut_count` says how many there were."""


class FlakyCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question that was answered rightly in some repeats and wrongly in others, with its pass rate's 95 % bounds."""

    provider_id: str
    prompt_id: str | None = None
    test_id: str
    passed: int
    judged: int
    low: float
    high: float


class RepeatSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What repeats showed. A *case* here is one question to one provider, of which at least one repeat was judged.

    `pass_at_k` is the chance that at least one of k repeats passes, `pass_hat_k` that all of them do: unbiased means
    over the cases with at least k judged repeats, whose number is in `cases_at_k`. `calls_saved` are the repeats that
    were not needed, because their cases were decided before.
    """

    cases: int = 0
    flaky: int = 0
    flaky_cases: tuple[FlakyCase, ...] = ()
    """Those of the flaky cases that are nearest to passing half the time."""
    pass_at_k: dict[str, float] = {}
    pass_hat_k: dict[str, float] = {}
    cases_at_k: dict[str, int] = {}
    passing: int = 0
    failing: int = 0
    undecided: int = 0
    calls_saved: int = 0


class Spending(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run with a limit on its cost spent, in US dollars, graders included."""

    max_cost_usd: float
    spent_usd: float = stated(0.0)
    is_reached: bool = stated(False)
    """Whether the run ended before its last cell, since that could have cost more than the limit."""
    unpriced_answers: int = 0
    """Answers whose cost nobody told; the limit does not hold them."""


class Summary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Counts and sums over the cells of a run. Costs are in US dollars, times in milliseconds.

    A *judged* case is one whose output was looked at and found right or wrong: `pass`, `fail`, `xfail` or `xpass`,
    and not `unchecked`. `pass_rate` is the share of judged cases that were right (`pass` or `xpass`), with its 95 %
    Wilson interval; `mean_score` is over judged cases too. Errored and skipped cases are in neither.
    """

    total: int = 0
    passed: int = 0
    failed: int = 0
    errored: int = 0
    skipped: int = 0
    xfailed: int = 0
    xpassed: int = 0
    judged: int = 0
    unchecked: int = 0
    unenforced_budgets: int = 0
    judged_assertions: int = 0
    skipped_assertions: int = 0
    pass_rate: float | None = None
    pass_rate_low: float | None = None
    pass_rate_high: float | None = None
    mean_score: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    grader_cost_usd: float | None = None
    retried_cases: int = 0
    cache_hits: int = 0
    cache_misses: int = 0
    """Cells whose answer could have come from the cache and was asked for."""
    cache_savings_usd: float | None = None
    """What the kept answers and verdicts would have cost at today's prices."""
    fallback_cases: int = 0
    """Judged cases that a fallback answered."""
    empty_counts: dict[str, int] = {}
    error_counts: dict[str, int] = {}
    named_scores: dict[str, float] = {}
    """The weighted mean of the scores under each name: metrics, and what scripts report."""
    named_counts: dict[str, int] = {}
    """How many assertions each mean is over."""
    named_scores_by_provider: dict[str, dict[str, float]] = {}
    named_scores_left_out: int = 0
    """Scores under names beyond those that a run keeps, or under names that are too long."""
    latency_ms_p50: float | None = None
    latency_ms_p95: float | None = None
    wall_ms: float | None = None
    repeats: RepeatSummary | None = None
    """What repeats showed; None where no question was asked twice."""


class Git(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The commit that a run was made at."""

    branch: str | None = None
    commit: str | None = None
    dirty: bool = False


class Filters(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of a suite that a run was asked for."""

    tags: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    repeat: int | None = None
    """How often every question was asked, whatever the suite says."""
    failed_of: str | None = None
    """The run whose failed and errored cells were asked for."""


class Terms(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked of a run, beside its suite, that decides what it finds; a run that is resumed keeps to it."""

    safe_mode: bool = False
    """Whether inline code was rejected, whoever asked for that."""
    no_fallback: bool = False
    fallback_on_empty_reason: tuple[str, ...] | None = None
    no_cache: bool = False
    cache_only: bool = False
    no_grader_cache: bool = False
    allow_empty: bool = False
    allow_unchecked: bool = False


class RunStatus(enum.StrEnum):
    """Whether a run got to its end."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"
    """Ended early by `--fail-fast`, `--max-failures` or `--max-cost`."""


class Run(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run without its cells, which are a query on the store."""

    # A default of a factory is always written: a document must state its version and its status.
    schema_version: int = msgspec.field(default_factory=lambda: RESULT_SCHEMA_VERSION)
    run_id: str
    status: RunStatus = msgspec.field(default_factory=lambda: RunStatus.RUNNING)
    project: str | None = None
    suite: str | None = None
    suite_path: str = ""
    started_at: str = ""
    finished_at: str | None = None
    evenhand_version: str = ""
    config_digest: str = ""
    config_snapshot: Json = None
    digests: dict[str, str] = {}
    git: Git | None = None
    filters: Filters = Filters()
    terms: Terms = Terms()
    repeat: int = 1
    planned_cells: int | None = None
    limits: tuple[LimitHistory, ...] = ()
    """Providers that turned calls away, and how the limit on calls to them was adapted."""
    spending: Spending | None = None
    """Of a run with a limit on its cost."""
    summary: Summary = Summary()
    exit_code: int | None = None
    origin: str | None = None
    """The run whose stored answers this one judged again; None where the answers were asked for."""
    baseline: str | None = None
    """What the run was to be compared with, as it was asked for."""
    baseline_note: str | None = None
    """Why it was not compared."""
    comparison: Comparison | None = None
    corrected: CorrectedRate | None = None
    """The share of judge verdicts that pass, corrected for the judge's errors; None without a calibration of it."""
    gate: GateResult | None = None
    """What the suite's gate made of it; None where the suite has none, or it had nothing to look at."""


class RunDocument(Run, frozen=True, kw_only=True, omit_defaults=True):
    """A whole run as one document: what `--format json` writes, one result after the other, and what readers get."""

    cases: tuple[CaseResult, ...] = msgspec.field(default_factory=tuple)
