"""Cases from a program or a Python function, made once and then read like a file.

A program gets `{"domarinn": {"protocol": 1, "kind": "generate_tests"}, "config": …}` on its standard input and prints
`{"tests": […]}` or one test per line.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Annotated, Any, BinaryIO

import msgspec

from evenhand.config.decode import decode
from evenhand.config.document import Written
from evenhand.config.findings import Place
from evenhand.config.regular_file import read_bounded_text, reason_of
from evenhand.config.sandbox import FoundFile, Sandbox
from evenhand.config.sources.function import cases_of, check_module
from evenhand.config.sources.program import Finished, run_program
from evenhand.config.sources.spool import (
    MAX_OUTPUT_BYTES,
    GeneratedSource,
    Spool,
    spool_lines,
    spool_output,
)
from evenhand.config.wording import found
from evenhand.errors import GeneratorError, Problem, SuiteError
from evenhand.io.protocol import PROTOCOL_ENV, envelope
from evenhand.io.target import FILE_PREFIX
from evenhand.text.excerpt import escaped, quoted

MAX_LABEL = 60
"""Characters by which messages name a generator."""

_Meta = msgspec.Meta


class WrittenGenerated(Written, frozen=True, kw_only=True):
    """Tests that are made when the suite is loaded."""

    generator: Annotated[
        Any, _Meta(description="A program's `command` with its `config`, or `file://cases.py:function`.")
    ]
    template: Annotated[
        bool, _Meta(description="Whether var values of the generated tests are templates.")
    ] = False


class WrittenGenerator(Written, frozen=True, kw_only=True):
    """A program that prints tests."""

    command: Annotated[
        tuple[str, ...],
        _Meta(min_length=1, description="The program and its arguments, run in the suite's folder."),
    ]
    config: Annotated[Any, _Meta(description="Handed to the program as it is.")] = None
    timeout_ms: Annotated[float, _Meta(gt=0, description="Time for the program.")] = 60_000

    @property
    def label(self) -> str:
        """What messages call the program."""
        words = escaped(" ".join(self.command))
        return words if len(words) <= MAX_LABEL else f"{words[:MAX_LABEL]}…"


class CommandGenerator:
    """A program that prints tests."""

    def __init__(self, written: WrittenGenerator, *, is_data: bool) -> None:
        self._written = written
        self._is_data = is_data

    def run(self, sandbox: Sandbox, folder: Path) -> GeneratedSource:
        """Run the program and keep its cases in `folder`.

        Raises `GeneratorError` where it cannot be started, fails or takes too long, `SuiteError` where it prints no
        cases, `StoreError` where they cannot be kept.
        """
        label = self._written.label
        spool = Spool(folder)
        with spool.writing() as spooled:
            finished = self._finished(sandbox, spooled.stream)
            if finished.is_too_large:
                raise SuiteError(
                    [Problem(f"generator `{label}` {finished.failure}", (), "print fewer cases")]
                )
            if finished.failure:
                raise GeneratorError(_account(label, finished))
            file = spool_output(spool, spooled, label)
        stem = PurePath(self._written.command[0]).stem or label
        return GeneratedSource(file, is_data=self._is_data, stem=stem, long_name=label)

    def _finished(self, sandbox: Sandbox, output: BinaryIO) -> Finished:
        request = {**envelope("generate_tests"), "config": self._written.config}
        try:
            return run_program(
                self._written.command,
                directory=sandbox.directory,
                environment={**os.environ, **PROTOCOL_ENV},
                document=msgspec.json.encode(request),
                output=output,
                timeout_ms=self._written.timeout_ms,
                output_limit_bytes=MAX_OUTPUT_BYTES,
            )
        except OSError as error:
            raise GeneratorError(
                f"generator `{self._written.label}` could not be started: {reason_of(error)}"
            ) from None


class FunctionGenerator:
    """A Python function that makes tests in this process."""

    def __init__(self, file: FoundFile, function: str, *, is_data: bool) -> None:
        self._file = file
        self._function = function
        self._is_data = is_data

    def run(self, sandbox: Sandbox, folder: Path) -> GeneratedSource:
        """Call the function and keep its cases in `folder`. Raises `SuiteError` and `StoreError`."""
        label = f"{self._file.relative}:{self._function}"
        file = spool_lines(Spool(folder), cases_of(self._file, self._function), label)
        return GeneratedSource(file, is_data=self._is_data, stem=self._file.stem, long_name=label)


def read_generator(entry: Any, place: Place, sandbox: Sandbox) -> CommandGenerator | FunctionGenerator | None:
    """What an entry `{generator: …}` of `tests` stands for; None after reporting what is wrong with it.

    Nothing is run.
    """
    written = decode(WrittenGenerated, entry, place)
    if written is None:
        return None
    is_data = not written.template
    inside = place.inside("generator")
    if isinstance(written.generator, str):
        return _function_generator(written.generator, inside, sandbox, is_data=is_data)
    program = decode(WrittenGenerator, written.generator, inside)
    if program is None:
        return None
    if any("\0" in word for word in program.command) or not program.command[0].strip():
        inside.inside("command").report("the program's name is blank, or a word holds a NUL character")
        return None
    return CommandGenerator(program, is_data=is_data)


def _function_generator(
    reference: str, place: Place, sandbox: Sandbox, *, is_data: bool
) -> FunctionGenerator | None:
    path, _, function = reference.removeprefix(FILE_PREFIX).rpartition(":")
    if not reference.startswith(FILE_PREFIX) or not path or not function.isidentifier():
        place.report(
            f"expected `file://cases.py:function` or a mapping with a `command`, found {found(reference)}"
        )
        return None
    try:
        file = sandbox.code_file(path)
        check_module(file, read_bounded_text(file.path, file.name), function)
    except SuiteError as error:
        place.adopt(error)
        return None
    return FunctionGenerator(file, function, is_data=is_data)


def _account(label: str, finished: Finished) -> str:
    said = finished.stderr_tail
    last_words = f"; its error stream ends with {quoted(said, around=len(said))}" if said else ""
    return f"generator `{label}` {finished.failure}{last_words}"
