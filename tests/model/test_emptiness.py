from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.model.emptiness import PRECEDENCE, empty_reason, is_blank, most_telling, reason_of_stop
from evenhand.model.exchange import Response, ToolCall
from support.vectors import row_id, topic


@pytest.mark.parametrize("row", topic("empty-reason"), ids=row_id)
def test_a_stop_reason_tells_why_an_output_is_empty(row):
    assert reason_of_stop(row["suite_fragment"]["stop_reason"]) == row["expected"]["empty_reason"]


@pytest.mark.parametrize("row", topic("empty-precedence"), ids=row_id)
def test_the_most_telling_reason_is_chosen(row):
    assert most_telling(row["suite_fragment"]["candidates"]) == row["expected"]["empty_reason"]


@pytest.mark.parametrize("row", topic("empty-blank"), ids=row_id)
def test_an_output_without_content_is_blank(row):
    fragment = row["suite_fragment"]
    output = fragment["output"] if "output" in fragment else fragment["output_json_string"]
    assert is_blank(output) is row["expected"]["blank"]


@given(st.lists(st.sampled_from(PRECEDENCE), min_size=1))
def test_the_order_of_known_candidates_does_not_matter(candidates):
    assert most_telling(candidates) == most_telling(sorted(candidates))


def test_without_candidates_there_is_no_reason():
    assert most_telling([]) is None
    assert most_telling(["", ""]) is None


CALL = ToolCall(name="look")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"output": "text"}, None),
        ({"output": 0}, None),
        ({"output": "text", "stop_reason": "length"}, None),
        ({"output": "text", "empty_reason": "refusal"}, "refusal"),
        ({"output": "text", "empty_reason": "of its own"}, "of its own"),
        ({"output": "text", "empty_reason": ""}, None),
        ({"output": ""}, "blank"),
        ({"output": None}, "blank"),
        ({"output": " \n", "stop_reason": "end_turn"}, "blank"),
        ({"output": "", "stop_reason": "length"}, "truncated"),
        ({"output": "", "tool_calls": (CALL,)}, "tool_use_only"),
        ({"output": "", "tool_calls": (CALL,), "stop_reason": "max_tokens"}, "truncated"),
        ({"output": "", "tool_calls": (CALL,), "reasoning": "hm"}, "tool_use_only"),
        ({"output": "", "reasoning": "hm"}, "thinking_only"),
        ({"output": "", "reasoning": "hm", "stop_reason": "refusal"}, "refusal"),
        ({"output": "", "stop_reason": "length", "empty_reason": "refusal"}, "refusal"),
    ],
)
def test_a_response_says_why_it_is_empty(fields, expected):
    assert empty_reason(Response(**fields)) == expected
