"""Other vendors through LiteLLM: what is asked, what is read, and how its failures are told.

The library itself is asked in `model_tests`; here a stand-in with its calls and shapes answers.
"""

from __future__ import annotations

import asyncio
import importlib.machinery
import sys
import types
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenhand.errors import ProviderError
from evenhand.model.exchange import AnswerForm, Request, Response, TestInfo, Tool, ToolCall, Usage
from evenhand.model.provider import ProviderContext
from evenhand.providers.litellm import LiteLLM, failure
from evenhand.providers.prices import Pricing

GEMINI = LiteLLM(id="g", model="gemini/gemini-2.5-flash", params={"temperature": 0})
ASKED = Request(text="Capital?", test=TestInfo(id="t"))
ANSWER = {
    "id": "chatcmpl-1",
    "model": "gemini-2.5-flash",
    "choices": [
        {
            "finish_reason": "tool_calls",
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Paris",
                "reasoning_content": "France",
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
                ],
            },
        }
    ],
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 40},
        "cache_creation_input_tokens": 20,
    },
}


class Answer:
    def __init__(self, content: Any, cost: float | None) -> None:
        self._hidden_params = {"response_cost": cost}
        self._content = content

    def model_dump(self, **_: Any) -> Any:
        return self._content


class Failed(Exception):
    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"litellm: status {status}")
        self.status_code = status
        self.response = types.SimpleNamespace(headers={n.replace("_", "-"): v for n, v in headers.items()})


class Library(types.ModuleType):
    """What of the library is used."""

    def __init__(self, reply: Any) -> None:
        super().__init__("litellm")
        self.__spec__ = importlib.machinery.ModuleSpec("litellm", None)
        self.reply = reply
        self.asked: list[dict[str, Any]] = []
        self.closed = 0

    async def acompletion(self, **asked: Any) -> Any:
        self.asked.append(asked)
        if isinstance(self.reply, float):
            await asyncio.sleep(self.reply)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    async def close_litellm_async_clients(self) -> None:
        self.closed += 1


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Library(Answer(ANSWER, 0.25))
    monkeypatch.setitem(sys.modules, "litellm", made)
    for name in ("LITELLM_OFFLINE_MODE", "LITELLM_LOCAL_MODEL_COST_MAP"):
        monkeypatch.setenv(name, "true")
    return made


def ask(provider: LiteLLM = GEMINI, asked: Request = ASKED) -> Response:
    async def work() -> Response:
        session = provider.open(ProviderContext(directory=Path()))
        try:
            return await session.complete(asked)
        finally:
            await session.close()

    return asyncio.run(work())


def test_a_question_goes_through_the_library_once(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "k-1")
    provider = msgspec.structs.replace(
        GEMINI, api_key_env="MINE", base_url="http://127.0.0.1:9", timeout_ms=5_000
    )
    response = ask(provider)
    assert library.asked == [
        {
            "temperature": 0,
            "model": "gemini/gemini-2.5-flash",
            "messages": [{"role": "user", "content": "Capital?"}],
            "api_base": "http://127.0.0.1:9",
            "api_key": "k-1",
            "timeout": 5.0,
            "num_retries": 0,
            "max_retries": 0,
        }
    ]
    assert (response.output, response.reasoning, response.stop_reason) == ("Paris", "France", "tool_calls")
    assert response.tool_calls == (ToolCall(name="f", arguments={"a": 1}, id="c"),)
    assert response.usage == Usage(
        input_tokens=40, output_tokens=10, cache_read_tokens=40, cache_write_tokens=20
    )
    assert (response.cost_usd, response.model, library.closed) == (0.25, "gemini-2.5-flash", 1)


def test_own_prices_win_over_the_librarys(library: Library) -> None:
    pricing = Pricing(input_per_mtok=1, output_per_mtok=10, cache_read_per_mtok=0.5, cache_write_per_mtok=2)
    assert ask(msgspec.structs.replace(GEMINI, pricing=pricing)).cost_usd == pytest.approx(200e-6)
    library.reply = Answer(ANSWER, None)
    assert ask().cost_usd is None


def test_tools_and_answer_forms_are_put_in_openais_form() -> None:
    form = AnswerForm(name="submit", description="d", schema={"type": "object"})
    asked = msgspec.structs.replace(ASKED, tools=(Tool(name="f"),), answer_form=form)
    encoded = GEMINI.encode(asked)
    assert encoded["tools"] == [{"type": "function", "function": {"name": "f"}}]
    assert encoded["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    ("error", "error_class", "retriable", "wait"),
    [
        (Failed(429, Retry_After="3"), "provider_rate_limit", True, 3_000),
        (Failed(500), "provider_unavailable", True, None),
        (Failed(401), "provider_auth", False, None),
        (Failed(400), "provider_request", False, None),
        (Failed(408), "provider_timeout", True, None),
        (ValueError("odd"), "provider_protocol", False, None),
    ],
)
def test_a_failure_has_the_class_of_its_status(
    error: Exception, error_class: str, retriable: bool, wait: float | None, library: Library
) -> None:
    library.reply = error
    with pytest.raises(ProviderError) as caught:
        ask()
    found = caught.value
    assert (found.error_class, found.retriable, found.retry_after_ms) == (error_class, retriable, wait)


def test_a_key_is_no_part_of_what_a_failure_adds() -> None:
    assert failure(Failed(401), 0.0).message == "litellm: status 401"


def test_a_call_that_takes_too_long_is_ended(library: Library) -> None:
    library.reply = 60.0
    with pytest.raises(ProviderError, match="no answer within 20 ms"):
        ask(msgspec.structs.replace(GEMINI, timeout_ms=20))


@pytest.mark.parametrize(
    "content", [[], {}, {"choices": [None]}, {"choices": [{"message": {"content": {1}}}]}]
)
def test_an_answer_of_another_form_breaks_the_protocol(content: Any, library: Library) -> None:
    library.reply = Answer(content, None)
    with pytest.raises(ProviderError) as caught:
        ask()
    assert caught.value.error_class == "provider_protocol"


def test_without_the_library_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.providers.litellm.PACKAGE", "no_such_package_at_all")
    assert "pip install 'evenhand[litellm]'" in str(GEMINI.warnings(Path())[0])
    with pytest.raises(ProviderError, match="not installed; pip install"):
        GEMINI.open(ProviderContext(directory=Path()))


def test_a_named_key_must_be_there(library: Library) -> None:
    with pytest.raises(ProviderError, match="`NO_SUCH_KEY` is not set"):
        ask(msgspec.structs.replace(GEMINI, api_key_env="NO_SUCH_KEY"))


def test_a_question_needs_a_prompt(library: Library) -> None:
    with pytest.raises(ProviderError, match="needs a prompt"):
        ask(asked=Request(test=TestInfo(id="t")))
    assert library.asked == []
