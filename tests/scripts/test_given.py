"""Numbers that JSON holds and floats do not, on their way to scripts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from evenhand.scripts.given import given
from support.assertions import verdict_on

LONG = Decimal("1" * 5_000)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("javascript", "typeof output.n === 'bigint' && String(output.n) === '1'.repeat(5000)"),
        ("python", "isinstance(output['n'], int) and output['n'] == (10 ** 5000 - 1) // 9"),
    ],
)
@pytest.mark.parametrize("number", [LONG, (10**5_000 - 1) // 9], ids=["decimal", "int"])
def test_integer_of_thousands_of_digits_arrives_whole(kind: str, value: str, number: Any) -> None:
    outcome = verdict_on({"n": number}, type=kind, value=value)
    assert outcome.status == "pass", outcome.reason


def test_python_check_in_the_process_of_the_run_gets_it_too() -> None:
    value = "output['n'] % 10 == 1 and output['n'] > 10 ** 4999"
    assert verdict_on({"n": LONG}, type="python", value=value, isolate=False).status == "pass"


@pytest.mark.parametrize("value", ["output.n === Infinity", "typeof output.n === 'number'"])
def test_number_beyond_a_float_is_what_javascript_reads_it_as(value: str) -> None:
    assert verdict_on({"n": Decimal("1e400")}, type="javascript", value=value).status == "pass"


def test_number_beyond_a_float_is_a_number_in_the_text() -> None:
    assert given([Decimal("1e400")]).text == "[1E+400]"
