"""Judging stored answers again: the plan of such a run, and the answer of one of its cells."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

import msgspec

from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.exchange import Json, Response, SentCall
from evenhand.model.provider import Provider
from evenhand.model.result import CaseResult, CaseStatus, Run
from evenhand.model.suite import Suite
from evenhand.run.call import CallFailed
from evenhand.run.plan import NOTHING_KNOWN, Cell, Known, Plan, Stored, Tally, repeat_of
from evenhand.run.services import Services

_PAGE = 500

NOT_ASKED = "the run has no answer to it"


class StoredResults(Protocol):
    """The results of a run, found by case key."""

    def __call__(self, case_keys: list[str]) -> Mapping[str, CaseResult]:
        """Those of the keys that the run has a result for."""
        ...


class RescorePlan(Plan):
    """The cells of a suite with the stored answers of a run instead of calls.

    Cells that the run does not have are among them, so that nothing is left out silently; only the repeats that a
    sequential test did not need are not missed.
    """

    calls_providers = False

    def __init__(
        self,
        suite: Suite,
        origin: Run,
        results: StoredResults,
        *,
        only_keys: Collection[str] | None = None,
        known: Known = NOTHING_KNOWN,
        stale: str | None = None,
    ) -> None:
        """`stale` is why none of the stored answers is one to the suite's question, None where they may be.

        Raises `UsageError` where the run was of providers or prompts that the suite does not have.
        """
        filters = origin.filters
        super().__init__(suite, filters, repeat=filters.repeat, only_keys=only_keys, known=known)
        self.origin = origin.run_id
        self._results = results
        self._stale = stale

    def cells(self) -> Iterator[Cell]:
        """The cells with what is stored of them."""
        cells = super().cells()
        while page := list(itertools.islice(cells, _PAGE)):
            found = self._results([cell.case_key for cell in page])
            for cell in page:
                yield self._with_stored(cell, found.get(cell.case_key))

    def following(self, cell: Cell, tally: Tally) -> Cell | None:
        """The next repeat of a case that the run has: all of them count, whatever those before it have shown."""
        repeat = cell.key.repeat + 1
        if repeat >= tally.rule.max:
            return None
        following = repeat_of(cell, repeat, tally)
        result = self._results([following.case_key]).get(following.case_key)
        return None if result is None else self._with_stored(following, result)

    def _with_stored(self, cell: Cell, result: CaseResult | None) -> Cell:
        why = self._stale if result is not None else NOT_ASKED
        stored = Stored(result=result if why is None else None, missing=why or "")
        return msgspec.structs.replace(cell, stored=stored)

    def total(self) -> int | None:
        """How many cells there are, unknown where a sequential test decided about that."""
        if self.suite.has_repeats and self.repeat is None:
            return None
        return super().total()


def stored_answer(
    cell: Cell, stored: Stored, vars: Mapping[str, Json], prompt: Json, services: Services
) -> tuple[Response, Provider]:
    """The stored answer of a cell, and the provider that gave it.

    Raises `CallFailed` where there is none to the question that the suite asks now, and the stored error where the
    call had failed: nothing was learned then, and nothing is now.
    """
    result = stored.result
    if result is None:
        raise _missing(stored.missing)
    changed = [
        name
        for name, differs in (
            ("provider", result.provider_digest != services.question_digest(cell.provider)),
            ("vars", result.vars != vars),
            ("prompt", result.prompt != prompt),
        )
        if differs and not (name != "provider" and _was_never_asked(result))
    ]
    if changed:
        raise _missing(f"its {' and '.join(changed)} changed since")
    if _was_never_asked(result):
        error = ProviderError(
            result.error or "the call failed", _known_class(result.error_class), details=result.error_details
        )
        error.request, error.raw = _sent(result.request), result.raw
        raise CallFailed(error, result.attempts)
    provider = _answerer(cell, result, services)
    return _priced(_response(result), provider), provider


def _missing(why: str) -> CallFailed:
    message = f"no stored answer to judge: {why}; ask for one with `evenhand run`"
    return CallFailed(ProviderError(message, ErrorClass.CACHE_MISS), 0)


def _was_never_asked(result: CaseResult) -> bool:
    """Whether the result holds no answer: rendering or the call failed."""
    return result.status is CaseStatus.ERROR and result.latency_ms is None and not result.asserts


def _known_class(name: str | None) -> ErrorClass:
    try:
        return ErrorClass(name or "")
    except ValueError:
        return ErrorClass.INTERNAL


def _answerer(cell: Cell, result: CaseResult, services: Services) -> Provider:
    name = result.answered_by_provider_id
    if name is None:
        return cell.provider
    return next((p for p in services.suite.providers if p.id == name), cell.provider)


def _priced(response: Response, provider: Provider) -> Response:
    """The answer at today's price, as far as the provider's rates are known."""
    cost = None if response.usage is None else provider.cost_of(response.usage)
    return response if cost is None else msgspec.structs.replace(response, cost_usd=cost)


def _sent(stored: Json) -> SentCall | None:
    """What was sent for the answer; None where a document holds something else there."""
    try:
        return None if stored is None else msgspec.convert(stored, SentCall)
    except msgspec.ValidationError:
        return None


def _response(result: CaseResult) -> Response:
    return Response(
        output=result.output if result.raw_output is None else result.raw_output,
        tool_calls=result.tool_calls,
        usage=result.usage,
        cost_usd=result.cost_usd,
        latency_ms=result.latency_ms,
        model=result.model,
        stop_reason=result.stop_reason,
        empty_reason=result.reported_empty_reason,
        reasoning=result.reasoning,
        raw=result.raw,
        request=_sent(result.request),
        metadata=result.metadata,
        log_probs=result.log_probs,
        trace=result.trace,
        cached=result.cached,
        cache_key=result.cache_key,
        attempts=result.attempts,
    )
