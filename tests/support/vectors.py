"""The project's table of right answers, `tests/data/vectors`, as rows."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "data" / "vectors"


@functools.cache
def rows(name: str) -> tuple[dict[str, Any], ...]:
    """Every row of a table: `assertions`, `javascript` or `field-cases`."""
    with (FOLDER / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


def topic(*names: str) -> list[dict[str, Any]]:
    """The rows of `assertions.jsonl` about some topics."""
    return [row for row in rows("assertions") if row["topic"] in names]


def row_id(row: dict[str, Any]) -> str:
    """The name of a row in test reports."""
    return str(row["id"])
