"""The run document: every field of the run, then its cases one a line, then the summary.

`evenhand.model.result.RunDocument` describes it; `evenhand schema run` prints its JSON Schema.
"""

from __future__ import annotations

from typing import TextIO

from evenhand.model.result import Run
from evenhand.report.encode import json_line
from evenhand.report.formats import Cases


def render(run: Run, cases: Cases, out: TextIO) -> None:
    """Write the document, one case at a time."""
    out.write("{\n")
    for name in Run.__struct_fields__:
        value = getattr(run, name)
        if name != "summary" and not _is_left_out(name, value):
            out.write(f" {json_line(name)}: {json_line(value)},\n")
    out.write(' "cases": [')
    separator = "\n  "
    for case in cases():
        out.write(separator)
        out.write(json_line(case))
        separator = ",\n  "
    out.write("],\n" if separator == "\n  " else "\n ],\n")
    out.write(f' "summary": {json_line(run.summary)}\n}}\n')


_DEFAULTS = Run(run_id="")
_ALWAYS_STATED = ("schema_version", "status")


def _is_left_out(name: str, value: object) -> bool:
    """Whether a field says nothing beyond its default, which documents leave out."""
    return name not in _ALWAYS_STATED and value == getattr(_DEFAULTS, name)
