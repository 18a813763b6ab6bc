"""Which runs there are: lists, and the run that a person means."""

from __future__ import annotations

import datetime as dt
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

from evenhand.errors import StoreError, UsageError
from evenhand.model.result import RESULT_SCHEMA_VERSION, Run, RunStatus
from evenhand.registry import nearest
from evenhand.store.encoding import unpack_run
from evenhand.store.reading import Reader

LATEST = "latest"
"""Reference to the run that was begun last."""

SHORTEST_PREFIX = 4
"""Characters of a run's id that are enough where no other run begins so."""

_PAGE = 50
_NEWEST = 500


class RunIndex:
    """Queries over the headers of runs, the one begun last first."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def runs(self, *, suite: str | None, status: RunStatus | None, limit: int | None) -> Iterator[Run]:
        """The runs of a suite (its name or its file) in a status; None is any."""
        condition, values = "", []
        if suite is not None:
            condition += " AND (suite = ? OR suite_path = ?)"
            values += [suite, suite]
        if status is not None:
            condition += " AND status = ?"
            values.append(status.value)
        return self._where(condition, tuple(values), limit)

    def find(self, reference: str, suite_path: str | None) -> Run:
        """The run of an id, of its unique beginning, or the latest one; raises `UsageError` otherwise."""
        if reference == LATEST:
            return self._latest(suite_path)
        runs = self._where(" AND run_id = ?", (reference,), 1)
        if (run := next(runs, None)) is not None:
            return run
        if 0 < len(reference) < SHORTEST_PREFIX:
            raise UsageError(
                f"{reference!r} is too short for a run; give at least {SHORTEST_PREFIX} characters of its id, or "
                f"`{LATEST}`"
            )
        begins = " AND ? <> '' AND substr(run_id, 1, ?) = ? COLLATE NOCASE"
        matching = list(self._where(begins, (reference, len(reference), reference), 4))
        if len(matching) == 1:
            return matching[0]
        if matching:
            ids = ", ".join(f"`{run.run_id}`" for run in matching)
            raise UsageError(f"run {reference!r} is not unique, found {ids}; give more of the id")
        raise UsageError(self._not_found(reference))

    def unfinished(self, suite_path: str) -> Run | None:
        """The run of a suite begun last among those that did not get to their end."""
        condition = " AND suite_path = ? AND status <> ?"
        return next(self._where(condition, (suite_path, RunStatus.FINISHED.value), 1), None)

    def outdated(self, *, keep_days: float | None, keep: int | None, now: dt.datetime) -> list[int]:
        """The numbers of the runs begun more than `keep_days` days ago, and of all but the newest `keep`."""
        if keep_days is None and keep is None:
            raise UsageError("nothing says which runs to keep; give a number of days or of runs")
        limit = now - dt.timedelta(days=keep_days or 0)
        old: list[int] = []
        rows = self._reader.rows("SELECT number, started_at FROM runs ORDER BY number DESC")
        for place, (number, started_at) in enumerate(rows):
            if (keep is not None and place >= keep) or (
                keep_days is not None and _is_before(started_at, limit)
            ):
                old.append(number)
        return old

    def number(self, run_id: str) -> int:
        """The number by which the tables know a run; raises `UsageError` for an unknown id."""
        rows = self._reader.rows("SELECT number FROM runs WHERE run_id = ?", (run_id,))
        if not rows:
            raise UsageError(self._not_found(run_id))
        return int(rows[0][0])

    def _where(self, condition: str, values: tuple[object, ...], limit: int | None) -> Iterator[Run]:
        before = None
        left = limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(left, _PAGE)
            rows = self._reader.rows(
                f"SELECT document, number FROM runs WHERE (? IS NULL OR number < ?){condition}"  # noqa: S608
                " ORDER BY number DESC LIMIT ?",
                (before, before, *values, size),
            )
            yield from map(self._run_of, rows)
            if len(rows) < size:
                return
            before = rows[-1][1]
            left = None if left is None else left - len(rows)

    def _latest(self, suite_path: str | None) -> Run:
        if suite_path is None:
            run = next(self._where("", (), 1), None)
        else:
            run = next(self._where(" AND suite_path = ?", (suite_path,), 1), None)
        if run is None:
            of_suite = f" of {suite_path!r}" if suite_path is not None else ""
            raise UsageError(f"there is no run{of_suite} yet; start one with `evenhand run`")
        return run

    def _run_of(self, row: tuple[Any, ...]) -> Run:
        try:
            run = unpack_run(row[0])
        except (zlib.error, msgspec.MsgspecError) as error:
            raise StoreError(
                f"a run cannot be read, found {error}; the store is damaged, or was written by a newer evenhand",
                self._reader.path,
            ) from error
        if run.schema_version > RESULT_SCHEMA_VERSION:
            raise StoreError(
                f"run {run.run_id!r} was written by a newer evenhand, found `schema_version` {run.schema_version} "
                f"where this one knows up to {RESULT_SCHEMA_VERSION}; upgrade with `pip install --upgrade evenhand`",
                self._reader.path,
            )
        return run

    def _not_found(self, reference: str) -> str:
        rows = self._reader.rows("SELECT run_id FROM runs ORDER BY number DESC LIMIT ?", (_NEWEST,))
        ids = [str(run_id) for (run_id,) in rows]
        if not ids:
            return (
                f"there is no run {reference!r}, found an empty store; start one with `evenhand run`, or say whose "
                "runs are meant with `--suite PATH`"
            )
        meant = nearest(reference, [LATEST, *ids])
        hint = (
            f"did you mean {meant!r}?" if meant else f"`evenhand runs` lists them, the newest is {ids[0]!r}"
        )
        return f"there is no run {reference!r}; {hint}"


def _is_before(started_at: str, limit: dt.datetime) -> bool:
    """Whether a run began before the limit; one whose time cannot be read is kept."""
    try:
        started = dt.datetime.fromisoformat(started_at)
    except ValueError:
        return False
    if started.tzinfo is None:
        started = started.replace(tzinfo=dt.UTC)
    return started < limit
