"""Looking at kept answers, and throwing them away: for commands, never for runs."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from evenhand.cache.database import CacheError, cache_file, connect, translated
from evenhand.cache.entry import BadEntry, Entry, NewerEntry, entry_text, read_entry
from evenhand.cache.question import Question
from evenhand.errors import UsageError
from evenhand.io.shown_call import shown_address
from evenhand.io.sqlite import transaction
from evenhand.text.json_reader import NotJson, read_json

DAY_S = 86_400.0
MAX_SEARCHED = 50_000
MAX_SEARCHED_BYTES = 64 << 20
"""Answers whose texts one search looks through, and their bytes as they are stored."""
MAX_CANDIDATES = 200
"""Kept answers that are looked at, newest first, for the one nearest to a question."""

_HEX = frozenset("0123456789abcdef")
_COLUMNS = "key, created, used, size, provider, test"


class Kept(NamedTuple):
    """One kept answer in a list. Times are seconds since 1970."""

    key: str
    created: float
    used: float
    size: int
    provider: str
    test: str


class Wanted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which kept answers a list shows; every field that is empty lets all through."""

    provider: str = ""
    test: str = ""
    """A test's id, or a pattern with `*`."""
    key: str = ""
    """The beginning of a key."""
    text: str = ""
    """A text in the question or in the answer, in capital or small letters."""
    before: int | None = None
    """Where a page before this one ended."""


class Stats(NamedTuple):
    """How many answers are kept, and the bytes that they take."""

    answers: int
    bytes: int
    oldest: float | None
    newest: float | None
    by_provider: dict[str, int]


class KeptAnswers:
    """The kept answers of a folder. Use as a context manager. Raises `CacheError` where they cannot be read."""

    def __init__(self, directory: Path, *, writes: bool = False) -> None:
        self.path = cache_file(directory)
        self._connection: sqlite3.Connection | None = None
        if self.path.exists():
            self._connection = connect(self.path, writes=writes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()

    def stats(self) -> Stats:
        """Counts and sums."""
        sums = self._rows("SELECT count(*), coalesce(sum(size), 0), min(created), max(created) FROM answers")
        count, size, oldest, newest = sums[0] if sums else (0, 0, None, None)
        by_provider = self._rows(
            "SELECT provider, count(*) FROM answers GROUP BY provider ORDER BY count(*) DESC, provider"
        )
        return Stats(count, size, oldest, newest, {row[0]: row[1] for row in by_provider})

    def newest(
        self, *, limit: int | None = None, provider: str | None = None, test: str | None = None
    ) -> Iterator[Kept]:
        """Kept answers, the newest first."""
        wheres, values = [], []
        for column, value in (("provider", provider), ("test", test)):
            if value is not None:
                wheres.append(f"{column} = ?")
                values.append(value)
        where = f"WHERE {' AND '.join(wheres)}" if wheres else ""
        number = -1 if limit is None else limit
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM answers {where} ORDER BY number DESC LIMIT ?",  # noqa: S608  (own texts)
            (*values, number),
        )
        for row in rows:
            yield Kept(f"sha256:{row[0].hex()}", *row[1:])

    def page(self, wanted: Wanted, *, limit: int) -> tuple[list[Kept], int | None]:
        """At most so many of the kept answers that are wanted, the newest first, and where to go on behind them.

        Of the texts of very many answers only so many are looked through at once; the place to go on is then behind
        these. It is None where nothing is left.
        """
        where, values = _conditions(wanted)
        needle = _as_in_json(wanted.text)
        body = ", body" if needle else ""
        statement = f"SELECT number, {_COLUMNS}{body} FROM answers {where} ORDER BY number DESC LIMIT ?"  # noqa: S608
        found: list[Kept] = []
        looked_at, number = 0, 0
        rows = self._stream(statement, (*values, 1 + (MAX_SEARCHED if needle else limit)))
        for place, row in enumerate(rows):
            if len(found) == limit or place == MAX_SEARCHED or looked_at >= MAX_SEARCHED_BYTES:
                return found, number
            number = row[0]
            if needle:
                looked_at += row[4]
                if not _holds(row[7], needle):
                    continue
            found.append(Kept(f"sha256:{row[1].hex()}", *row[2:7]))
        return found, None

    def find(self, reference: str) -> Entry:
        """The answer whose key begins so. Raises `UsageError` for none and for several, `CacheError` for damage."""
        digits = _digits_of(reference)
        if not digits:
            raise UsageError(
                f"a key is up to 64 hex digits, found {reference!r}; `evenhand cache ls` lists them"
            )
        ends = _ends_of(digits)
        rows = self._rows("SELECT key, body FROM answers WHERE key BETWEEN ? AND ? LIMIT 2", ends)
        if len(rows) != 1:
            what = "several kept answers have keys" if rows else "no kept answer has a key"
            raise UsageError(f"{what} that begin with {digits!r}; `evenhand cache ls` lists them")
        key, body = rows[0]
        try:
            return read_entry(body, f"sha256:{key.hex()}")
        except BadEntry as error:
            raise CacheError(f"{self.path}: the kept answer is damaged: {error}") from None
        except NewerEntry:
            raise CacheError(f"{self.path}: a newer evenhand kept this answer; upgrade to see it") from None

    def candidates(self, question: Question) -> Iterator[Entry]:
        """Kept answers that may be nearest to a question: those of its case, then those of its provider."""
        for column, value in (("test", question.test), ("provider", question.provider)):
            rows = self._rows(
                f"SELECT key, body FROM answers WHERE {column} = ? AND key <> ? ORDER BY number DESC LIMIT ?",  # noqa: S608
                (value, question.digest, MAX_CANDIDATES),
            )
            for row in rows:
                with contextlib.suppress(BadEntry, NewerEntry):
                    yield read_entry(row[1], f"sha256:{row[0].hex()}")

    def collect(
        self, *, unused_days: float | None = None, max_bytes: int | None = None, now: float | None = None
    ) -> tuple[int, int]:
        """Delete what was not used for so many days, then the longest unused until the rest fits.

        Returns the number of deleted answers and their bytes. An answer from the future, by the clock of this
        machine, counts as used now.
        """
        if self._connection is None:
            return 0, 0
        moment = time.time() if now is None else now
        before = self.stats()
        with translated(self.path), transaction(self._connection):
            if unused_days is not None:
                self._connection.execute(
                    "DELETE FROM answers WHERE used < ?", (moment - unused_days * DAY_S,)
                )
            if max_bytes is not None:
                self._connection.execute(
                    "DELETE FROM answers WHERE number IN (SELECT number FROM (SELECT number, sum(size) OVER "
                    "(ORDER BY used DESC, number DESC) AS total FROM answers) WHERE total > ?)",
                    (max_bytes,),
                )
        after = self.stats()
        if after.answers != before.answers:
            self._give_space_back()
        return before.answers - after.answers, before.bytes - after.bytes

    def _give_space_back(self) -> None:
        if self._connection is not None:
            # A run that reads at this moment keeps the space taken until the next time.
            with contextlib.suppress(sqlite3.OperationalError):
                self._connection.execute("VACUUM")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _stream(self, statement: str, values: tuple[object, ...]) -> Iterator[tuple[Any, ...]]:
        """The same one after the other, for as many as are asked for."""
        if self._connection is not None:
            with translated(self.path):
                yield from self._connection.execute(statement, values)

    def _rows(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        if self._connection is None:
            return []
        with translated(self.path):
            return list(self._connection.execute(statement, values))


def _conditions(wanted: Wanted) -> tuple[str, list[object]]:
    """The clause that narrows a list of answers down, and its values."""
    conditions: list[str] = []
    values: list[object] = []
    if wanted.provider:
        conditions.append("provider = ?")
        values.append(wanted.provider)
    if wanted.test:
        conditions.append("test GLOB ?" if "*" in wanted.test else "test = ?")
        values.append(wanted.test)
    if wanted.key:
        digits = _digits_of(wanted.key)
        conditions.append("key BETWEEN ? AND ?" if digits else "0")
        values += _ends_of(digits) if digits else ()
    if wanted.before is not None:
        conditions.append("number < ?")
        values.append(wanted.before)
    return f"WHERE {' AND '.join(conditions)}" if conditions else "", values


def _digits_of(reference: str) -> str:
    """The hex digits with which a key begins; empty where no key does."""
    digits = reference.strip().removeprefix("sha256:").lower()
    return digits if len(digits) <= 64 and set(digits) <= _HEX else ""


def _ends_of(digits: str) -> tuple[bytes, bytes]:
    """The first and the last key that begin so."""
    return bytes.fromhex(digits.ljust(64, "0")), bytes.fromhex(digits.ljust(64, "f"))


def _as_in_json(text: str) -> str:
    """A text as it stands inside the strings of an entry, small letters for all."""
    return msgspec.json.encode(text.encode("utf-8", "replace").decode()).decode()[1:-1].casefold()


def _holds(body: object, needle: str) -> bool:
    """Whether the question or the answer of an entry holds the text."""
    try:
        return isinstance(body, bytes) and needle in entry_text(body).casefold()
    except BadEntry:
        return False


def kept_question(directory: Path, key: str) -> Any:
    """What was keyed for a kept answer, as it may be shown; None where the answer is gone or cannot be read."""
    try:
        with KeptAnswers(directory) as kept:
            entry = kept.find(key)
    except (CacheError, UsageError):
        return None
    return shown_question(entry)


def shown_question(entry: Entry) -> Any:
    """What was keyed for an answer, without credentials in its address; None where it was too large to keep."""
    question = read_json(entry.question.decode("utf-8", "replace")) if entry.question else None
    if isinstance(question, NotJson):
        return None
    asked = question.get("request") if isinstance(question, dict) else None
    if isinstance(asked, dict) and isinstance(asked.get("url"), str):
        asked["url"] = shown_address(asked["url"])
    return question


def clear(directory: Path) -> int | None:
    """Delete all kept answers of a folder; None where the file was no sound store, and was removed as a whole."""
    path = cache_file(directory)
    try:
        with KeptAnswers(directory, writes=True) as kept:
            return kept.collect(max_bytes=-1)[0]
    except CacheError:
        for suffix in ("", "-wal", "-shm"):
            try:
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            except OSError as error:
                raise CacheError(f"{path}: cannot be removed, found {error.strerror or error}") from None
        return None
