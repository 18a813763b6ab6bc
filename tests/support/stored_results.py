"""Results and runs for tests of what is folded and stored: made by hand, or any at all."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from evenhand.errors import ErrorClass
from evenhand.model.exchange import ToolCall, Usage
from evenhand.model.outcome import Outcome, Status
from evenhand.model.result import AssertResult, CaseResult, CaseStatus, CellKey, Run, RunStatus


def a_result(place: int = 0, **fields: Any) -> CaseResult:
    """A judged result with one assertion; `place` makes it another cell."""
    cell = fields.pop("cell", CellKey(provider_id="echo", test_id=f"case/{place}"))
    status = fields.setdefault("status", CaseStatus.PASS)
    fields.setdefault("asserts", (an_assert(Status.FAIL if status is CaseStatus.FAIL else Status.PASS),))
    fields.setdefault("score", 0.0 if status is CaseStatus.FAIL else 1.0)
    return CaseResult(
        cell=cell, case_key=cell.digest(), index=fields.pop("index", place), name=cell.test_id, **fields
    )


def an_errored_result(place: int = 0, error_class: str | None = ErrorClass.PROVIDER_TIMEOUT) -> CaseResult:
    """A result of which nothing was learned."""
    return a_result(
        place, status=CaseStatus.ERROR, score=None, asserts=(), error="broke", error_class=error_class
    )


def a_skipped_result(place: int = 0) -> CaseResult:
    """A result that was left unjudged on purpose."""
    return a_result(place, status=CaseStatus.SKIP, score=0.0, asserts=(an_assert(Status.FAIL),))


def an_assert(status: Status = Status.PASS, **fields: Any) -> AssertResult:
    """One assertion of a result."""
    if status in (Status.PASS, Status.FAIL):
        fields.setdefault("score", 1.0 if status is Status.PASS else 0.0)
    return AssertResult(kind=fields.pop("kind", "contains"), status=status, **fields)


def a_run(run_id: str = "01J0000000000000000000RUN1", **fields: Any) -> Run:
    """The header of a run that has begun."""
    fields.setdefault("suite_path", "evals/evenhand.yaml")
    fields.setdefault("started_at", "2026-11-01T10:00:00Z")
    return Run(run_id=run_id, **fields)


def finished(run: Run, **fields: Any) -> Run:
    """The same run after its end."""
    import msgspec

    return msgspec.structs.replace(
        run, status=RunStatus.FINISHED, finished_at="2026-11-01T10:05:00Z", **fields
    )


texts = st.text(max_size=12)
names = st.text(min_size=1, max_size=6)
scores = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, 0.5, 0.1])
counts = st.integers(0, 10_000)
costs = st.integers(0, 50_000_000).map(lambda micros: micros / 1_000_000)
error_classes = st.none() | st.sampled_from([*ErrorClass, "something_new"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | scores | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=3,
)
cell_keys = st.builds(
    CellKey, provider_id=names, prompt_id=st.none() | names, test_id=names, repeat=st.integers(0, 2**32 - 1)
)

_metrics = st.sampled_from(["tone", "style", "length"])
_budget = st.builds(Outcome, status=st.just(Status.PASS), unenforced=st.booleans())
_group = st.builds(Outcome, status=st.just(Status.PASS), parts=st.lists(_budget, max_size=2).map(tuple))
_member = st.builds(
    AssertResult,
    kind=st.just("contains"),
    status=st.sampled_from(Status),
    score=st.none() | scores,
    weight=st.floats(0, 3),
    metric=st.none() | _metrics,
)
_counted_asserts = st.builds(
    AssertResult,
    kind=st.just("contains"),
    status=st.sampled_from(Status),
    score=st.none() | scores,
    weight=st.floats(0, 3),
    metric=st.none() | _metrics,
    parts=st.lists(_budget | _group | _member, max_size=2).map(tuple),
    named_scores=st.dictionaries(_metrics, scores, max_size=2),
    named_score_weights=st.dictionaries(_metrics, st.floats(-1, 3), max_size=2),
    cost_usd=st.none() | costs,
    unenforced=st.booleans(),
)

counted_results: st.SearchStrategy[CaseResult] = st.builds(
    CaseResult,
    cell=st.builds(CellKey, provider_id=st.sampled_from(["echo", "other"]), test_id=st.just("case")),
    case_key=st.just("0" * 16),
    name=st.just("case"),
    status=st.sampled_from(CaseStatus),
    score=st.none() | scores,
    asserts=st.lists(_counted_asserts, max_size=2).map(tuple),
    error_class=error_classes,
    empty_reason=st.none() | st.sampled_from(["truncated", "refusal"]),
    answered_by_provider_id=st.none() | st.just("other"),
    usage=st.none() | st.builds(Usage, input_tokens=counts, output_tokens=counts, cache_read_tokens=counts),
    cost_usd=st.none() | costs,
    latency_ms=st.none() | st.floats(0, 1e7),
    attempts=st.integers(0, 3),
    cached=st.booleans(),
    unchecked=st.booleans(),
)
"""Results that differ in whatever a summary counts."""

_stored_asserts = st.builds(
    AssertResult,
    kind=names,
    status=st.sampled_from(Status),
    score=st.none() | scores,
    weight=st.floats(0, 10),
    reason=texts,
    details=json_values,
    criteria=json_values,
    metric=st.none() | names,
    parts=st.lists(_group, max_size=1).map(tuple),
    named_scores=st.dictionaries(names, scores, max_size=1),
    error_class=error_classes,
)


@st.composite
def case_results(draw: st.DrawFn) -> CaseResult:
    """Any result that a run could bring forth."""
    cell = draw(cell_keys)
    return CaseResult(
        cell=cell,
        case_key=cell.digest(),
        index=draw(st.integers(0, 2**40)),
        name=draw(texts),
        tags=draw(st.lists(texts, max_size=2).map(tuple)),
        status=draw(st.sampled_from(CaseStatus)),
        score=draw(st.none() | scores),
        vars=draw(st.dictionaries(names, json_values, max_size=1)),
        prompt=draw(texts),
        output=draw(json_values),
        tool_calls=draw(
            st.lists(st.builds(ToolCall, name=names, arguments=json_values), max_size=1).map(tuple)
        ),
        asserts=draw(st.lists(_stored_asserts, max_size=1).map(tuple)),
        error=draw(st.none() | texts),
        error_class=draw(error_classes),
        usage=draw(st.none() | st.builds(Usage, input_tokens=counts, output_tokens=counts)),
        cost_usd=draw(st.none() | costs),
        latency_ms=draw(st.none() | st.floats(0, 1e7)),
        metadata=draw(json_values),
        unchecked=draw(st.booleans()),
    )
