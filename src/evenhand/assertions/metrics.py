"""Budgets: kinds that judge what the call reported and never read the output."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta

from evenhand.errors import BrokenAssertion, Problem
from evenhand.model.assertion import ASSERTIONS, Assertion, Example
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Response
from evenhand.model.outcome import Outcome, Status, failed_both_ways, verdict
from evenhand.template import Engine

COST_NOISE_USD = 1e-12
"""Excess over a cost budget that is no more than the noise of adding up prices."""


class Budget(Assertion, frozen=True, kw_only=True):
    """What budgets over figures that a provider may leave out have in common."""

    on_missing: Annotated[
        Literal["pass", "fail", "error"],
        Meta(description="The verdict where the provider does not report the figure."),
    ] = "pass"

    reads_output = False

    def reported(self, response: Response) -> float | None:
        """The figure under budget, None where it is not reported."""
        raise NotImplementedError

    def within(self, figure: float) -> Outcome:
        """Whether a figure keeps to the budget."""
        raise NotImplementedError

    def evaluate(self, evidence: Evidence) -> Outcome:
        figure = self.reported(evidence.response)
        if figure is None:
            return self._unreported()
        if not math.isfinite(figure) or figure < 0:
            raise BrokenAssertion(f"the provider reported an impossible figure for `{self.kind}`: {figure!r}")
        return self.within(figure)

    def negated(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        is_reported = self.reported(evidence.response) is not None
        return super().negated(outcome, evidence) if is_reported else outcome

    def _unreported(self) -> Outcome:
        if self.on_missing == "error":
            raise BrokenAssertion(f"{self.kind} not reported")
        if self.on_missing == "fail":
            return failed_both_ways(f"{self.kind} not reported, which `on_missing` makes a failure")
        note = f"{self.kind} not reported; budget not enforced"
        return Outcome(status=Status.PASS, score=1.0, reason=note, unenforced=True)


@ASSERTIONS.register
class Cost(Budget, frozen=True, kw_only=True, tag="cost"):
    """The call cost at most `max` US dollars.

    Where no cost is reported the assertion passes with a note, negated or not, and the summary counts it as an
    unenforced budget; `on_missing` decides otherwise.
    """

    max: Annotated[float, Meta(ge=0, description="Highest cost in US dollars.")]

    examples = (
        Example(options={"max": 0.01}, response={"cost_usd": 0.004}, expect="pass"),
        Example(options={"max": 0.01}, response={"cost_usd": 0.02}, expect="fail"),
        Example(options={"max": 0.01}, expect="pass"),
        Example(options={"max": 0.01, "on_missing": "error"}, expect="error"),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        yield from _endless(self.max)

    def reported(self, response: Response) -> float | None:
        return response.cost_usd

    def within(self, figure: float) -> Outcome:
        is_within = figure <= self.max + COST_NOISE_USD
        found, allowed = f"${figure:.6f}", f"${self.max:.6f}"
        if found == allowed and not is_within:
            found, allowed = f"${figure!r}", f"${self.max!r}"
        return _compared("cost", is_within, found, allowed)


@ASSERTIONS.register
class Tokens(Budget, frozen=True, kw_only=True, tag="tokens"):
    """The exchange took at most `max` tokens, prompt and response together.

    Where no usage is reported the assertion passes with a note, negated or not, and the summary counts it as an
    unenforced budget; `on_missing` decides otherwise.
    """

    max: Annotated[int, Meta(ge=0, description="Highest number of tokens.")]
    count: Annotated[
        Literal["total", "billable"],
        Meta(
            description="`total`: the prompt, its cached span included, and the response; "
            "`billable`: what was written to the vendor's prompt cache too."
        ),
    ] = "total"

    examples = (
        Example(
            options={"max": 1200},
            response={"usage": {"input_tokens": 1000, "output_tokens": 200}},
            expect="pass",
        ),
        Example(
            options={"max": 1200},
            response={"usage": {"input_tokens": 900, "output_tokens": 200, "cache_read_tokens": 400}},
            expect="fail",
        ),
        Example(
            options={"max": 1200, "count": "billable"},
            response={"usage": {"input_tokens": 900, "output_tokens": 200, "cache_write_tokens": 400}},
            expect="fail",
        ),
        Example(options={"max": 1200, "on_missing": "fail"}, expect="fail"),
    )

    def reported(self, response: Response) -> float | None:
        if response.usage is None:
            return None
        return response.usage.billable if self.count == "billable" else response.usage.total

    def within(self, figure: float) -> Outcome:
        what = "billable tokens" if self.count == "billable" else "tokens"
        return _compared(what, figure <= self.max, str(figure), str(self.max))


@ASSERTIONS.register
class Latency(Assertion, frozen=True, kw_only=True, tag="latency"):
    """The call took at most `max` milliseconds, as the run measured it, without the waits between attempts.

    An answer from the cache has no latency of its own, so a case with this assertion always makes a call.
    """

    max: Annotated[float, Meta(ge=0, description="Longest time for the call, in milliseconds.")]

    reads_output = False
    needs_fresh_call = True
    examples = (
        Example(options={"max": 1000}, response={"latency_ms": 820.5}, expect="pass"),
        Example(options={"max": 1000}, response={"latency_ms": 1200}, expect="fail"),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        yield from _endless(self.max)

    def evaluate(self, evidence: Evidence) -> Outcome:
        latency_ms = evidence.response.latency_ms
        if latency_ms is None or evidence.response.cached:
            raise BrokenAssertion("latency was not measured: the answer was not made by a call of this run")
        is_within = latency_ms <= self.max
        found, allowed = _plain(latency_ms), _plain(self.max)
        if found == allowed and not is_within:
            found, allowed = repr(latency_ms), repr(self.max)
        return _compared("latency", is_within, f"{found}ms", f"{allowed}ms")


def _endless(limit: float) -> Iterator[Problem]:
    if not math.isfinite(limit):
        yield Problem(f"a budget of {limit!r} can never be exceeded", ("max",), "write a number")


def _compared(what: str, is_within: bool, found: str, allowed: str) -> Outcome:
    return verdict(is_within, f"{what} {found} {'<=' if is_within else '>'} {allowed}")


def _plain(figure: float) -> str:
    return f"{figure:.3f}".rstrip("0").rstrip(".")
