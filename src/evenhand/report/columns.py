"""A run as a table of plain columns, one row a cell: what `csv` and `parquet` have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from evenhand.model.outcome import Status
from evenhand.model.result import CaseResult, Run
from evenhand.report.encode import json_line
from evenhand.report.labels import kind_label, output_text, prompt_text

METRIC_PREFIX = "score:"
"""What the names of columns with named scores begin with."""


class Column(NamedTuple):
    """A column: its name, the type of its values (which may be None), and where the value comes from."""

    name: str
    type: type
    value: Callable[[CaseResult], Any]


def columns_of(run: Run) -> list[Column]:
    """The columns of a run: the same for every run, then one for each named score of its summary."""
    return [*_COLUMNS, *(_metric(name) for name in sorted(run.summary.named_scores))]


def _metric(name: str) -> Column:
    return Column(f"{METRIC_PREFIX}{name}", float, lambda case: case.named_scores.get(name))


def _reasons(case: CaseResult) -> str:
    """What did not hold, a line each."""
    return "\n".join(f"{kind_label(a)}: {a.reason}" for a in case.asserts if a.status is not Status.PASS)


def _usage(field: str) -> Callable[[CaseResult], int | None]:
    return lambda case: None if case.usage is None else getattr(case.usage, field)


def _grader_cost(case: CaseResult) -> float | None:
    costs = [each.cost_usd for each in case.asserts if each.cost_usd is not None]
    return sum(costs) if costs else None


_COLUMNS = (
    Column("test_id", str, lambda case: case.cell.test_id),
    Column("provider_id", str, lambda case: case.cell.provider_id),
    Column("prompt_id", str, lambda case: case.cell.prompt_id),
    Column("repeat", int, lambda case: case.cell.repeat),
    Column("case_key", str, lambda case: case.case_key),
    Column("name", str, lambda case: case.name),
    Column("tags", str, lambda case: ",".join(case.tags)),
    Column("status", str, lambda case: case.status.value),
    Column("score", float, lambda case: case.score),
    Column("reasons", str, _reasons),
    Column("error_class", str, lambda case: case.error_class),
    Column("error", str, lambda case: case.error),
    Column("unchecked", bool, lambda case: case.unchecked),
    Column("prompt", str, lambda case: None if case.prompt is None else prompt_text(case)),
    Column("output", str, lambda case: None if case.output is None else output_text(case)),
    Column(
        "tool_calls",
        str,
        lambda case: (
            "\n".join(f"{call.name} {json_line(call.arguments)}" for call in case.tool_calls) or None
        ),
    ),
    Column("model", str, lambda case: case.model),
    Column("stop_reason", str, lambda case: case.stop_reason),
    Column("empty_reason", str, lambda case: case.empty_reason),
    Column("latency_ms", float, lambda case: case.latency_ms),
    Column("attempts", int, lambda case: case.attempts),
    Column("cached", bool, lambda case: case.cached),
    Column("input_tokens", int, _usage("input_tokens")),
    Column("output_tokens", int, _usage("output_tokens")),
    Column("cache_read_tokens", int, _usage("cache_read_tokens")),
    Column("cost_usd", float, lambda case: case.cost_usd),
    Column("grader_cost_usd", float, _grader_cost),
    Column("location", str, lambda case: case.location),
)


def encodable(text: str) -> str:
    """A text that UTF-8 can hold: unpaired surrogates become escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
