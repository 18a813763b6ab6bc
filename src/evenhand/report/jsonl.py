"""One JSON object a line for each cell, as `evenhand.model.result.CaseResult` describes it."""

from __future__ import annotations

from typing import TextIO

from evenhand.model.result import Run
from evenhand.report.encode import json_line
from evenhand.report.formats import Cases


def render(run: Run, cases: Cases, out: TextIO) -> None:  # noqa: ARG001  (every format is called alike)
    """Write the cases, one at a time; every line ends with a line feed and holds no other line separator."""
    out.writelines(f"{json_line(case)}\n" for case in cases())
