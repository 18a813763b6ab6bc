"""`${env:…}` in settings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config.findings import Findings, Place
from evenhand.config.interpolate import interpolate
from evenhand.config.yaml_reader import Document
from evenhand.errors import SuiteError

ENVIRON = {"A": "1", "EMPTY": "", "NESTED": "${env:A} $$"}


def filled(value: Any) -> Any:
    findings = Findings()
    result = interpolate(value, ENVIRON, Place(findings, Document(value, None, "f"), ("providers",)))
    findings.raise_if_any()
    return result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${env:A}", "1"),
        ("x${env:A}y${env:A}", "x1y1"),
        ("${env:NO:-d}", "d"),
        ("${env:NO:-}", ""),
        ("${env:NO:-a:-b}", "a:-b"),
        ("${env:EMPTY:-d}", ""),
        ("${env:NESTED}", "${env:A} $$"),
        ("$$", "$"),
        ("$${env:A}", "${env:A}"),
        ("$$$${env:A}", "$${env:A}"),
        ("$$${env:A}", "$1"),
        ("${OTHER} $HOME $ $1", "${OTHER} $HOME $ $1"),
        ("{{ env.A }}", "{{ env.A }}"),
    ],
)
def test_text_is_filled_in_once(text: str, result: str) -> None:
    assert filled(text) == result


def test_every_text_of_a_value_is_filled_in_but_no_key() -> None:
    value = {"${env:A}": ["${env:A}", {"x": "${env:A}"}, 5, None, True]}
    assert filled(value) == {"${env:A}": ["1", {"x": "1"}, 5, None, True]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "${env:NO}",
            "f: providers[0].url: the environment variable 'NO' is not set; set it, or give a default",
        ),
        ("${env:}", "names no variable"),
        ("${env::-x}", "names no variable"),
        ("${env:A", "has no closing `}`"),
        ("ok ${env:A} ${env:A:-x", "has no closing `}`"),
    ],
)
def test_what_cannot_be_filled_in_is_reported_with_field_and_variable(text: str, message: str) -> None:
    with pytest.raises(SuiteError) as caught:
        filled([{"url": text}])
    assert message in str(caught.value)


@given(st.text(alphabet="${}:-envA x"))
def test_any_text_is_filled_in_or_refused(text: str) -> None:
    findings = Findings()
    result = interpolate(text, ENVIRON, Place(findings, Document(text, None, "f")))
    assert isinstance(result, str)
