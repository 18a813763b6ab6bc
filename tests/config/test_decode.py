"""Every problem of a value at once, in plain words, at its place."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config.decode import decode, decode_partly
from evenhand.config.findings import Findings, Place
from evenhand.errors import DocumentPath, Location, SuiteError
from evenhand.template import Val


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    number: Annotated[int, msgspec.Meta(ge=1, description="How many there are. And more.")]
    ratio: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None


class Outer(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    name: Annotated[str, msgspec.Meta(min_length=1)] = "x"
    kind: Literal["red", "green"] = "red"
    inner: Inner | None = None
    words: tuple[str, ...] = ()
    some: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] = ("x",)
    table: dict[str, int] = {}
    flag: bool = False
    either: bool | str | None = None
    anything: Val = Val(None)


class Nowhere:
    """An origin that shows the path itself as the place."""

    def locate(self, path: DocumentPath) -> Location:
        return Location("f", len(path))


def found(value: Any, cls: type[msgspec.Struct] = Outer) -> list[str]:
    findings = Findings()
    assert decode(cls, value, Place(findings, Nowhere(), ("top",))) is None
    with pytest.raises(SuiteError) as caught:
        findings.raise_if_any()
    assert all(problem.location for problem in caught.value.problems)
    return [str(problem).partition(": ")[2] for problem in caught.value.problems]


def test_a_fitting_value_becomes_a_struct() -> None:
    findings = Findings()
    value = {"name": "a", "inner": {"number": 1, "ratio": 1}, "anything": {"x": "{{ y }}"}, "either": "text"}
    outer = decode(Outer, value, Place(findings, Nowhere()))
    assert outer == Outer(name="a", inner=Inner(1, 1.0), anything=Val({"x": "{{ y }}"}), either="text")
    assert not findings.problem_count


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "top: expected a mapping, found an empty list"),
        ("x", "top: expected a mapping, found text 'x'"),
        ({"nam": "x"}, "top.nam: unknown key 'nam'; did you mean 'name'?"),
        (
            {"zzz": 1},
            "top.zzz: unknown key 'zzz'; it takes anything, either, flag, inner, kind, name, some, table and",
        ),
        ({"name": ""}, "top.name: expected text that is not empty, found text ''"),
        ({"name": 5}, "top.name: expected text that is not empty, found the number 5"),
        ({"name": None}, "top.name: expected text that is not empty, found null"),
        ({"kind": "blue"}, "top.kind: expected 'green' or 'red', found text 'blue'"),
        ({"kind": True}, "top.kind: expected 'green' or 'red', found true"),
        ({"kind": "gren"}, "top.kind: expected 'green' or 'red', found text 'gren'; did you mean 'green'?"),
        ({"inner": 3}, "top.inner: expected a mapping, found the number 3"),
        ({"inner": {}}, "top.inner: key 'number' is missing; how many there are"),
        (
            {"inner": {"number": 0}},
            "top.inner.number: expected a whole number (1 or more), found the number 0",
        ),
        (
            {"inner": {"number": 1.5}},
            "top.inner.number: expected a whole number (1 or more), found the number 1.5",
        ),
        ({"inner": {"number": True}}, "top.inner.number: expected a whole number (1 or more), found true"),
        (
            {"inner": {"number": 1, "ratio": 2}},
            "top.inner.ratio: expected a number (more than 0 and at most 1), found the number 2",
        ),
        (
            {"inner": {"number": 1, "ratio": 10**400}},
            "top.inner.ratio: expected a number (more than 0 and at most 1)",
        ),
        (
            {"inner": {"number": 1, "ratio": 0}},
            "expected a number (more than 0 and at most 1), found the number 0",
        ),
        ({"words": "x"}, "top.words: expected a list, found text 'x'; write a list, even of one item"),
        ({"words": ["x", 1]}, "top.words[1]: expected text, found the number 1"),
        ({"some": []}, "top.some: expected a list that is not empty, found an empty list"),
        ({"table": {"a": "b"}}, "top.table.a: expected a whole number, found text 'b'"),
        ({"table": [1]}, "top.table: expected a mapping, found a list"),
        ({"flag": "yes"}, "top.flag: expected true or false, found text 'yes'"),
        ({"either": 1}, "top.either: expected true or false or text, found the number 1"),
    ],
)
def test_what_does_not_fit_is_said_in_plain_words(value: Any, message: str) -> None:
    assert message in found(value)[0]


def test_all_problems_of_a_value_are_found_at_once() -> None:
    value = {"nam": 1, "kind": 2, "inner": {"number": "x", "extra": 1}, "words": [1, 2], "flag": None}
    assert len(found(value)) == 7


def test_long_and_invisible_text_is_shown_short_and_escaped() -> None:
    assert found({"kind": "a\n\u200b" + "b" * 500}) == [
        f"top.kind: expected 'green' or 'red', found text 'a\\n\\u200b{'b' * 51}…'"
    ]


def test_what_is_wrong_is_left_out_of_a_partial_value_at_every_level() -> None:
    findings = Findings()
    value = {"nam": 1, "name": "kept", "inner": {"number": 2, "ratio": 7, "extra": 1}, "words": [1]}
    assert decode_partly(Outer, value, Place(findings, Nowhere())) == Outer(name="kept", inner=Inner(2))
    assert findings.problem_count == 4


def test_nothing_can_be_made_of_a_value_that_lacks_what_is_required() -> None:
    findings = Findings()
    assert decode_partly(Inner, {"ratio": 0.5}, Place(findings, Nowhere())) is None
    assert decode_partly(Inner, [], Place(findings, Nowhere())) is None
    assert findings.problem_count == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*Outer.__struct_fields__, "number", "ratio"]) | st.text(), inner, max_size=4
        )
    ),
    max_leaves=10,
)


@given(JSON)
def test_a_value_is_decoded_or_has_problems_with_places(value: Any) -> None:
    findings = Findings()
    whole = decode(Outer, value, Place(findings, Nowhere()))
    assert (whole is None) == bool(findings.problem_count)
    partly = decode_partly(Outer, value, Place(Findings(), Nowhere()))
    assert partly is not None or not isinstance(value, dict)
