from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given

from evenhand.model.result import CaseResult
from evenhand.report.encode import _pieces, json_line
from evenhand.template import Val
from support.results import SAMPLE_CASES, SAMPLE_RUN, assertion, case_results, cell_result, json_values

DEPTH = 100_000


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@given(json_values)
def test_any_value_is_one_line_of_ascii_or_utf8_that_reads_back(value: Any) -> None:
    line = json_line(value)
    assert len(line.splitlines()) == 1
    line.encode()
    as_null = json.loads(json.dumps(value, default=str), parse_constant=lambda constant: None)
    assert json.loads(line, parse_constant=pytest.fail) == as_null


def test_an_unpaired_surrogate_is_kept_as_an_escape() -> None:
    assert json_line({"a": "x\ud800"}) == '{"a":"x\\ud800"}'


def test_numbers_that_json_does_not_have_become_null() -> None:
    assert json_line([float("nan"), float("inf"), "\ud800"]) == '[null,null,"\\ud800"]'


def test_an_integer_of_any_length_is_written_whole() -> None:
    assert json_line([10**5_000, "\ud800"]) == f'[1{"0" * 5_000},"\\ud800"]'
    assert json_line(10**5_000) == f"1{'0' * 5_000}"


def test_a_value_of_any_depth_is_written() -> None:
    value = nested(DEPTH)
    assert json_line(value) == "[" * (DEPTH + 1) + "]" * (DEPTH + 1)
    while value:  # Taken apart by hand: freeing it at once would recurse.
        value = value.pop()


def test_a_value_that_json_lacks_is_written_as_text() -> None:
    assert json_line({"a": Decimal("1.5"), 3: object}) == '{"a":"1.5","3":"<class \'object\'>"}'


def test_criteria_with_templates_are_written_as_authored() -> None:
    assert json_line({"value": Val({"$raw": "{{ x }}"})}) == '{"value":{"$raw":"{{ x }}"}}'
    assert json_line([Val("{{ x }}"), "\ud800"]) == '["{{ x }}","\\ud800"]'


def test_what_no_encoder_knows_is_written_as_text_in_a_document_that_needs_the_slow_writer() -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd \ud800"

    assert json_line([Odd(), Decimal("1.5")]) == '["odd \\ud800","1.5"]'


@given(case_results)
def test_the_slow_writer_says_what_the_fast_encoder_says(case: CaseResult) -> None:
    try:
        fast = msgspec.json.encode(case)
    except UnicodeEncodeError:
        return
    assert json.loads("".join(_pieces(case))) == json.loads(fast)


@pytest.mark.parametrize(
    "value", [*SAMPLE_CASES, SAMPLE_RUN, cell_result("t", "pass", assertion("x", "pass"))]
)
def test_the_slow_writer_writes_the_same_bytes_for_ordinary_results(value: msgspec.Struct) -> None:
    assert json.loads("".join(_pieces(value))) == json.loads(msgspec.json.encode(value))
