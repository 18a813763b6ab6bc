"""The answers of one run: looked up here first, then in shared storage; kept here, then shared in the background."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from evenhand.cache.database import CacheError, Row, cache_file, connect, explained
from evenhand.cache.entry import BadEntry, Entry, NewerEntry, entry_bytes, read_entry, response_document
from evenhand.cache.question import Question
from evenhand.cache.sharing import Sharing
from evenhand.cache.tier import Tier
from evenhand.cache.writer import Writer
from evenhand.model.exchange import Response

log = logging.getLogger("evenhand")

USED_EVERY_S = 86_400.0
"""Seconds after which the use of an answer is noted again; `gc` needs to know the day."""

_FIND = "SELECT body, used FROM answers WHERE key = ?"


class Redacting(Protocol):
    """What finds secrets in a JSON document, and takes them out."""

    def found_in(self, document: bytes) -> bool:
        """Whether the document holds a secret."""
        ...

    def clean_bytes(self, document: bytes) -> bytes:
        """The document without secrets."""
        ...


class CacheUnavailable(Exception):
    """Kept answers that had to be read and cannot be; the message says why."""


class AnswerCache:
    """Kept answers in use by one run, opened at the first question.

    A store that cannot be used costs one warning, and the run goes on without it; where nothing but kept answers may
    be used (`only`), every look-up raises `CacheUnavailable` instead.
    """

    def __init__(
        self,
        directory: Path,
        redactor: Redacting,
        *,
        only: bool = False,
        tier: Tier | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.path = cache_file(directory)
        self.only = only
        self.flights: dict[bytes, asyncio.Future[Response]] = {}
        """Questions that are being asked at this moment, by digest."""
        self.on_lookup: Callable[[Question, Entry | None], None] | None = None
        self._redactor = redactor
        self._now = now
        self._sharing = None if tier is None else Sharing(tier, read_only=only)
        self._reader: sqlite3.Connection | None = None
        self._writer: Writer | None = None
        self._write_connection: sqlite3.Connection | None = None
        self._trouble: str | None = None
        self._damaged: set[bytes] = set()

    def find(self, question: Question) -> Response | None:
        """The answer that this machine keeps. Raises `CacheUnavailable`."""
        body = None if self._writer is None else self._writer.waiting(question.digest)
        if body is None:
            body = self._stored(question.digest)
        entry = None if body is None else self._read(body, question)
        if self.on_lookup is not None:
            self.on_lookup(question, entry)
        return None if entry is None else entry.response

    async def find_shared(self, question: Question) -> Response | None:
        """The answer that a shared storage keeps; it is kept here from then on."""
        if self._sharing is None:
            return None
        body = await self._sharing.get(question.key)
        if body is None:
            return None
        try:
            entry = read_entry(body, question.key)
        except (BadEntry, NewerEntry) as fault:
            why = str(fault) or "a newer evenhand wrote it"
            log.warning("an answer in %s is not used: %s", self._sharing.name, why)
            return None
        self._put(question, body)
        return entry.response

    def keep(self, question: Question, response: Response, *, replaces: bool = False) -> bool:
        """Keep an answer, here and in shared storage. False for one that JSON cannot hold or that holds a secret.

        A secret in an answer is never written, and an answer without it would be judged differently.
        """
        if self.only:
            return False
        document = response_document(response)
        if document is None or self._redactor.found_in(document):
            return False
        shown = self._redactor.clean_bytes(question.document)
        body = entry_bytes(question, document, shown, self._now())
        self._put(question, body, replaces=replaces or question.digest in self._damaged)
        if self._sharing is not None:
            self._sharing.put(question.key, body)
        return True

    async def close(self) -> None:
        """Write and share what waits, and let go of files and connections."""
        if self._sharing is not None:
            await self._sharing.close()
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)
        for connection in (self._reader, self._write_connection):
            if connection is not None:
                connection.close()
        self._reader = self._writer = self._write_connection = None

    def _stored(self, digest: bytes) -> bytes | None:
        try:
            reader = self._opened()
            if reader is None:
                return None
            row = reader.execute(_FIND, (digest,)).fetchone()
        except CacheError as error:
            self._fail(str(error))
            return None
        except sqlite3.Error as error:
            self._fail(f"{self.path}: {explained(error)}")
            return None
        if row is None:
            return None
        body, used = row
        if not isinstance(body, bytes):
            return b""
        if abs(self._now() - used) > USED_EVERY_S and self._writer is not None:
            self._writer.touch(digest, self._now())
        return body

    def _read(self, body: bytes, question: Question) -> Entry | None:
        try:
            return read_entry(body, question.key)
        except NewerEntry:
            return None
        except BadEntry as fault:
            if question.digest not in self._damaged:
                self._damaged.add(question.digest)
                log.warning("%s: a damaged answer is asked for again: %s", self.path, fault)
            return None

    def _put(self, question: Question, body: bytes, *, replaces: bool = False) -> None:
        try:
            self._opened()
        except CacheError as error:
            self._fail(str(error))
        if self._writer is not None:
            self._writer.put(
                Row(question.digest, self._now(), question.provider, question.test, body, replaces)
            )

    def _opened(self) -> sqlite3.Connection | None:
        """The connection that reads; None once there was trouble. Raises `CacheError`."""
        if self._reader is not None:
            return self._reader
        if self._trouble is not None:
            if self.only:
                raise CacheUnavailable(self._trouble)
            return None
        if self.only and not self.path.exists():
            return None
        self._reader = connect(self.path, writes=not self.only)
        if not self.only:
            self._write_connection = connect(self.path)
            self._writer = Writer(self._write_connection, self.path, self._warn_of_writing)
        return self._reader

    def _fail(self, why: str) -> None:
        """Use the local store no more."""
        if self._trouble is None:
            self._trouble = why
            if not self.only:
                log.warning("kept answers cannot be used, so that every question is asked: %s", why)
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        if self._writer is not None:
            self._writer.has_failed = True
        if self.only:
            raise CacheUnavailable(why)

    def _warn_of_writing(self, why: str) -> None:
        log.warning("answers are not kept any more in this run: %s", why)
