"""Spans on their way from the receiver to the calls that they belong to.

Every call has a trace of its own, attempts after failed ones too: what a failed attempt did, and what of it comes
late, must not count for the attempt that answered.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from evenhand.model.trace import Span, Trace

QUIET_S = 0.15
"""Seconds without a further span after which a trace that looks whole is taken as whole."""
MAX_TRACE_BYTES = 8 * 1024 * 1024
MAX_BYTES = 256 * 1024 * 1024
"""Bytes of spans, encoded as JSON, of one trace and of all calls in flight together."""
REMEMBERED = 10_000
"""Ended traces that are known, so that a late span can be told from one of a foreign trace."""

log = logging.getLogger("evenhand")


class Watch:
    """One call, from before it is made until its spans are taken as complete."""

    def __init__(self, collector: Collector) -> None:
        self.trace_id = secrets.token_hex(16)
        self.size = 0
        self._parent_id = secrets.token_hex(8)
        self._collector = collector
        self._spans: dict[str, Span] = {}
        self._missing: set[str] = set()
        self._dropped = 0
        self._foreign_before = collector.foreign
        self._arrived = asyncio.Event()

    @property
    def traceparent(self) -> str:
        """What the call carries (https://www.w3.org/TR/trace-context/): version, trace, parent, `sampled`."""
        return f"00-{self.trace_id}-{self._parent_id}-01"

    def add(self, span: Span, max_spans: int) -> None:
        """Keep a span, unless there are too many."""
        size = len(msgspec.json.encode(span))
        is_full = self.size + size > MAX_TRACE_BYTES or self._collector.size + size > MAX_BYTES
        if is_full or len(self._spans) >= max_spans:
            self._dropped += 1
            return
        if span.parent_span_id == self._parent_id:
            span = msgspec.structs.replace(span, parent_span_id=None)
        self.size += size
        self._collector.size += size
        self._spans[span.span_id] = span
        self._missing.discard(span.span_id)
        if span.parent_span_id is not None and span.parent_span_id not in self._spans:
            self._missing.add(span.parent_span_id)
        self._arrived.set()

    async def settled(self) -> Trace:
        """The trace once it looks whole, at the latest after the collector's `wait_ms`.

        Spans are sent when they end, so children come before their parents: a trace looks whole when every span's
        parent is there and nothing came for a moment.
        """
        now = asyncio.get_running_loop().time
        deadline = now() + self._collector.wait_ms / 1_000
        while (left := deadline - now()) > 0:
            is_whole = bool(self._spans) and not self._missing
            self._arrived.clear()
            try:
                async with asyncio.timeout(min(left, QUIET_S) if is_whole else left):
                    await self._arrived.wait()
            except TimeoutError:
                break
        return self.trace()

    def trace(self) -> Trace:
        """What has come so far."""
        # Clocks are coarse: of spans that began together, the one that lasted longer is likely the outer one.
        spans = sorted(self._spans.values(), key=lambda span: (span.start_ms, -(span.duration_ms or 0.0)))
        return Trace(
            trace_id=self.trace_id,
            spans=tuple(spans),
            dropped_spans=self._dropped,
            foreign_spans=0 if spans else self._collector.foreign - self._foreign_before,
        )


class Collector:
    """The calls in flight by their trace, and the counts of what came for none of them."""

    def __init__(self, *, wait_ms: float, max_spans: int) -> None:
        self.wait_ms = wait_ms
        self.size = 0
        self.foreign = 0
        """Spans of traces that belong to no call."""
        self.late = 0
        """Spans that came after the answer to their call was judged."""
        self.refused = 0
        """Requests that could not be read."""
        self.endpoint = ""
        """Address of the receiver, without a path."""
        self._max_spans = max_spans
        self._watches: dict[str, Watch] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        """Collect the spans of one call."""
        watch = Watch(self)
        self._watches[watch.trace_id] = watch
        try:
            yield watch
        finally:
            del self._watches[watch.trace_id]
            self.size -= watch.size
            self._ended[watch.trace_id] = None
            if len(self._ended) > REMEMBERED:
                self._ended.popitem(last=False)

    def is_wanted(self, trace_id: str) -> bool:
        """Whether a trace belongs to a call in flight; counts it where it does not."""
        if trace_id in self._watches:
            return True
        if trace_id in self._ended:
            self.late += 1
        else:
            self.foreign += 1
        return False

    def add(self, received: Iterable[tuple[str, Span]]) -> None:
        """Hand spans to the calls that they belong to."""
        for trace_id, span in received:
            watch = self._watches.get(trace_id)
            if watch is None:
                self.late += 1
            else:
                watch.add(span, self._max_spans)

    def report(self) -> None:
        """Say what was lost, at the end of a run."""
        if self.late:
            log.warning(
                "tracing: spans that came after their answers were judged: %d; raise `tracing.wait_ms`, or let the "
                "system under test send its spans sooner",
                self.late,
            )
        if self.foreign:
            log.warning(
                "tracing: spans of traces that belong to no call, which were dropped: %d", self.foreign
            )
        if self.refused:
            log.warning("tracing: requests to the receiver that could not be read: %d", self.refused)
