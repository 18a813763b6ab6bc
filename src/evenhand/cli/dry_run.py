"""`evenhand run --dry-run`: what a run would ask and cost, without asking."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from evenhand.api import Estimate, RunOptions, estimate_run, open_store_of
from evenhand.cli.columns import print_columns
from evenhand.cli.outputs import Output
from evenhand.errors import ExitCode, UsageError
from evenhand.model.suite import Suite
from evenhand.report.encode import json_line
from evenhand.report.figures import counted, dollars
from evenhand.run.estimate import ExpectedCalls
from evenhand.store.store import open_store

_HEADINGS = ("provider", "asked as", "model", "calls", "tokens in", "tokens out", "cost")


def show(suite: Suite, options: RunOptions, outputs: Sequence[Output]) -> ExitCode:
    """Print the estimate as a table or as JSON. Raises `UsageError` for reports that only a run can have."""
    name = _format(outputs)
    # Only options that name an earlier run need the store; a dry run leaves no file behind.
    looks_back = options.failed or options.resume
    with contextlib.closing(open_store_of(suite) if looks_back else open_store(None)) as store:
        found = estimate_run(suite, options, store=store)
    if name == "json":
        print(json_line(found))
    else:
        _print_table(found)
    return ExitCode.OK if found.cells or options.allow_empty else ExitCode.SUITE


def _format(outputs: Sequence[Output]) -> str:
    names = [output.report.name for output in outputs]
    if len(outputs) != 1 or outputs[0].path is not None or names[0] not in ("table", "json"):
        raise UsageError(
            "--dry-run prints a table, or JSON with `--format json`, to the standard output; "
            "it has no other reports and no files"
        )
    return names[0]


def _print_table(found: Estimate) -> None:
    print_columns(_HEADINGS, map(_row, found.calls))
    for line in _totals(found):
        print(line)


def _row(row: ExpectedCalls) -> tuple[str, ...]:
    calls = f"{row.calls:,}" + (f" (+{row.known:,} known)" if row.known else "")
    cost = "not known" if row.cost_usd is None else dollars(row.cost_usd)
    return (
        row.provider_id,
        row.role,
        row.model or "",
        calls,
        f"{row.input_tokens:,}",
        f"{row.output_tokens:,}",
        cost,
    )


def _totals(found: Estimate) -> Iterator[str]:
    calls = sum(row.calls for row in found.calls)
    yield f"{counted(found.cells, 'cell')}, {counted(calls, 'call')}, about {dollars(found.cost_usd)}"
    if found.unpriced_calls:
        yield f"not in the cost: {counted(found.unpriced_calls, 'call')} whose price is not known before the answer"
    if found.cells_without_question:
        yield f"{counted(found.cells_without_question, 'cell')} whose question does not render will end as errors"
    yield (
        f"tokens are estimated from lengths, answers taken as {found.answer_tokens} tokens at most; "
        "graders are counted as if never skipped or asked again"
    )
