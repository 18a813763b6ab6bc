"""What reasons say, word for word: expected, found, and the place that matters."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.assertions import is_here, verdict_on

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "assertion-reasons.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize(
    "row", [row for row in ROWS if is_here(row["assert"])], ids=lambda row: row["assert"]["type"]
)
def test_a_reason_names_what_was_expected_and_what_was_found(row: dict[str, Any]) -> None:
    assert verdict_on(row["output"], **row["assert"]).reason == row["reason"]
