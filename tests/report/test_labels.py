from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from evenhand.model.assertion import Assertion
from evenhand.model.result import CellKey
from evenhand.report.labels import asked_with, kind_label, output_text, prompt_text, unique_name
from support.results import assertion, cell_result

parts = st.text("ab[] ·#\\0", max_size=5)
keys = st.builds(
    CellKey,
    provider_id=parts,
    prompt_id=st.none() | parts,
    test_id=parts,
    repeat=st.integers(0, 2),
)


def key(test: str, provider: str, prompt: str | None = None, repeat: int = 0) -> CellKey:
    return CellKey(test_id=test, provider_id=provider, prompt_id=prompt, repeat=repeat)


def test_unique_name_reads_as_test_provider_prompt_and_repeat() -> None:
    assert unique_name(key("qa/refund", "gpt", "short"), repeated=False) == "qa/refund [gpt · short]"
    assert unique_name(key("qa/refund", "gpt", "short", 2), repeated=True) == "qa/refund [gpt · short · #2]"
    assert unique_name(key("sum[n=1]", "gpt"), repeated=False) == "sum[n=1] [gpt]"


@given(keys, keys)
@example(key("a [p]", "q", "r"), key("a", "p] [q", "r"))
@example(key("a", "p", "#1"), key("a", "p", None, 1))
@example(key("a", "p · q"), key("a", "p", "q"))
def test_different_cells_have_different_names(one: CellKey, other: CellKey) -> None:
    for repeated in (True, False):
        same = unique_name(one, repeated=repeated) == unique_name(other, repeated=repeated)
        assert same == (one == other)


def test_cells_of_one_test_are_told_apart_by_provider_prompt_and_repeat() -> None:
    assert asked_with(key("t", "gpt", "short", 1), repeated=True) == "gpt · short · #1"
    assert asked_with(key("t", "gpt"), repeated=False) == "gpt"


def test_a_negated_kind_is_named_as_a_suite_writes_it() -> None:
    class Contains(Assertion, tag="contains-for-labels"):
        """Only here."""

    assert kind_label(assertion("contains", "fail", criteria={"negate": True})) == "not-contains"
    assert kind_label(assertion("contains", "fail", criteria=Contains(negate=True))) == "not-contains"
    assert kind_label(assertion("contains", "fail", criteria={"value": "x"})) == "contains"
    assert kind_label(assertion("contains", "fail")) == "contains"


def test_prompt_text_shows_turns_with_their_roles() -> None:
    turns = [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]},
        {"role": "tool"},
        3,
    ]
    assert prompt_text(cell_result("t", "pass", prompt={"messages": turns})) == "user: a\ntool: null\n3"
    assert prompt_text(cell_result("t", "pass", prompt={"text": "hi"})) == "hi"
    assert prompt_text(cell_result("t", "pass", prompt={"other": 1})) == '{"other":1}'
    assert prompt_text(cell_result("t", "pass", prompt="hi")) == "hi"
    assert prompt_text(cell_result("t", "pass")) == ""


def test_a_structured_output_is_shown_as_compact_json() -> None:
    assert output_text(cell_result("t", "pass", output={"a": [1, None]})) == '{"a":[1,null]}'
    assert output_text(cell_result("t", "pass", output="[1]")) == "[1]"
