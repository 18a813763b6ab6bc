"""Which cells a run consists of, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple, TypeVar

import msgspec

from evenhand.analysis.sequential import Decision, decide
from evenhand.errors import UsageError
from evenhand.model.assertion import Assertion
from evenhand.model.provider import Provider
from evenhand.model.result import CaseResult, CaseStatus, CellKey, FallbackAttempt, Filters
from evenhand.model.suite import Case, Prompt, Repeat, Suite
from evenhand.registry import nearest
from evenhand.text.glob import matches_glob

Named = TypeVar("Named", Provider, Prompt)


class Cell(msgspec.Struct, frozen=True, gc=False):
    """One combination to ask and judge. `index` is its place in the whole plan, whatever is left out of the run."""

    index: int
    case: Case
    provider: Provider
    prompt: Prompt | None
    key: CellKey
    case_key: str
    repeats: int = 1
    """How many cells ask this question; 0 where that is decided while they run."""
    tally: Tally | None = None
    stored: Stored | None = None
    """Where an answer is judged anew instead of asked for: what there is of it."""
    """What the repeats before it have shown, where they end as soon as the case is decided."""


class Stored(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What a run before this one has of a cell: its answer, to be judged anew, or why there is none to judge."""

    result: CaseResult | None
    missing: str = ""
    """Why there is no answer, where `result` is None."""

    @property
    def fallback_attempts(self) -> tuple[FallbackAttempt, ...]:
        """The providers that were asked before the one that answered; what that cost is on the bill of that run."""
        if self.result is None:
            return ()
        return tuple(
            msgspec.structs.replace(attempt, cost_usd=None) for attempt in self.result.fallback_attempts
        )


class Tally(msgspec.Struct, frozen=True, gc=False):
    """Passes and failures of a case that is repeated until it is decided."""

    rule: Repeat
    passed: int = 0
    failed: int = 0

    @property
    def verdict(self) -> Decision:
        """What they show."""
        return decide(self.passed, self.failed, pass_rate=self.rule.pass_rate, alpha=self.rule.alpha)

    def with_result(self, result: CaseResult) -> Tally:
        """The tally with one more repeat; one of which nothing was learned counts for neither side."""
        if result.unchecked or result.status not in _JUDGED:
            return self
        passes = result.status in _PASSING
        return msgspec.structs.replace(self, passed=self.passed + passes, failed=self.failed + (not passes))


_PASSING = (CaseStatus.PASS, CaseStatus.XPASS)
_JUDGED = (*_PASSING, CaseStatus.FAIL, CaseStatus.XFAIL)
_ONCE = Repeat(max=1)


class Known(NamedTuple):
    """The case keys of the results that a run to resume has: all of them, and of cases that are repeated until they
    are decided those that were judged right and wrong.
    """

    finished: Collection[str] = ()
    passed: Collection[str] = ()
    failed: Collection[str] = ()


NOTHING_KNOWN = Known()


def known_of(finished: Collection[str], results: Iterable[CaseResult]) -> Known:
    """What the results of a run to resume tell: which cells are done, and what repeats until decided have shown."""
    passed: set[str] = set()
    failed: set[str] = set()
    for result in results:
        if (result.repeats and result.decision is None) or result.unchecked:
            continue
        if result.status in _JUDGED:
            (passed if result.status in _PASSING else failed).add(result.case_key)
    return Known(finished, passed, failed)


class Plan:
    """The cells of a suite that the filters leave, planned case by case.

    A case's providers, prompts and repeats stand together, so that a suite larger than memory streams.
    """

    calls_providers: ClassVar[bool] = True
    """Whether its cells ask the systems under test."""
    origin: str | None = None
    """The run whose stored answers are judged again."""

    def __init__(
        self,
        suite: Suite,
        filters: Filters = Filters(),
        *,
        repeat: int | None = None,
        only_keys: Collection[str] | None = None,
        known: Known = NOTHING_KNOWN,
    ) -> None:
        """`repeat` is how often every question is asked, whatever its case says. `only_keys` are the case keys of the
        failed cells of a run, `known` those of the finished ones to resume after.

        Raises `UsageError` for a provider or prompt that the suite does not have.
        """
        self.suite = suite
        self.filters = filters
        self.repeat = repeat
        self._repeat_all = None if repeat is None else Repeat(max=repeat)
        asked = tuple(provider for provider in suite.providers if not provider.fallback_only)
        _refuse_fallback_only(filters.providers, suite.providers)
        self.providers = _chosen(filters.providers, asked, "provider")
        self.prompts: tuple[Prompt | None, ...] = _chosen(filters.prompts, suite.prompts, "prompt") or (None,)
        self._only_keys = only_keys
        self._known = known

    def cases(self) -> Iterator[Case]:
        """The selected cases."""
        if not self.filters.tags and not self.filters.filters:
            return iter(self.suite.cases)
        return (case for case in self.suite.cases if selects(self.filters, case.id, case.tags))

    def cells(self) -> Iterator[Cell]:
        """The cells to run, made as they are asked for; each call starts again."""
        index = -1
        for case in self.cases():
            for provider in self.providers:
                if not admits(case, provider.id):
                    continue
                for prompt in self.prompts:
                    prompt_id = prompt.id if prompt else None
                    rule = self.rule_of(case)
                    if rule.until_decided:
                        cell = self._undecided(index, case, provider, prompt, rule)
                        index += rule.max
                        if cell is not None:
                            yield cell
                        continue
                    for repeat in range(rule.max):
                        index += 1
                        key = CellKey(
                            provider_id=provider.id, prompt_id=prompt_id, test_id=case.id, repeat=repeat
                        )
                        case_key = key.digest()
                        if self._wants(case_key):
                            yield Cell(index, case, provider, prompt, key, case_key, rule.max)

    def rule_of(self, case: Case) -> Repeat:
        """How often a case is asked."""
        return self._repeat_all or case.repeat or _ONCE

    def following(self, cell: Cell, tally: Tally) -> Cell | None:
        """The next repeat of a case after `cell`, with what is known by then; None where the case is done with."""
        repeat = cell.key.repeat + 1
        if repeat >= tally.rule.max or tally.verdict is not Decision.UNDECIDED:
            return None
        return repeat_of(cell, repeat, tally)

    def _undecided(
        self, index: int, case: Case, provider: Provider, prompt: Prompt | None, rule: Repeat
    ) -> Cell | None:
        """The first repeat that is still to be asked of a case that is repeated until it is decided."""
        key = CellKey(provider_id=provider.id, prompt_id=prompt.id if prompt else None, test_id=case.id)
        cell: Cell | None = Cell(index + 1, case, provider, prompt, key, key.digest(), 0, Tally(rule))
        if self._only_keys is not None and not self._asks_any(key, rule):
            return None
        while cell is not None and cell.tally is not None and cell.case_key in self._known.finished:
            tally = msgspec.structs.replace(
                cell.tally,
                passed=cell.tally.passed + (cell.case_key in self._known.passed),
                failed=cell.tally.failed + (cell.case_key in self._known.failed),
            )
            cell = self.following(cell, tally)
        return cell

    def _asks_any(self, key: CellKey, rule: Repeat) -> bool:
        only = self._only_keys or ()
        return any(msgspec.structs.replace(key, repeat=r).digest() in only for r in range(rule.max))

    def opened(self) -> list[Provider]:
        """The providers that the run must have open."""
        return [*self.providers, *self.fallbacks()] if self.calls_providers else []

    def fallbacks(self) -> list[Provider]:
        """The providers beside those of the cells that may be asked for a selected case, in the suite's order."""
        if not self.suite.runner.fallback or not any(provider.fallback for provider in self.providers):
            return []
        waiting = {name for provider in self.providers for name in provider.fallback}
        waiting -= {provider.id for provider in self.providers}
        reached: set[str] = set()
        for case in self.cases():
            if not waiting:
                break
            found = {
                other.id
                for provider in self.providers
                if admits(case, provider.id)
                for other in fallback_chain(self.suite, case, provider)
            }
            reached |= found & waiting
            waiting -= found
        return [provider for provider in self.suite.providers if provider.id in reached]

    def total(self) -> int | None:
        """How many cells the run has, as far as the cases in memory and the number of the others tell.

        None where only reading files through once more, or running, could tell; too high where cases in files are not
        for every provider.
        """
        cases = self.suite.cases
        own = self._repeat_all is None and self.suite.has_repeats
        if cases.is_held:
            if own and any(self.rule_of(case).until_decided for case in self.cases()):
                return None
            if self._only_keys is not None:
                return sum(1 for _ in self.cells())
            asked = sum(
                admits(case, provider.id) * self.rule_of(case).max
                for case in self.cases()
                for provider in self.providers
            )
        elif own or self.filters.tags or self.filters.filters or self._only_keys is not None:
            return None
        else:
            asked = len(cases) * len(self.providers) * (self.repeat or 1)
        return asked * len(self.prompts) - len(self._known.finished)

    def _wants(self, case_key: str) -> bool:
        if self._only_keys is not None and case_key not in self._only_keys:
            return False
        return case_key not in self._known.finished


def repeat_of(cell: Cell, repeat: int, tally: Tally) -> Cell:
    """A later repeat of the question of a cell, with what is known by then."""
    key = msgspec.structs.replace(cell.key, repeat=repeat)
    index = cell.index + repeat - cell.key.repeat
    return msgspec.structs.replace(cell, index=index, key=key, case_key=key.digest(), tally=tally)


def selects(filters: Filters, test_id: str, tags: Collection[str]) -> bool:
    """Whether filters leave a case in: it has one of the tags and its id matches one of the globs.

    `*` crosses `/` and `{a,b}` is a choice. A filter that is the very id matches too, since ids of matrix cases hold
    brackets.
    """
    if filters.tags and not any(tag in tags for tag in filters.tags):
        return False
    patterns = filters.filters
    return not patterns or any(test_id == p or matches_glob(test_id, p) for p in patterns)


def fallback_chain(suite: Suite, case: Case, provider: Provider) -> list[Provider]:
    """Who may answer for a provider in a case, in turn.

    Nobody where the case asks how long the answer took, which would be another provider's time. A fallback's own
    fallbacks are not followed.
    """
    if not suite.runner.fallback or needs_fresh_call(case):
        return []
    known = {other.id: other for other in suite.providers}
    names = dict.fromkeys(provider.fallback)
    return [known[name] for name in names if name in known and admits(case, name)]


def needs_fresh_call(case: Case) -> bool:
    """Whether an assertion of a case, or a member of one, asks about the call itself, which no kept answer tells of."""
    return _asks_about_the_call(case.assertions)


def _asks_about_the_call(assertions: Sequence[Assertion]) -> bool:
    for assertion in assertions:
        if assertion.needs_fresh_call or (assertion.members and _asks_about_the_call(assertion.members)):
            return True
    return False


def admits(case: Case, provider_id: str) -> bool:
    """Whether a case lets a provider answer it."""
    if case.only_providers and provider_id not in case.only_providers:
        return False
    return provider_id not in case.skip_providers


def _refuse_fallback_only(wanted: tuple[str, ...], providers: tuple[Provider, ...]) -> None:
    for provider in providers:
        if provider.fallback_only and provider.id in wanted:
            raise UsageError(
                f"provider {provider.id!r} only answers for others (`fallback_only`), so that no case is put to it; "
                "name a provider that has it as `fallback`"
            )


def _chosen(wanted: tuple[str, ...], offered: tuple[Named, ...], what: str) -> tuple[Named, ...]:
    if not wanted:
        return offered
    known = {item.id: item for item in offered}
    for name in wanted:
        if name not in known:
            close = nearest(name, known)
            hint = (
                f"did you mean {close!r}?"
                if close
                else f"the suite has {', '.join(map(repr, known)) or 'none'}"
            )
            raise UsageError(f"no {what} {name!r} in the suite; {hint}")
    return tuple(item for item in offered if item.id in wanted)
