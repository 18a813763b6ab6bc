"""`evenhand cache`."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.locate import suite_directory
from evenhand.cli.options import Function, allow_outside_option, cache_dir_option, suite_option
from evenhand.errors import UsageError

if TYPE_CHECKING:
    from evenhand.cache.inspecting import Kept
    from evenhand.explaining import Explained, Lookup


_PERIODS = {"h": 1 / 24, "d": 1.0, "w": 7.0}
_PERIOD = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)([hdw])")
_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d{1,12})([KMG]?)(?:i?B)?", re.IGNORECASE)
_SHOWN_LEAVES = 12
_SHOWN_CHARACTERS = 100


def _directory_options(function: Function) -> Function:
    """The options that say whose kept answers are meant."""
    return cache_dir_option(suite_option(function))


def _directory(suite: Path, cache_dir: str | None) -> Path:
    from evenhand.cache.opening import cache_directory
    from evenhand.store.state import state_directory

    directory = cache_directory(cache_dir, {}, state_directory(suite_directory(suite), os.environ))
    assert directory is not None  # noqa: S101  (there is a state folder)
    return directory


def _days(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """A length of time such as `90d`, as days."""
    if value is None:
        return None
    found = _PERIOD.fullmatch(value)
    if found is None:
        raise click.BadParameter(
            f"{value!r} is not a period; write hours, days or weeks as in 12h, 90d, 4w", ctx, param
        )
    return float(found[1]) * _PERIODS[found[2]]


def _bytes(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A size such as `500M`, as bytes."""
    if value is None:
        return None
    found = _SIZE.fullmatch(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is not a size; write one as in 500M, 2G", ctx, param)
    return int(found[1]) * _SIZES[found[2].upper()]


@click.group("cache", short_help="Look at kept answers, explain them, and throw them away.")
def command() -> None:
    """Look at kept answers, explain them, and throw them away."""


@command.command("path")
@_directory_options
def path(suite: Path, cache_dir: str | None) -> None:
    """Print the folder of the kept answers."""
    print(_directory(suite, cache_dir))


@command.command("stats")
@_directory_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def stats(suite: Path, cache_dir: str | None, as_json: bool) -> None:
    """Count the kept answers."""
    from evenhand.cache.inspecting import KeptAnswers
    from evenhand.cli.columns import print_columns
    from evenhand.report.encode import json_line
    from evenhand.report.figures import counted

    with KeptAnswers(_directory(suite, cache_dir)) as kept:
        found = kept.stats()
    if as_json:
        print(json_line({**found._asdict(), "path": str(kept.path)}))
        return
    print(f"{counted(found.answers, 'answer')}, {_size(found.bytes)}, in {kept.path}")
    if found.oldest is not None and found.newest is not None:
        print(f"kept from {_moment(found.oldest)} to {_moment(found.newest)}")
        print_columns(("asked", "answers"), ((n, f"{count:,}") for n, count in found.by_provider.items()))


@command.command("ls")
@_directory_options
@click.option("--provider", metavar="ID", help="Only answers of this provider, judge or checker.")
@click.option("--test", metavar="ID", help="Only answers that were asked for by this test.")
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="The newest N."
)
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_answers(
    suite: Path,
    cache_dir: str | None,
    provider: str | None,
    test: str | None,
    limit: int,
    everything: bool,
    as_json: bool,
) -> None:
    """List kept answers, the newest first."""
    from evenhand.cache.inspecting import KeptAnswers
    from evenhand.cli.columns import print_columns, print_json_array
    from evenhand.cli.terminal import note

    with KeptAnswers(_directory(suite, cache_dir)) as kept:
        found = kept.newest(limit=None if everything else limit, provider=provider, test=test)
        if as_json:
            print_json_array(item._asdict() for item in found)
        elif not print_columns(("key", "kept", "used", "bytes", "asked", "test"), map(_row, found)):
            note("no answers are kept; `evenhand run` keeps those that it asks for")


@command.command("show")
@click.argument("key")
@_directory_options
def show(key: str, suite: Path, cache_dir: str | None) -> None:
    """Print one kept answer and its question as JSON. KEY may be the beginning of a key."""
    from evenhand.cache.inspecting import KeptAnswers, shown_question
    from evenhand.report.encode import json_line

    with KeptAnswers(_directory(suite, cache_dir)) as kept:
        entry = kept.find(key)
    head = entry.head
    print(
        json_line(
            {
                "key": head.key,
                "kept_at": _moment(head.created),
                "asked": head.provider,
                "test": head.test,
                "question": shown_question(entry),
                "answer": entry.response,
            }
        )
    )


@command.command("gc")
@_directory_options
@click.option(
    "--unused-for",
    "unused_days",
    callback=_days,
    metavar="PERIOD",
    help="Delete what was not used for this period, as in 90d, 4w or 12h.",
)
@click.option(
    "--max-size",
    "max_bytes",
    callback=_bytes,
    metavar="SIZE",
    help="Then delete the longest unused until the rest fits, as in 500M or 2G.",
)
def collect(suite: Path, cache_dir: str | None, unused_days: float | None, max_bytes: int | None) -> None:
    """Delete kept answers that are old or too many."""
    from evenhand.cache.inspecting import KeptAnswers
    from evenhand.report.figures import counted

    if unused_days is None and max_bytes is None:
        raise UsageError("nothing says what to delete; give --unused-for PERIOD, --max-size SIZE, or both")
    with KeptAnswers(_directory(suite, cache_dir), writes=True) as kept:
        count, size = kept.collect(unused_days=unused_days, max_bytes=max_bytes)
    print(f"deleted {counted(count, 'answer')}, {_size(size)}")


@command.command("clear")
@_directory_options
def clear_answers(suite: Path, cache_dir: str | None) -> None:
    """Delete all kept answers, and a store of them that cannot be read."""
    from evenhand.cache.inspecting import clear
    from evenhand.report.figures import counted

    count = clear(_directory(suite, cache_dir))
    print(
        "removed a store that could not be read" if count is None else f"deleted {counted(count, 'answer')}"
    )


@command.command("explain")
@click.argument("case", metavar="CASE")
@_directory_options
@click.option(
    "--repeat", type=click.IntRange(min=1), default=1, metavar="N", help="Also the repeats 1 to N-1."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array, with the whole questions.")
@allow_outside_option
def explain(
    case: str,
    suite: Path,
    cache_dir: str | None,
    repeat: int,
    as_json: bool,
    allow_outside: tuple[Path, ...],
) -> None:
    """Say for every question of a case what is keyed, whether its answer is kept, and what the nearest one asks.

    Nothing is called. Graders are asked about kept answers alone: what they would be asked depends on the answer.
    """
    from evenhand.cli.columns import print_json_array
    from evenhand.cli.reserved import reserved_stdout, stdout
    from evenhand.cli.suites import loaded
    from evenhand.explaining import explain_case

    directory = _directory(suite, cache_dir)
    finished = loaded(suite, allow_outside=allow_outside)
    with reserved_stdout():
        found = asyncio.run(explain_case(finished, case, directory, repeat=repeat))
    if as_json:
        print_json_array(map(_as_json, found))
        return
    for explained in found:
        for line in _lines(explained):
            print(line, file=stdout())


def _lines(explained: Explained) -> Iterator[str]:
    from evenhand.report.visible import visible

    cell = explained.result.cell
    repeat = f", repeat {cell.repeat}" if cell.repeat else ""
    prompt = f", prompt {cell.prompt_id!r}" if cell.prompt_id else ""
    yield visible(f"{cell.test_id}: provider {cell.provider_id!r}{prompt}{repeat}")
    for lookup in explained.lookups:
        for line in _lookup_lines(lookup):
            yield visible(f"  {line}")
    if explained.result.error is not None and not any(lookup.entry is None for lookup in explained.lookups):
        yield visible(f"  {explained.result.error}")


def _lookup_lines(lookup: Lookup) -> Iterator[str]:
    from evenhand.cache.differences import leaves

    who = lookup.question.provider
    if lookup.entry is not None:
        yield f"hit   {who}: kept {_moment(lookup.entry.head.created)} as {lookup.question.key}"
    else:
        yield f"miss  {who}: {lookup.question.key}"
    keyed = list(leaves(lookup.shown))
    yield "  keyed:"
    for place, value in keyed[:_SHOWN_LEAVES]:
        yield f"    {place} = {_clipped(value)}"
    if len(keyed) > _SHOWN_LEAVES:
        yield f"    and {len(keyed) - _SHOWN_LEAVES} more; `--json` shows all"
    if lookup.entry is not None:
        return
    if lookup.nearest is None:
        yield "  no answer of this case or provider is kept"
        return
    yield f"  the nearest kept answer, {lookup.nearest.key}, differs in {lookup.nearest.total}:"
    for difference in lookup.nearest.differences:
        yield f"    {difference.path}: {_clipped(difference.asked)} here, {_clipped(difference.kept)} there"


def _as_json(explained: Explained) -> dict[str, Any]:
    from evenhand.text.json_reader import read_json

    return {
        "cell": explained.result.cell,
        "error": explained.result.error,
        "error_class": explained.result.error_class,
        "questions": [
            {
                "key": lookup.question.key,
                "asked": lookup.question.provider,
                "hit": lookup.entry is not None,
                "question": read_json(lookup.shown.decode("utf-8", "replace")),
                "nearest": None
                if lookup.nearest is None
                else {
                    "key": lookup.nearest.key,
                    "differences": [difference._asdict() for difference in lookup.nearest.differences],
                    "count": lookup.nearest.total,
                },
            }
            for lookup in explained.lookups
        ],
    }


def _row(kept: Kept) -> tuple[str, ...]:
    key = kept.key.removeprefix("sha256:")[:12]
    return key, _moment(kept.created), _moment(kept.used), f"{kept.size:,}", kept.provider, kept.test


def _moment(seconds: float) -> str:
    """A moment in UTC; a clock that was set to nonsense shows as a question mark."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return "?"


def _clipped(value: str | None) -> str:
    if value is None:
        return "nothing"
    return value if len(value) <= _SHOWN_CHARACTERS else f"{value[:_SHOWN_CHARACTERS]}…"


def _size(count: int) -> str:
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count} B"
