"""The changes between two references, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from evenhand.analysis.compare import CaseDiff, CompareFold, Side, compare
from evenhand.compare.references import Reference
from evenhand.errors import StoreError
from evenhand.model.comparison import Comparison
from evenhand.model.result import CaseResult
from evenhand.store.documents import RunDocuments
from evenhand.store.encoding import result_of

_SIDE = msgspec.json.Decoder(Side)


class Change(NamedTuple):
    """One cell with what a comparison reads of either run."""

    diff: CaseDiff
    base: Side | None
    head: Side | None


def changes(base: Reference, head: Reference) -> Iterator[Change]:
    """Every cell of either side: those of the head in its order, then those that only the base has.

    Memory does not grow with the runs.
    """
    yield from head_changes(base, head)
    yield from _removed(base, head)


def head_changes(base: Reference, head: Reference) -> Iterator[Change]:
    """Every cell of the head in its order, with that of the base: all there is to say of a part of a suite."""
    before, after = base.documents(), head.documents()
    grader_changed = base.newest.digests.get("grader") != head.newest.digests.get("grader")
    for page in after.in_order():
        known = before.of([key for key, _ in page])
        for key, document in page:
            other = known.get(key)
            one, two = None if other is None else _side(other), _side(document)
            yield Change(compare(one, two, grader_changed=grader_changed), one, two)


def _removed(base: Reference, head: Reference) -> Iterator[Change]:
    for page in base.documents().not_in(head.documents()):
        for _, document in page:
            removed = _side(document)
            yield Change(compare(removed, None), removed, None)


def compared(
    base: Reference, head: Reference, found: Iterable[Change] | None = None, *, alpha: float = 0.05
) -> Comparison:
    """The counts and tests over the changes that were found between two references, by default all."""
    fold = CompareFold()
    for change in changes(base, head) if found is None else found:
        fold.add(*change)
    return described(fold, base, head, alpha=alpha)


def described(fold: CompareFold, base: Reference, head: Reference, *, alpha: float = 0.05) -> Comparison:
    """What was counted over two references, with what differs between their suites."""
    comparison = fold.comparison(base=base.label, base_runs=base.run_ids, head=head.label, alpha=alpha)
    one, two = base.newest.digests, head.newest.digests
    changed = tuple(sorted(name for name in {*one, *two} if one.get(name) != two.get(name)))
    return msgspec.structs.replace(comparison, suite_changes=changed)


def both_results(
    base: RunDocuments, head: RunDocuments, case_key: str
) -> tuple[CaseResult | None, CaseResult | None]:
    """The whole results of one cell."""
    key = bytes.fromhex(case_key)
    one, two = base.of([key]).get(key), head.of([key]).get(key)
    return None if one is None else result_of(one), None if two is None else result_of(two)


def _side(document: bytes) -> Side:
    try:
        return _SIDE.decode(document)
    except msgspec.MsgspecError as error:
        raise StoreError(
            f"a result cannot be read, found {error}; the store is damaged, or was written by a newer evenhand"
        ) from error
