"""What a generator produced, kept as a JSONL file, so that its cases have lines and can be read again.

The file is named after its content: the same cases are the same file, and runs at the same time do not disturb each
other.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
from blake3 import blake3

from evenhand.config.json_document import read_json_document
from evenhand.config.json_text import BadJson, decode_json
from evenhand.config.regular_file import reason_of
from evenhand.config.sandbox import FoundFile
from evenhand.config.sources.json_lines import MAX_LINE_BYTES, JsonLinesSource
from evenhand.config.wording import found
from evenhand.errors import Location, Problem, StoreError, SuiteError
from evenhand.io.protocol import PROTOCOL_VERSION
from evenhand.registry import nearest
from evenhand.text.excerpt import quoted

MAX_OUTPUT_BYTES = 1024**3
"""Bytes that a generator may produce."""

KEPT_DAYS = 7
"""Days for which cases of earlier loads are kept."""

_OURS = re.compile(r".+-[0-9a-f]{16}\.jsonl?|generated-.+\.partial")
_SLUG = re.compile(r"[^A-Za-z0-9.]+")
_SHOW = 'print the cases alone, as `{"tests": […]}` or one per line, and everything else on stderr'


class GeneratedSource(JsonLinesSource):
    """The cases that a generator produced."""

    def __init__(self, file: FoundFile, *, is_data: bool, stem: str, long_name: str) -> None:
        super().__init__(file, is_data=is_data)
        self.id_prefix = stem
        self._long_name = long_name

    @property
    def long_name(self) -> str:
        """What tells the generator from another one of the same name."""
        return self._long_name


class Spooled(NamedTuple):
    """A file that is being written."""

    path: Path
    stream: BinaryIO


class Spool:
    """The folder in which generated cases are kept. Raises `StoreError` where it cannot be written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def writing(self) -> Iterator[Spooled]:
        """A new file, gone at the end of the block unless `keep` took it."""
        path: Path | None = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._prune()
            descriptor, name = tempfile.mkstemp(dir=self._folder, prefix="generated-", suffix=".partial")
            path = Path(name)
            with os.fdopen(descriptor, "w+b") as stream:
                yield Spooled(path, stream)
        except OSError as error:
            raise StoreError(f"generated cases cannot be kept: {reason_of(error)}", self._folder) from None
        finally:
            if path is not None:
                path.unlink(missing_ok=True)

    def keep(self, spooled: Spooled, label: str, suffix: str) -> FoundFile:
        """Close a file that was written and give it its name, made of a label and its content."""
        hasher = blake3()
        with spooled.stream as stream:
            stream.seek(0)
            while chunk := stream.read(1024 * 1024):
                hasher.update(chunk)
        slug = _SLUG.sub("-", label)[:40].strip("-.") or "generated"
        path = self._folder / f"{slug}-{hasher.hexdigest()[:16]}{suffix}"
        spooled.path.replace(path)
        return FoundFile(path, path.name, str(path))

    def _prune(self) -> None:
        oldest = time.time() - KEPT_DAYS * 24 * 60 * 60
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if _OURS.fullmatch(entry.name) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                    Path(entry.path).unlink(missing_ok=True)


def spool_output(spool: Spool, spooled: Spooled, label: str) -> FoundFile:
    """The cases that a program printed into a file of the spool, as a JSONL file. Raises `SuiteError`."""
    stream = spooled.stream
    stream.seek(0)
    first = next((line for line in iter(lambda: stream.readline(MAX_LINE_BYTES), b"") if line.strip()), b"")
    if not first:
        raise SuiteError(
            [Problem(f"generator `{label}` printed nothing", (), 'print `{"tests": []}` for no cases')]
        )
    try:
        value = decode_json(first)
    except BadJson:
        if not first.lstrip().startswith((b"{", b"[")):
            begin = quoted(first.decode(errors="replace").strip(), length=60)
            message = f"the output of generator `{label}` is not JSON, it begins with {begin}"
            raise SuiteError([Problem(message, (), _SHOW)]) from None
        value = {"tests": None}  # The first line of a document that is laid out over several.
    if isinstance(value, dict) and "tests" not in value:
        return spool.keep(spooled, label, ".jsonl")
    return _spool_document(spool, spooled, label)


def spool_lines(spool: Spool, lines: Iterable[bytes], label: str) -> FoundFile:
    """Cases that are JSON texts already, as a JSONL file. Raises `SuiteError` where they are too many."""
    with spool.writing() as spooled:
        size = 0
        for line in lines:
            size += spooled.stream.write(line + b"\n")
            if size > MAX_OUTPUT_BYTES:
                raise SuiteError(
                    [Problem(f"generator `{label}` made more than {MAX_OUTPUT_BYTES:,} bytes of cases")]
                )
        return spool.keep(spooled, label, ".jsonl")


def _spool_document(spool: Spool, spooled: Spooled, label: str) -> FoundFile:
    file = spool.keep(spooled, label, ".json")
    document = read_json_document(file.path, file.name)
    tests = _tests_of(document.value, file, label)
    return spool_lines(spool, (msgspec.json.encode(test) for test in tests), label)


def _tests_of(document: Any, file: FoundFile, label: str) -> list[Any]:
    place = Location(file.name)
    if not isinstance(document, dict):
        raise SuiteError([Problem(f"generator `{label}` printed {found(document)}", (), _SHOW, place)])
    problems = [
        Problem(
            f"unknown key {key!r}",
            (key,),
            "did you mean 'tests'?" if nearest(key, ["tests"]) else _SHOW,
            place,
        )
        for key in document
        if key not in ("tests", "domarinn")
    ]
    envelope = document.get("domarinn")
    version = envelope.get("protocol") if isinstance(envelope, dict) else envelope
    if version not in (None, PROTOCOL_VERSION):
        hint = f"this version of evenhand speaks protocol {PROTOCOL_VERSION}: upgrade it, or the program"
        problems.append(
            Problem(f"unknown protocol version {version!r}", ("domarinn", "protocol"), hint, place)
        )
    tests = document.get("tests")
    if not isinstance(tests, list):
        problems.append(Problem(f"expected a list of tests, found {found(tests)}", ("tests",), "", place))
    if problems or not isinstance(tests, list):
        raise SuiteError(problems)
    return tests
