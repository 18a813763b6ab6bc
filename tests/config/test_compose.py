"""Suites put together from files: what wins, what is appended, and where each value stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config.compose import Layer, compose, merged
from evenhand.config.findings import Findings
from evenhand.config.sandbox import Sandbox
from evenhand.config.yaml_reader import Document
from evenhand.errors import Location, SuiteError
from support.written import write


def composed(folder: Path, text: str, files: dict[str, str]) -> Any:
    findings = Findings()
    path = write(folder, text, files)
    result = compose(path, "evenhand.yaml", Sandbox(folder), findings)
    findings.raise_if_any()
    return result


def refused(folder: Path, text: str, files: dict[str, str]) -> str:
    with pytest.raises(SuiteError) as caught:
        composed(folder, text, files)
    return str(caught.value).replace(f"{folder}/", "")


def test_the_file_wins_over_imports_and_imports_over_extends(tmp_path: Path) -> None:
    files = {
        "base.yaml": "a: base\nb: base\nc: base\nd: base\n",
        "one.yaml": "b: one\nc: one\n",
        "two.yaml": "c: two\n",
    }
    text = "extends: base.yaml\nimports: [one.yaml, file://two.yaml]\nd: own\n"
    assert composed(tmp_path, text, files).value == {"a": "base", "b": "one", "c": "two", "d": "own"}


def test_parts_are_looked_up_beside_the_file_that_names_them(tmp_path: Path) -> None:
    files = {"sub/base.yaml": "extends: deeper/x.yaml\nb: 2\n", "sub/deeper/x.yaml": "a: 1\n"}
    assert composed(tmp_path, "extends: sub/base.yaml\n", files).value == {"a": 1, "b": 2}


def test_one_part_may_be_reached_on_two_ways(tmp_path: Path) -> None:
    files = {"a.yaml": "extends: c.yaml\n", "b.yaml": "extends: c.yaml\n", "c.yaml": "x: 1\n"}
    assert composed(tmp_path, "imports: [a.yaml, b.yaml]\n", files).value == {"x": 1}


def test_only_lists_under_assert_are_appended(tmp_path: Path) -> None:
    files = {"base.yaml": "defaults: {assert: [1], tags: [x]}\ntests: [1]\n"}
    text = "extends: base.yaml\ndefaults: {assert: [2], tags: [y]}\ntests: [2]\n"
    assert composed(tmp_path, text, files).value == {
        "defaults": {"assert": [1, 2], "tags": ["y"]},
        "tests": [2],
    }


def test_each_value_keeps_its_place(tmp_path: Path) -> None:
    files = {"base.yaml": "x: 1\ndefaults:\n  vars:\n    a: 1\n  assert:\n    - one\n"}
    text = "extends: base.yaml\ndefaults:\n  vars: {b: 2}\n  assert: [two]\n"
    origin = composed(tmp_path, text, files).origin
    base = str(tmp_path / "base.yaml")
    assert origin.locate(("x",)) == Location(base, 1, 4)
    assert origin.locate(("defaults", "vars", "a")) == Location(base, 4, 8)
    assert origin.locate(("defaults", "vars", "b")) == Location("evenhand.yaml", 3, 13)
    assert origin.locate(("defaults", "assert", 0)) == Location(base, 6, 7)
    assert origin.locate(("defaults", "assert", 1)) == Location("evenhand.yaml", 4, 12)
    assert origin.locate(("defaults", "assert")) == Location("evenhand.yaml", 4, 11)
    assert origin.locate_key(("defaults", "vars", "a")) == Location(base, 4, 5)
    assert origin.locate(("defaults", "none")) == Location("evenhand.yaml", 3, 3)


def test_a_circle_is_named_as_a_path(tmp_path: Path) -> None:
    files = {"a.yaml": "extends: b.yaml\n", "b.yaml": "x: 1\nextends: evenhand.yaml\n"}
    assert refused(tmp_path, "extends: a.yaml\n", files) == (
        "b.yaml:2:10: extends: the files refer to each other in a cycle: "
        "evenhand.yaml → a.yaml → b.yaml → evenhand.yaml; remove one of the references"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: [a.yaml]", "evenhand.yaml:1:10: extends: expected the path of one file, found a list"),
        ("extends: 5", "expected the path of one file, found the number 5"),
        ("imports: a.yaml", "evenhand.yaml:1:10: imports: expected a list of paths, found text 'a.yaml'"),
        (
            "imports: [a.yaml, 3]",
            "evenhand.yaml:1:19: imports[1]: expected the path of a file, found the number 3",
        ),
        ("extends: nope.yaml", "evenhand.yaml:1:10: extends: no such file, found 'nope.yaml'"),
        ("extends: /etc/passwd", "refuses to read outside"),
        ("imports: [bad.yaml]", "bad.yaml:1:4: not valid YAML"),
        ("imports: [list.yaml]", "imports[0]: expected a file with the keys of a suite, found a list"),
        ("[1]", "evenhand.yaml:1:1: expected a mapping with the keys of a suite, found a list"),
        ("", "evenhand.yaml: expected a mapping with the keys of a suite, found null"),
    ],
)
def test_what_cannot_be_put_together_is_refused_at_its_entry(text: str, message: str, tmp_path: Path) -> None:
    files = {"a.yaml": "x: 1", "bad.yaml": "a: 'x", "list.yaml": "- 1"}
    assert message in refused(tmp_path, text, files)


def test_all_broken_parts_are_named_at_once(tmp_path: Path) -> None:
    assert refused(tmp_path, "imports: [x.yaml, y.yaml, 3]\n", {}).count("imports[") == 3


def test_too_many_parts_are_refused(tmp_path: Path) -> None:
    files = {f"p{n}.yaml": f"extends: p{n + 1}.yaml\n" for n in range(250)}
    assert "more than 200 files" in refused(tmp_path, "extends: p0.yaml\n", files)


MAPPINGS = st.recursive(
    st.integers(0, 3) | st.none(),
    lambda inner: (
        st.dictionaries(st.sampled_from(["a", "b", "assert"]), inner, max_size=3)
        | st.lists(st.integers(0, 3), max_size=2)
    ),
    max_leaves=8,
)


def layer(value: Any) -> Layer:
    return Layer(value, Document(value, None, "f"), ())


@given(MAPPINGS, MAPPINGS)
def test_merging_with_nothing_changes_nothing(one: Any, other: Any) -> None:
    value = {"x": one, "y": other}
    assert merged(layer({}), layer(value)).value == value
    assert merged(layer(value), layer({})).value == value


def shape(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Layers in which a key holds the same kind of value wherever it is there, as in suites."""
    return st.fixed_dictionaries(
        {},
        optional={
            "a": st.integers(0, 3) | st.text("xy", max_size=1),
            "assert": st.lists(st.integers(0, 3), max_size=2),
            "list": st.lists(st.integers(0, 3), max_size=2),
            "m": inner,
        },
    )


SHAPE = shape(shape(st.dictionaries(st.sampled_from("xyz"), st.integers(0, 3), max_size=2)))


@given(SHAPE, SHAPE, SHAPE)
def test_merging_layers_of_one_shape_is_associative(a: Any, b: Any, c: Any) -> None:
    left = merged(merged(layer(a), layer(b)), layer(c)).value
    right = merged(layer(a), merged(layer(b), layer(c))).value
    assert left == right
