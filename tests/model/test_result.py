"""Results as documents hold them, and the keys by which they are joined across runs."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given

from evenhand.model.result import CaseResult, CaseStatus, CellKey
from support.stored_results import cell_keys
from support.vectors import row_id, topic


@pytest.mark.parametrize("row", topic("case-key"), ids=row_id)
def test_case_key_is_as_tabled(row: dict[str, Any]) -> None:
    assert CellKey(**row["suite_fragment"]).digest() == row["expected"]["case_key"]


@given(cell_keys, cell_keys)
def test_case_key_is_sixteen_hex_digits_that_tell_cells_apart(first: CellKey, second: CellKey) -> None:
    assert len(bytes.fromhex(first.digest())) == 8
    if "\0" not in f"{first}{second}" and (first.prompt_id or "") != (second.prompt_id or ""):
        assert first.digest() != second.digest()


def test_case_key_takes_ids_with_unpaired_surrogates() -> None:
    assert CellKey(provider_id="p", test_id="half \ud83d").digest()


def test_a_result_states_the_fields_that_every_case_has() -> None:
    cell = CellKey(provider_id="p", test_id="t")
    document = msgspec.json.decode(
        msgspec.json.encode(CaseResult(cell=cell, case_key="", name="t", status=CaseStatus.ERROR))
    )
    assert document["cell"] == {"provider_id": "p", "test_id": "t", "repeat": 0}
    always = {
        "tags": [],
        "vars": {},
        "score": None,
        "tool_calls": [],
        "asserts": [],
        "attempts": 0,
        "cached": False,
    }
    assert {name: document[name] for name in always} == always
