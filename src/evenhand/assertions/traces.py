"""Kinds that judge what a system under test did while it answered, by the spans that it reported."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta

from evenhand.errors import BrokenAssertion, Problem
from evenhand.model.assertion import ASSERTIONS, Assertion, Example
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome, failed_both_ways, verdict
from evenhand.model.trace import ERROR, Span, Trace
from evenhand.template import Engine
from evenhand.text.excerpt import quoted
from evenhand.text.glob import matches_glob

SHOWN_NAMES = 8
SHOWN_SPANS = 3


class TraceAssertion(Assertion, frozen=True, kw_only=True):
    """What the kinds about traces have in common: the spans that they look at."""

    pattern: Annotated[
        str,
        Meta(
            description="Names of the spans that count: `*` and `?` as in file names, `[…]`, `{a,b}`; letter case is "
            "ignored."
        ),
    ] = "*"

    reads_output = False
    needs_trace = True

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if not self.pattern:
            yield Problem(
                "an empty pattern matches no span", ("pattern",), "leave it out to count every span"
            )

    def evaluate(self, evidence: Evidence) -> Outcome:
        trace = _complete(evidence)
        return self.judged(self._matching(trace), trace)

    def judged(self, spans: Sequence[Span], trace: Trace) -> Outcome:
        """The verdict on the spans that match."""
        raise NotImplementedError

    def _matching(self, trace: Trace) -> list[Span]:
        if self.pattern == "*":
            return list(trace.spans)
        glob = self.pattern.casefold()
        return [span for span in trace.spans if matches_glob(span.name.casefold(), glob)]

    def _unmatched(self, trace: Trace) -> Outcome:
        return failed_both_ways(f"no span matches {self.pattern!r}, found {_names(trace.spans)}")


@ASSERTIONS.register
class TraceSpanCount(TraceAssertion, frozen=True, kw_only=True, tag="trace-span-count"):
    """The system under test reported at least `min` and at most `max` spans with a matching name.

    Needs `tracing: {enabled: true}` in the suite. Where no span at all was received, the assertion is an error.
    """

    min: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="Fewest spans.")] = None
    max: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="Most spans.")] = None

    examples = (
        Example(
            options={"pattern": "retrieval.*", "min": 1, "max": 2},
            response={
                "trace": {
                    "trace_id": "0af7651916cd43dd8448eb211c80319c",
                    "spans": [{"span_id": "b7ad6b7169203331", "name": "retrieval.search", "start_ms": 0}],
                }
            },
            expect="pass",
        ),
        Example(
            options={"pattern": "http.*", "max": 0},
            response={
                "trace": {
                    "trace_id": "0af7651916cd43dd8448eb211c80319c",
                    "spans": [{"span_id": "b7ad6b7169203331", "name": "HTTP.get", "start_ms": 0}],
                }
            },
            expect="fail",
        ),
        Example(
            options={"min": 1},
            response={"trace": {"trace_id": "0af7651916cd43dd8448eb211c80319c"}},
            expect="error",
        ),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        yield from super().problems(engine)
        if (self.min is None and self.max is None) or (self.min == 0 and self.max is None):
            yield Problem("without a bound every trace passes", (), "set `min`, `max`, or both")
        elif self.min is not None and self.max is not None and self.min > self.max:
            yield Problem(f"no count is at least {self.min} and at most {self.max}", ("min",))

    def judged(self, spans: Sequence[Span], trace: Trace) -> Outcome:
        count = len(spans)
        held = (self.min is None or count >= self.min) and (self.max is None or count <= self.max)
        found = f"{_counted(count)} {'matches' if count == 1 else 'match'} {self.pattern!r}"
        among = "" if count else f", found {_names(trace.spans)}"
        return verdict(held, f"{found}, expected {self._range()}{among}")

    def _range(self) -> str:
        if self.max is None:
            return f"at least {self.min}"
        return f"at most {self.max}" if self.min is None else f"{self.min} to {self.max}"


@ASSERTIONS.register
class TraceSpanDuration(TraceAssertion, frozen=True, kw_only=True, tag="trace-span-duration"):
    """Every matching span took at most `max` and at least `min` milliseconds; with `percentile`, that share of them.

    Needs `tracing: {enabled: true}` in the suite. Where no span at all was received, or one that matches has no end,
    the assertion is an error; where none matches, it fails, negated or not.
    """

    min: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="Shortest time in milliseconds.")
    ] = None
    max: Annotated[Annotated[float, Meta(ge=0)] | None, Meta(description="Longest time in milliseconds.")] = (
        None
    )
    percentile: Annotated[
        Annotated[float, Meta(gt=0, le=100)] | None,
        Meta(
            description="Hold this percentile of the durations to the bounds instead of every one.",
        ),
    ] = None

    examples = (
        Example(
            options={"pattern": "llm.*", "max": 1500},
            response={
                "trace": {
                    "trace_id": "0af7651916cd43dd8448eb211c80319c",
                    "spans": [
                        {"span_id": "b7ad6b7169203331", "name": "llm.chat", "start_ms": 10, "end_ms": 910}
                    ],
                }
            },
            expect="pass",
        ),
        Example(
            options={"max": 100, "percentile": 50},
            response={
                "trace": {
                    "trace_id": "0af7651916cd43dd8448eb211c80319c",
                    "spans": [
                        {"span_id": "b7ad6b7169203331", "name": "llm.chat", "start_ms": 10, "end_ms": 910}
                    ],
                }
            },
            expect="fail",
        ),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        yield from super().problems(engine)
        if (not self.min and self.max is None) or (self.max is not None and not math.isfinite(self.max)):
            yield Problem("without a bound every trace passes", (), "set `max`, or a `min` above 0")
        elif self.min is not None and self.max is not None and self.min > self.max:
            yield Problem(f"no time is at least {self.min:g} and at most {self.max:g} ms", ("min",))

    def judged(self, spans: Sequence[Span], trace: Trace) -> Outcome:
        if not spans:
            return self._unmatched(trace)
        endless = [span for span in spans if span.duration_ms is None]
        if endless:
            raise BrokenAssertion(
                f"span {quoted(endless[0].name)} has no end, so that its duration is not known"
            )
        durations = sorted(span.duration_ms or 0.0 for span in spans)
        if self.percentile is not None:
            found = nearest_rank(durations, self.percentile)
            what = f"percentile {self.percentile:g} of {_counted(len(spans))} is {found:.3f} ms"
            return verdict(self._is_within(found), f"{what}, expected {self._range()}")
        out = [span for span in spans if not self._is_within(span.duration_ms or 0.0)]
        if not out:
            return verdict(True, f"{_counted(len(spans))} took {self._range()}")
        shown = ", ".join(
            f"{quoted(span.name)} {span.duration_ms or 0.0:.3f} ms" for span in out[:SHOWN_SPANS]
        )
        more = f" and {len(out) - SHOWN_SPANS} more" if len(out) > SHOWN_SPANS else ""
        return verdict(
            False, f"{len(out)} of {_counted(len(spans))} did not take {self._range()}: {shown}{more}"
        )

    def _is_within(self, duration_ms: float) -> bool:
        return (self.min is None or duration_ms >= self.min) and (self.max is None or duration_ms <= self.max)

    def _range(self) -> str:
        if self.max is None:
            return f"at least {self.min:g} ms"
        return f"at most {self.max:g} ms" if self.min is None else f"{self.min:g} to {self.max:g} ms"


@ASSERTIONS.register
class TraceErrorSpans(TraceAssertion, frozen=True, kw_only=True, tag="trace-error-spans"):
    """At most `max_count` of the matching spans, or `max_percentage` of them, ended with an error; by default none.

    A span ended with an error where its status says so (code 2 in OTLP); codes of HTTP are attributes and do not
    count. Needs `tracing: {enabled: true}` in the suite. Where no span at all was received, the assertion is an error;
    where none matches, it fails, negated or not.
    """

    max_count: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="Most spans that may end with an error.")
    ] = None
    max_percentage: Annotated[
        Annotated[float, Meta(ge=0, lt=100)] | None,
        Meta(description="Largest share of the spans in percent."),
    ] = None

    examples = (
        Example(
            options={},
            response={
                "trace": {
                    "trace_id": "0af7651916cd43dd8448eb211c80319c",
                    "spans": [
                        {"span_id": "b7ad6b7169203331", "name": "tool", "start_ms": 0, "status_code": 1}
                    ],
                }
            },
            expect="pass",
        ),
        Example(
            options={"pattern": "tool*"},
            response={
                "trace": {
                    "trace_id": "0af7651916cd43dd8448eb211c80319c",
                    "spans": [
                        {
                            "span_id": "b7ad6b7169203331",
                            "name": "tool",
                            "start_ms": 0,
                            "status_code": 2,
                            "status_message": "timed out",
                        }
                    ],
                }
            },
            expect="fail",
        ),
    )

    def judged(self, spans: Sequence[Span], trace: Trace) -> Outcome:
        if not spans:
            return self._unmatched(trace)
        broken = [span for span in spans if span.status_code == ERROR]
        found = f"{len(broken)} of {_counted(len(spans))} ended with an error"
        if broken:
            found += f": {_told(broken)}"
        if self.max_percentage is None:
            allowed = self.max_count or 0
            return verdict(len(broken) <= allowed, f"{found}; at most {allowed} may")
        share = 100 * len(broken) / len(spans)
        held = share <= self.max_percentage and (self.max_count is None or len(broken) <= self.max_count)
        most = "" if self.max_count is None else f" and at most {self.max_count}"
        return verdict(held, f"{found}; at most {self.max_percentage:g} %{most} may")


def nearest_rank(ascending: Sequence[float], percentile: float) -> float:
    """The smallest value that so many percent of the values do not exceed: a value that was really measured."""
    rank = math.ceil(percentile / 100 * len(ascending))
    return ascending[max(rank, 1) - 1]


def _complete(evidence: Evidence) -> Trace:
    """The trace of a call. Raises `BrokenAssertion` where it tells nothing, or not all."""
    trace = evidence.response.trace
    if trace is None:
        raise BrokenAssertion("no trace was recorded; set `tracing: {enabled: true}` in the suite")
    if trace.dropped_spans:
        raise BrokenAssertion(
            f"{trace.dropped_spans} spans beyond {len(trace.spans)} were not kept, so that the trace is incomplete; "
            "raise `tracing.max_spans`, or report fewer and smaller spans"
        )
    if not trace.spans:
        raise BrokenAssertion(f"no span of this call was received{_guess(trace)}")
    return trace


def _guess(trace: Trace) -> str:
    if trace.foreign_spans:
        return (
            f", while {trace.foreign_spans} spans of other traces were; the system under test must continue the "
            "`traceparent` that it is given"
        )
    return (
        "; the system under test must send spans to `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` before it ends, or within "
        "`tracing.wait_ms` after its answer"
    )


def _counted(count: int) -> str:
    return "1 span" if count == 1 else f"{count} spans"


def _names(spans: Sequence[Span]) -> str:
    counts = Counter(span.name for span in spans)
    shown = [
        quoted(name, length=60) + (f" ×{count}" if count > 1 else "")
        for name, count in counts.most_common(SHOWN_NAMES)
    ]
    more = f" and {len(counts) - SHOWN_NAMES} more" if len(counts) > SHOWN_NAMES else ""
    return ", ".join(shown) + more


def _told(spans: Sequence[Span]) -> str:
    told = [
        quoted(span.name, length=60) + (f" ({quoted(span.status_message)})" if span.status_message else "")
        for span in spans[:SHOWN_SPANS]
    ]
    more = f" and {len(spans) - SHOWN_SPANS} more" if len(spans) > SHOWN_SPANS else ""
    return ", ".join(told) + more
