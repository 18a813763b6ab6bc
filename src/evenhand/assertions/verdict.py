"""What a judge must answer, and how its answer is read: whole, strictly, and never out of prose."""

from __future__ import annotations

from typing import Any, NamedTuple

from evenhand.io.reply import in_words
from evenhand.model.emptiness import reason_of_stop
from evenhand.model.exchange import AnswerForm, Response
from evenhand.text.excerpt import clipped
from evenhand.text.json_reader import NotJson, read_json

VERDICT_FORM = AnswerForm(
    name="submit_verdict",
    description="Hand in the verdict on the answer.",
    schema={
        "type": "object",
        "properties": {
            "reasoning": {"type": "string", "description": "Why, in a few sentences."},
            "pass": {"type": "boolean", "description": "Whether the answer satisfies the rubric."},
            "score": {"type": "number", "description": "How well it does, from 0 (not at all) to 1 (fully)."},
        },
        "required": ["reasoning", "pass", "score"],
        "additionalProperties": False,
    },
)
"""Reasons come first, so that the judge gives them before it decides."""

CUT_OFF = "truncated"


class Verdict(NamedTuple):
    """A usable verdict."""

    passed: bool
    score: float
    reasoning: str


class UnusableVerdict(Exception):
    """An answer that is no verdict; the message says why."""


def read_verdict(response: Response) -> Verdict:
    """The verdict in a judge's answer. Raises `UnusableVerdict`; nothing is clamped, guessed or completed."""
    stopped = reason_of_stop(response.stop_reason)
    if stopped == CUT_OFF:
        raise UnusableVerdict(
            f"the verdict is truncated (stopped by {response.stop_reason!r}); allow the judge more tokens"
        )
    answer = response.output
    if isinstance(answer, str):
        answer = _whole_json(answer, stopped)
    if not isinstance(answer, dict):
        raise UnusableVerdict(f"a verdict is an object with `pass` and `score`, found {in_words(answer)}")
    return _checked(answer)


def _whole_json(text: str, stopped: str | None) -> Any:
    if not text.strip():
        raise UnusableVerdict(f"the judge answered nothing ({stopped or 'blank'})")
    value = read_json(text)
    if isinstance(value, NotJson):
        raise UnusableVerdict(
            f"the answer must be JSON and nothing else ({value.message}), found {_shown(text)}"
        )
    return value


def _checked(answer: dict[str, Any]) -> Verdict:
    passed: Any = answer.get("pass")
    score: Any = answer.get("score")
    reasoning: Any = answer.get("reasoning")
    if not isinstance(passed, bool):
        raise UnusableVerdict(f"`pass` must be true or false, found {_found(answer, 'pass')}")
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise UnusableVerdict(f"`score` must be a number between 0 and 1, found {_found(answer, 'score')}")
    if reasoning is not None and not isinstance(reasoning, str):
        raise UnusableVerdict(f"`reasoning` must be text, found {_found(answer, 'reasoning')}")
    if passed and score == 0:
        raise UnusableVerdict("the verdict contradicts itself: `pass` is true with a score of 0")
    if not passed and score == 1:
        raise UnusableVerdict("the verdict contradicts itself: `pass` is false with a score of 1")
    return Verdict(passed, float(score), reasoning or "")


def _found(answer: dict[str, Any], key: str) -> str:
    return in_words(answer[key]) if key in answer else "no such key"


def _shown(text: str) -> str:
    return f'"{clipped(text.strip(), length=120)}"'
