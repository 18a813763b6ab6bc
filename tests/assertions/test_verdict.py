"""A judge's answer is a verdict only if it is one in every respect."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.assertions.verdict import UnusableVerdict, Verdict, read_verdict
from evenhand.model.exchange import Response
from support.assertions import evidence
from support.graded import graded

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


def records(name: str, **wanted: str) -> list[Any]:
    lines = (VECTORS / name).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        pytest.param(row, id=row["id"]) for row in rows if all(row.get(k) == v for k, v in wanted.items())
    ]


@pytest.mark.parametrize("record", records("assertions.jsonl", topic="verdict"))
def test_verdict_vector(record: dict[str, Any]) -> None:
    verdict, expected = record["suite_fragment"]["verdict"], record["expected"]
    outcome, desk = graded({"type": "llm-rubric", "value": "r"}, evidence("x"), [verdict] * 3)
    assert outcome.status == expected["status"]
    if expected["status"] == "error":
        assert outcome.error_class == expected["error_class"]
        assert outcome.score is None
        assert len(desk.requests) == 3
    else:
        assert outcome.score == expected["score"]


REPLIES = [r for r in records("field-cases.jsonl", kind="judge") if "judge_reply" in r.values[0]["input"]]


@pytest.mark.parametrize("record", REPLIES)
def test_judge_field_case(record: dict[str, Any]) -> None:
    reply = record["input"]["judge_reply"]
    outcome, _ = graded({"type": "llm-rubric", "value": "r"}, evidence("x"), [reply] * 3)
    assert outcome.status == record["expected"]["status"]
    assert outcome.score is None


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"pass": True, "score": 0}, "contradicts"),
        ({"pass": False, "score": 1}, "contradicts"),
        ({"pass": True, "score": 1.5}, "between 0 and 1"),
        ({"pass": True, "score": float("nan")}, "between 0 and 1"),
        ({"pass": True, "score": True}, "between 0 and 1"),
        ({"pass": None, "score": 1}, "true or false, found null"),
        ({"pass": True, "score": 1, "reasoning": ["x"]}, "must be text"),
        ([True, 1], "found a list"),
        ("I think that it passes.", "JSON and nothing else"),
        ('```json\n{"pass": true, "score": 1}\n```', "JSON and nothing else"),
        ('{"pass": true, "score": 1} as I said', "JSON and nothing else"),
        ('{"pass": true, "score": NaN}', "JSON and nothing else"),
        ('{"pass": true, "sc', "JSON and nothing else"),
        ("", "answered nothing"),
        (None, "found null"),
    ],
)
def test_an_answer_that_is_no_verdict_says_why(answer: Any, why: str) -> None:
    with pytest.raises(UnusableVerdict, match=why):
        read_verdict(Response(output=answer))


@pytest.mark.parametrize("stop_reason", ["length", "max_tokens"])
def test_a_truncated_verdict_is_unusable_even_where_it_could_be_read(stop_reason: str) -> None:
    with pytest.raises(UnusableVerdict, match="truncated"):
        read_verdict(Response(output={"pass": True, "score": 1}, stop_reason=stop_reason))


@given(st.booleans(), st.floats(0.001, 0.999), st.text())
def test_a_sound_verdict_is_taken_to_the_letter(held: bool, score: float, reasoning: str) -> None:
    answer = {"pass": held, "score": score, "reasoning": reasoning}
    assert read_verdict(Response(output=answer)) == Verdict(held, score, reasoning)


@given(
    st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists)
    | st.dictionaries(
        st.sampled_from(["pass", "score", "reasoning", "x"]),
        st.none() | st.booleans() | st.floats() | st.text(),
    )
)
def test_whatever_a_judge_answers_nothing_but_a_verdict_or_a_reason_comes_out(answer: Any) -> None:
    outcome, _ = graded({"type": "llm-rubric", "value": "r"}, evidence("x"), [answer] * 3)
    if outcome.status == "error":
        assert outcome.error_class == "grader_failed"
        assert outcome.score is None
    else:
        assert outcome.score is not None
        assert 0 <= outcome.score <= 1
