"""A real model asked through every provider that can, and in the role of a judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from running import dialects, ran

MODEL = "smollm2"
CAPITAL = [
    {
        "id": "ask",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is the capital of France?"},
        ],
    }
]
LIMITS = {
    "chat": "max_tokens",
    "responses": "max_output_tokens",
    "messages": "max_tokens",
    "litellm": "max_tokens",
}


def limited(providers: list[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    return [{**p, "params": {**p["params"], LIMITS[p["id"]]: tokens}} for p in providers]


def test_every_dialect_gives_the_same_answer_and_tells_what_it_took(model_url: str, tmp_path: Path) -> None:
    checks = [
        {"type": "contains", "value": "Paris"},
        {"type": "not-icontains", "value": "berlin"},
        {"type": "tokens", "max": 200},
    ]
    run, cases = ran(
        tmp_path,
        {
            "providers": limited(dialects(model_url, MODEL), 24),
            "prompts": CAPITAL,
            "tests": [{"id": "capital", "assert": checks}],
        },
    )
    assert (run.exit_code, run.summary.passed, run.summary.unenforced_budgets) == (0, 4, 0)
    assert len({case.output for case in cases}) == 1
    assert {case.model for case in cases} == {MODEL}
    assert {case.cell.provider_id: case.stop_reason for case in cases} == {
        "chat": "stop",
        "responses": "completed",
        "messages": "end_turn",
        "litellm": "stop",
    }
    for case in cases:
        assert case.usage is not None
        assert case.usage.total > case.usage.output_tokens > 0


def test_an_answer_that_is_cut_off_says_so(model_url: str, tmp_path: Path) -> None:
    providers = [p for p in limited(dialects(model_url, MODEL), 2) if p["id"] != "responses"]
    _, cases = ran(
        tmp_path,
        {
            "providers": providers,
            "prompts": [{"id": "p", "template": "Tell me a long story."}],
            "tests": [{"id": "story", "assert": [{"type": "length", "min": 1}]}],
        },
    )
    assert {case.stop_reason for case in cases} <= {"length", "max_tokens"}


def test_a_conversation_is_taken_in_every_dialect(model_url: str, tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "My name is Ada."},
        {"role": "assistant", "content": "Hello Ada!"},
        {"role": "user", "content": "What is my name?"},
    ]
    run, cases = ran(
        tmp_path,
        {
            "providers": limited(dialects(model_url, MODEL), 8),
            "prompts": [{"id": "talk", "messages": turns}],
            "tests": [{"id": "name", "assert": [{"type": "length", "min": 5}]}],
        },
    )
    assert (run.exit_code, run.summary.passed) == (0, 4), [case.error for case in cases]
    # Whatever so small a model makes of it, it is the same conversation for it.
    assert len({case.output for case in cases}) == 1


def test_log_probabilities_of_a_real_model_reach_scripts(model_url: str, tmp_path: Path) -> None:
    (chat, *_) = limited(dialects(model_url, MODEL), 8)
    chat["params"] |= {"logprobs": True, "top_logprobs": 2}
    check = "context.logProbs.content.every(t => t.logprob <= 0) && context.logProbs.content.length > 1"
    run, _ = ran(
        tmp_path,
        {
            "providers": [chat],
            "prompts": CAPITAL,
            "tests": [{"id": "capital", "assert": [{"type": "javascript", "value": check}]}],
        },
    )
    assert run.exit_code == 0


@pytest.mark.parametrize("judge", ["chat", "litellm"])
def test_a_real_model_hands_in_a_structured_verdict(judge: str, model_url: str, tmp_path: Path) -> None:
    """Not through the Responses API, whose forms of answers this server does not heed, nor by a forced tool."""
    (provider,) = [p for p in limited(dialects(model_url, MODEL), 160) if p["id"] == judge]
    _, (case,) = ran(
        tmp_path,
        {
            "grader": {"provider": provider},
            "providers": [{"id": "app", "type": "echo"}],
            "prompts": [{"id": "p", "template": "The capital of France is Paris."}],
            "tests": [
                {"id": "t", "assert": [{"type": "llm-rubric", "value": "Names the capital of France."}]}
            ],
        },
    )
    (graded,) = case.asserts
    # The model is far too small to judge: it may contradict itself, in the form that was asked for.
    contradiction = "the verdict contradicts itself" in graded.reason
    assert contradiction or graded.status in ("pass", "fail"), graded.reason
    assert (graded.score is None) == contradiction
    assert case.error_class == ("grader_failed" if contradiction else None)


def test_a_question_beyond_the_models_window_is_refused(model_url: str, tmp_path: Path) -> None:
    run, cases = ran(
        tmp_path,
        {
            "providers": dialects(model_url, MODEL),
            "prompts": [{"id": "p", "template": "{{ long }}"}],
            "runner": {"retries": 0},
            "tests": [{"id": "t", "vars": {"long": "word " * 6_000}, "assert": [{"type": "is-json"}]}],
        },
    )
    assert run.exit_code == 3
    assert {case.error_class for case in cases} == {"provider_request"}


def test_litellm_tells_a_server_that_is_not_there(tmp_path: Path) -> None:
    provider = {
        "type": "litellm",
        "model": "openai/x",
        "base_url": "http://127.0.0.1:9/v1",
        "api_key_env": "OPENAI_API_KEY",
    }
    run, (case,) = ran(
        tmp_path,
        {
            "providers": [provider],
            "prompts": CAPITAL,
            "runner": {"retries": 0},
            "tests": [{"id": "t", "assert": [{"type": "is-json"}]}],
        },
    )
    assert (run.exit_code, case.error_class, case.attempts) == (3, "provider_unavailable", 1)
