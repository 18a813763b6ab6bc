"""Which reports a command writes, and where: `--format` and `--out` in one place."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO, cast

import click
import msgspec

from evenhand.cli.options import Function
from evenhand.cli.reserved import stdout
from evenhand.cli.terminal import Terminal, give_up_stdout, note, width
from evenhand.errors import ExitCode, UsageError
from evenhand.io.replacing import check_replaceable, replacing
from evenhand.model.result import Run
from evenhand.registry import nearest
from evenhand.report import REPORTS, Cases, Page, Report

STDOUT = "-"
DEFAULT_FORMAT = "table"

_FORMAT_NAME = re.compile(r"[a-z0-9_-]+", re.IGNORECASE)


class Output(NamedTuple):
    """One report and its file; None is the standard output."""

    report: Report
    path: Path | None


def output_options(function: Function) -> Function:
    """The options `--format` and `--out` of a command that reports a run."""
    out = click.option(
        "--out",
        "outs",
        metavar="[FORMAT=]PATH",
        multiple=True,
        help="Write a report to a file; with several formats say which, as in json=run.json. Repeatable.",
    )
    with_format = click.option(
        "--format",
        "formats",
        type=click.Choice(list(REPORTS)),
        multiple=True,
        help="Report format, by default table; one without --out goes to the standard output. Repeatable.",
    )
    return with_format(out(function))


def plan_outputs(formats: Sequence[str], outs: Sequence[str]) -> list[Output]:
    """What the two options ask for.

    A format without file goes to the standard output; without any `--format` that is the table, beside whatever
    files `--out` names. Raises `UsageError` for what could mean two things.
    """
    wanted = list(dict.fromkeys(formats))
    files = [_output(text, wanted) for text in outs]
    filed = {output.report.name for output in files}
    printed = [Output(REPORTS[name], None) for name in wanted or [DEFAULT_FORMAT] if name not in filed]
    outputs = [*printed, *files]
    _refuse_clashes(outputs)
    return outputs


def _output(text: str, formats: Sequence[str]) -> Output:
    name, equals, rest = text.partition("=")
    if equals and name in REPORTS:
        return Output(REPORTS[name], _path(rest, text))
    if equals and _FORMAT_NAME.fullmatch(name):
        close = nearest(name, REPORTS)
        hint = f"did you mean `{close}={rest}`?" if close else f"formats are {', '.join(REPORTS)}"
        raise UsageError(f"--out: no format {name!r}; {hint} (a file with `=` in its name: `./{text}`)")
    path = _path(text, text)
    if len(formats) > 1:
        examples = " ".join(f"--out {name}=…" for name in formats)
        raise UsageError(f"--out {text!r} does not say which format it is for; write {examples}")
    if formats:
        return Output(REPORTS[formats[0]], path)
    report = next((r for r in REPORTS.values() if path is not None and path.suffix.lower() == r.suffix), None)
    if report is None:
        raise UsageError(
            f"--out {text!r} does not say in which format; add `--format` or write `json={text}`"
        )
    return Output(report, path)


def _path(text: str, whole: str) -> Path | None:
    if not text or "\0" in text:
        raise UsageError(f"--out {whole!r} names no file; write a path, or `-` for the standard output")
    return None if text == STDOUT else Path(text)


def _refuse_clashes(outputs: Sequence[Output]) -> None:
    printed = [output.report.name for output in outputs if output.path is None]
    if len(printed) > 1:
        raise UsageError(
            f"only one format can go to the standard output, found {' and '.join(printed)}; "
            f"write the others to files, as in `--out {printed[-1]}=run{REPORTS[printed[-1]].suffix}`"
        )
    seen: set[Path] = set()
    for output in outputs:
        if output.path is not None:
            path = output.path.absolute()
            if path in seen:
                raise UsageError(
                    f"--out names {str(output.path)!r} twice; give each report a file of its own"
                )
            seen.add(path)


def check_outputs(outputs: Sequence[Output], suite: Path | None = None) -> None:
    """Find out before a run whether its reports can be written, and not over the suite. Raises `UsageError`."""
    for output in outputs:
        if output.path is not None:
            if suite is not None and output.path.resolve() == suite.resolve():
                raise UsageError(f"--out {str(output.path)!r} is the suite itself; name another file")
            try:
                check_replaceable(output.path)
            except OSError as error:
                raise UsageError(f"--out {str(output.path)!r} cannot be written: {_reason(error)}") from error


def write_outputs(
    outputs: Sequence[Output], run: Run, cases: Cases, terminal: Terminal, page: Page
) -> ExitCode:
    """Write every report, also where one before failed; 3 where a file or the standard output could not be written."""
    code = ExitCode.OK
    for output in outputs:
        try:
            with _stream(output) as stream:
                output.report.render(run, cases, stream, page_for(output, terminal, page))
        except OSError as error:
            if output.path is None:
                give_up_stdout()
                if isinstance(error, BrokenPipeError):  # Whoever read our output has seen enough.
                    continue
            where = "the standard output" if output.path is None else str(output.path)
            again = f"{page.view_command} --format {output.report.name}"
            note(f"error: {where} cannot be written: {_reason(error)}; the run is stored: `{again}`")
            code = ExitCode.HARNESS
    return code


def page_for(output: Output, terminal: Terminal, page: Page) -> Page:
    """The page as it is where this report goes: the terminal's width and colours, or plain in a file."""
    if output.path is not None:
        return page
    return msgspec.structs.replace(page, width=width(), color=terminal.has_color(stdout()))


@contextlib.contextmanager
def _stream(output: Output) -> Iterator[TextIO]:
    if output.path is not None:
        with replacing(output.path) as file:
            yield file
        return
    stream = stdout()
    stream.flush()
    if output.report.follows_terminal or not hasattr(stream, "buffer"):
        yield stream
        stream.flush()
    else:
        yield cast(TextIO, _Utf8(stream.buffer))
        stream.buffer.flush()


class _Utf8(io.TextIOBase):
    """Text as UTF-8 into a binary stream that it does not own, whatever encoding the terminal has."""

    def __init__(self, buffer: BinaryIO) -> None:
        self.buffer = buffer

    def write(self, text: str) -> int:
        self.buffer.write(text.encode())
        return len(text)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
