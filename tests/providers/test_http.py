"""`http`: templates make the call, expressions read the reply."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenhand.errors import ProviderError
from evenhand.io.images import image_block
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Message, Request, Response, TestInfo, ToolCall, Usage
from evenhand.model.provider import ProviderContext
from evenhand.providers.http import Http
from evenhand.template import Val
from support.images import PNG
from support.servers import Server, serving, status

HERE = Path()
ASKED = Request(text="The capital?", vars={"lang": "en gb", "n": 3}, test=TestInfo(id="t"))


def talk(
    *replies: Any, asked: Request = ASKED, path: str = "/ask", folder: Path = HERE, **options: Any
) -> tuple[Response, Server]:
    async def work() -> tuple[Response, Server]:
        async with serving(*replies) as server:
            provider = Http(id="h", url=Val(server.url + path), **options)
            session = provider.open(ProviderContext(directory=folder, env={"TOKEN": "s3cret"}))
            try:
                return await session.complete(asked), server
            finally:
                await session.close()

    return asyncio.run(work())


def failure(*replies: Any, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        talk(*replies, **options)
    return caught.value


def test_templates_make_the_call() -> None:
    _, server = talk(
        {"answer": "Paris"},
        path="/ask?lang={{ lang | urlencode }}",
        headers={"Authorization": Val("Bearer {{ env.TOKEN }}")},
        body=Val({"question": "{{ prompt }}", "n": "{{ n }}", "plain": 1}),
    )
    (seen,) = server.seen
    assert (seen.method, seen.path, seen.query) == ("POST", "/ask", {"lang": "en gb"})
    assert seen.headers["authorization"] == "Bearer s3cret"
    assert seen.headers["content-type"] == "application/json"
    assert seen.json == {"question": "The capital?", "n": "3", "plain": 1}


def test_a_body_of_text_can_carry_any_value() -> None:
    turns = (
        Message(role="user", content="Hi"),
        Message(role="assistant", content="", tool_calls=(ToolCall(name="f"),)),
    )
    _, server = talk(
        {},
        asked=Request(transcript=turns, test=TestInfo(id="t")),
        body=Val('{"turns": {{ messages | tojson }}}'),
    )
    assert server.seen[0].json == {
        "turns": [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": None, "name": "f", "arguments": None}],
            },
        ]
    }
    assert server.seen[0].headers["content-type"] == "application/json"


def test_expressions_read_the_reply() -> None:
    reply = {
        "answer": {"city": "Paris"},
        "meta": {"in": 5, "out": 2, "usd": 0.25, "name": "m-1"},
        "calls": [{"name": "book", "arguments": {"seat": 1}}],
    }
    response, _ = talk(
        reply,
        output_expr="response.json.answer",
        usage_expr="{'input_tokens': response.json.meta['in'], 'output_tokens': response.json.meta.out}",
        cost_expr="response.json.meta.usd",
        model_expr="response.json.meta.name",
        tool_calls_expr="response.json.calls",
    )
    assert response.output == {"city": "Paris"}
    assert response.usage == Usage(input_tokens=5, output_tokens=2)
    assert (response.cost_usd, response.model) == (0.25, "m-1")
    assert response.tool_calls == (ToolCall(name="book", arguments={"seat": 1}),)
    assert response.raw == reply


def test_expressions_read_what_scripts_and_reports_show() -> None:
    response, _ = talk(
        {"text": "yes", "why": "it is", "end": "length", "trace": {"id": 7}, "probs": [-0.1]},
        output_expr="response.json.text",
        reasoning_expr="response.json.why",
        stop_reason_expr="response.json.end",
        metadata_expr="response.json.trace",
        log_probs_expr="response.json.probs",
    )
    assert (response.reasoning, response.stop_reason) == ("it is", "length")
    assert (response.metadata, response.log_probs) == ({"id": 7}, [-0.1])


def test_a_body_of_turns_carries_images(tmp_path: Path) -> None:
    large = PNG + bytes(8 << 20)
    (tmp_path / "a.png").write_bytes(large)
    image = image_block("a.png", large, "image/png")
    asked = Request(transcript=(Message(role="user", content=[image]),), test=TestInfo(id="t"))
    body = Val('{"turns": {{ messages | tojson }}}')
    _, server = talk({}, asked=asked, body=body, folder=tmp_path)
    (block,) = server.seen[0].json["turns"][0]["content"]
    assert (block["type"], block["media_type"]) == ("image", "image/png")
    assert base64.b64decode(block["data"]) == large
    assert Http(id="h", url=Val("u"), body=body).takes_images
    assert not Http(id="h", url=Val("u"), body=Val({"q": "{{ prompt }}"})).takes_images


def test_without_an_expression_the_output_is_the_text() -> None:
    response, _ = talk(status(200, "plain ✓"))
    assert response.output == "plain ✓"
    response, server = talk({"a": 1}, method="get")
    assert response.output == '{"a": 1}'
    assert server.seen[0].method == "GET"


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"output_expr": "response.json.nope"}, "`output_expr` does not fit"),
        ({"usage_expr": "response.json.nope"}, "`usage_expr` does not fit"),
        ({"usage_expr": "response.json.a"}, "`usage` must be an object"),
        ({"cost_expr": "response.text"}, "`cost_usd` must be"),
        ({"tool_calls_expr": "response.json.a"}, "`tool_calls` must be a list"),
    ],
)
def test_an_expression_that_does_not_fit_breaks_the_protocol(options: dict[str, str], found: str) -> None:
    error = failure({"a": 1}, **options)
    assert (error.error_class, error.retriable) == ("provider_protocol", False)
    assert found in error.message


@pytest.mark.parametrize(
    ("reply", "options", "error_class"),
    [
        ({"error": {"message": "rate limit"}}, {}, "provider_rate_limit"),
        ({"error": "broken"}, {}, "provider_protocol"),
        ({"fault": "down"}, {"error_expr": "response.json.fault"}, "provider_protocol"),
        (status(503, "busy"), {}, "provider_unavailable"),
    ],
)
def test_an_error_in_the_reply_is_never_an_output(
    reply: Any, options: dict[str, str], error_class: str
) -> None:
    assert failure(reply, **options).error_class == error_class


@pytest.mark.parametrize(
    "reply", [{"error": None, "a": 1}, {"error": "", "a": 1}, {"error": False, "a": 1}, [1]]
)
def test_an_error_that_says_nothing_is_none(reply: Any) -> None:
    talk(reply)
    talk(reply, error_expr="response.json.fault")


def test_an_error_that_is_no_field_of_a_custom_expression_is_data() -> None:
    response, _ = talk({"error": "a word in the answer"}, error_expr="response.json.fault")
    assert response.output == '{"error": "a word in the answer"}'


def test_a_call_that_does_not_render_is_the_suites_fault() -> None:
    error = failure({}, path="/{{ missing }}")
    assert error.error_class == "render_failed"


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"url": Val("{{ x")}, ("url",)),
        ({"url": Val("http://u"), "headers": {"A": Val("{% if %}")}}, ("headers", "A")),
        ({"url": Val("http://u"), "body": Val({"a": ["{{ | }}"]})}, ("body", "a", 0)),
        ({"url": Val("http://u"), "output_expr": "response.("}, ("output_expr",)),
        ({"url": Val("http://u"), "usage_expr": "reply.json.usage"}, ("usage_expr",)),
        ({"url": Val(" ")}, ("url",)),
        ({"url": Val("localhost:8000/ask")}, ("url",)),
        ({"url": Val("localhost:8000/ask?lang={{ lang }}")}, ("url",)),
        ({"url": Val("ftp://u/ask")}, ("url",)),
        ({"url": Val("http://u:99999/ask")}, ("url",)),
        ({"url": Val("http:///ask")}, ("url",)),
    ],
)
def test_what_can_never_work_is_found_at_load(options: dict[str, Any], path: tuple[str | int, ...]) -> None:
    assert [problem.path for problem in Http(id="h", **options).problems(Confinement(directory=Path()))] == [
        path
    ]


@pytest.mark.parametrize(
    "url", ["{{ env.BASE }}/ask", "http://{{ host }}/ask", "https://u:{{ port }}/ask", "HTTP://u/ask"]
)
def test_what_a_template_may_make_an_address_is_not_refused(url: str) -> None:
    assert Http(id="h", url=Val(url)).problems(Confinement(directory=Path())) == []


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ({"result": "Paris"}, 'the answer is "{"result": "Paris"}"'),
        (status(200, "<html>"), 'the answer is no JSON: "<html>"'),
        (status(200), "the answer is empty"),
    ],
)
def test_where_an_expression_does_not_fit_the_answer_is_shown(reply: Any, shown: str) -> None:
    error = failure(reply, output_expr="response.json.answer")
    assert error.error_class == "provider_protocol"
    assert error.details.replace('{"result":"', '{"result": "') == shown


def test_only_a_provider_with_an_expression_reports_tool_calls() -> None:
    plain = Http(id="h", url=Val("u"))
    assert not plain.reports_tool_calls
    assert msgspec.structs.replace(plain, tool_calls_expr="response.json.calls").reports_tool_calls


def test_what_was_sent_is_told_without_credentials() -> None:
    response, server = talk(
        {"answer": "Paris"},
        path="/ask?lang=en&api_key=hidden",
        headers={"Authorization": Val("Bearer {{ env.TOKEN }}"), "X-Tenant": Val("blue")},
        body=Val({"question": "{{ prompt }}"}),
    )
    sent = response.request
    assert sent is not None
    assert (sent.method, sent.url) == ("POST", f"{server.url}/ask?lang=en&api_key=[redacted]")
    assert sent.headers == {
        "Authorization": "[redacted]",
        "X-Tenant": "blue",
        "Content-Type": "application/json",
    }
    assert sent.body == '{"question":"The capital?"}'
    assert sent.left_out_bytes == 0


def test_a_failed_call_tells_what_was_sent_and_what_came_back() -> None:
    error = failure(status(400, "no such city", set_cookie="id=hidden", x_request_id="r-1"), body=Val("hi"))
    assert (error.request.method, error.request.body) == ("POST", "hi")
    assert (error.raw["status"], error.raw["body"]) == (400, "no such city")
    assert (error.raw["headers"]["x-request-id"], error.raw["headers"]["set-cookie"]) == ("r-1", "[redacted]")


def test_a_reply_that_does_not_fit_is_told_whole() -> None:
    error = failure({"odd": [1, 2]}, output_expr="response.json.answer.text")
    assert json.loads(error.raw["body"]) == {"odd": [1, 2]}
