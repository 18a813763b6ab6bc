from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest

from evenhand.cli.columns import MEASURED_ROWS, print_columns, print_json_array


def test_columns_are_as_wide_as_their_widest_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_columns(("id", "tags"), [("billing/refund", "a b"), ("x", "")]) == 2
    assert capsys.readouterr().out == "id              tags\nbilling/refund  a b\nx\n"


def test_nothing_is_printed_without_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_columns(("id",), []) == 0
    assert capsys.readouterr().out == ""


def test_rows_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    def rows() -> Iterator[tuple[str]]:
        for number in itertools.count():
            if number == MEASURED_ROWS + 2:
                assert capsys.readouterr().out.count("\n") == MEASURED_ROWS + 3
                return
            yield (f"row {number}\x1b",)

    assert print_columns(("id",), rows()) == MEASURED_ROWS + 2


def test_json_arrays_are_valid_for_any_number_of_values(capsys: pytest.CaptureFixture[str]) -> None:
    for values in ([], [{"a": 1}], [{"a": "\ud800"}, 2, None]):
        print_json_array(iter(values))
        assert json.loads(capsys.readouterr().out) == values
