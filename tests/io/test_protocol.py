from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.protocol import provider_document, read_provider_reply, read_reply_document
from evenhand.model.exchange import Message, Request, Response, TestInfo, Tool, ToolCall
from evenhand.text.json_reader import read_json

TEST = TestInfo(id="greeting/basic", tags=("smoke",))
ENVELOPE = {"protocol": 1, "kind": "provider"}


def document(**fields: object) -> dict[str, object]:
    return json.loads(provider_document(Request(test=TEST, **fields)))


def refusal(data: bytes, **options: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read_reply_document(data, **options)
    assert caught.value.error_class is ErrorClass.EXEC_FAILED
    assert not caught.value.retriable
    return caught.value


def test_a_text_prompt_is_sent_as_text():
    assert document(text="hi", vars={"q": "h", "n": 1}, params={"t": 0}) == {
        "domarinn": ENVELOPE,
        "prompt": {"text": "hi"},
        "vars": {"q": "h", "n": 1},
        "params": {"t": 0},
        "test": {"id": "greeting/basic", "tags": ["smoke"]},
    }


def test_turns_are_sent_as_messages_without_empty_fields():
    call = ToolCall(name="look", arguments={"city": "Oslo"}, id="c1")
    transcript = (
        Message(role="system", content="be brief"),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content=[{"type": "text", "text": "rain"}], tool_call_id="c1"),
    )
    assert document(transcript=transcript)["prompt"] == {
        "messages": [
            {"role": "system", "content": "be brief"},
            {
                "role": "assistant",
                "tool_calls": [{"name": "look", "arguments": {"city": "Oslo"}, "id": "c1"}],
            },
            {"role": "tool", "content": [{"type": "text", "text": "rain"}], "tool_call_id": "c1"},
        ]
    }


def test_what_a_case_does_not_have_is_absent():
    assert document() == {
        "domarinn": ENVELOPE,
        "vars": {},
        "params": {},
        "test": {"id": "greeting/basic", "tags": ["smoke"]},
    }


def test_an_empty_prompt_is_still_a_prompt():
    assert document(text="")["prompt"] == {"text": ""}
    assert document(transcript=())["prompt"] == {"messages": []}


def test_tools_are_offered_as_declared():
    tools = (Tool(name="look", description="d", input_schema={"type": "object"}), Tool(name="bare"))
    assert document(tools=tools)["tools"] == [
        {"name": "look", "description": "d", "input_schema": {"type": "object"}},
        {"name": "bare"},
    ]


def test_a_numbered_question_carries_its_number_in_the_envelope():
    numbered = json.loads(provider_document(Request(test=TEST), id=7))
    assert numbered["domarinn"] == {**ENVELOPE, "id": 7}


def test_a_document_is_one_line_whatever_it_holds():
    assert b"\n" not in provider_document(
        Request(test=TEST, text="a\nb\r\n\u2028", vars={"x": 'say "hi" \\ bye'})
    )


@settings(deadline=None)
@given(st.text(alphabet=st.characters()), st.dictionaries(st.text(), st.text()))
@example("\ud800 lone", {"k": "\udfff"})
def test_any_text_arrives_as_it_was_sent(text, variables):
    sent = document(text=text, vars=variables)
    assert sent["prompt"] == {"text": text}
    assert sent["vars"] == variables


def test_numbers_beyond_a_float_are_sent_and_read_as_numbers():
    huge = read_json('{"n": 1e400, "m": 12345678901234567890.5}', exact=True)
    assert b'"n":1E+400,"m":12345678901234567890.5' in provider_document(Request(test=TEST, vars=huge))
    assert read_provider_reply(b'{"output": [1e400]}').output == [Decimal("1e400")]


def test_values_that_are_nested_without_end_can_be_sent():
    nested = read_json("[" * 50_000 + "]" * 50_000)
    sent = provider_document(
        Request(test=TEST, text="\ud800", vars={"deep": nested}, tools=(Tool(name="x"),))
    )
    assert sent.count(b"[[[") > 10_000
    assert b'"prompt":{"text":"\\ud800"}' in sent


def test_a_minimal_reply_is_an_answer():
    assert read_provider_reply(b'{"output": "hi"}\n') == Response(output="hi")


@pytest.mark.parametrize(
    "data", [b'\xef\xbb\xbf{"output": "hi"}', b'\r\n {"output":"hi"}\r\n', b'{"output":"hi","x":1}']
)
def test_marks_white_space_and_unknown_keys_around_an_answer_do_no_harm(data):
    assert read_provider_reply(data).output == "hi"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "stdout must hold one JSON document, found nothing"),
        (b" \n", "stdout must hold one JSON document, found nothing"),
        (b"hello", "stdout must hold one JSON document and nothing else"),
        (b'log line\n{"output": 1}', 'found "log line\\n{"output": 1}"'),
        (b'{"output": 1}\n{"output": 2}', "write logs to stderr"),
        (b'{"output": 1} done', "write logs to stderr"),
        (b'{"output": NaN}', "stdout must hold one JSON document"),
        (b"{'output': 1}", "stdout must hold one JSON document"),
        (b'{"output": "cut', "stdout must hold one JSON document"),
        (b'{"output": "\xff"}', "stdout must be UTF-8, found invalid start byte at byte 12"),
        (b"null", "must be a JSON object with an `output`, found null"),
        (b"[1]", "must be a JSON object with an `output`, found a list"),
        (b'"text"', 'must be a JSON object with an `output`, found the text "text"'),
        (b"{}", "the reply must have an `output`, found no keys at all"),
        (b'{"ouput": 1, "x": 2}', "the reply must have an `output`, found `ouput`, `x`"),
        (b'{"error": null}', "the reply must have an `output`, found `error`"),
        (
            b'{"domarinn": {"protocol": 2}, "output": 1}',
            "protocol version 2, and this evenhand speaks version 1; upgrade",
        ),
        (b'{"domarinn": {"protocol": "1"}, "output": 1}', 'protocol version the text "1"'),
    ],
)
def test_a_reply_that_cannot_be_used_is_refused_with_what_was_found(data, message):
    assert message in refusal(data).message


def test_a_refusal_shows_the_start_of_stdout_and_the_end_of_stderr():
    error = refusal(b"x" * 5000, stderr="e" * 9000 + "end")
    assert error.details["stdout"] == "x" * 1000
    assert error.details["stderr"].endswith("eend")
    assert len(error.details["stderr"]) == 8000
    assert len(error.message) < 500


def test_an_envelope_of_this_version_is_accepted_in_a_reply():
    assert read_provider_reply(b'{"domarinn": {"protocol": 1}, "output": "x"}').output == "x"


@pytest.mark.parametrize(
    "data", [b'{"output": 1}', b'{"output": 1, "id": 7}', b'{"output": 1, "domarinn": {"id": 7}}']
)
def test_a_reply_to_the_question_that_was_asked_is_taken(data):
    assert read_reply_document(data, id=7)["output"] == 1


@pytest.mark.parametrize("data", [b'{"output": 1, "id": 6}', b'{"output": 1, "domarinn": {"id": "7"}}'])
def test_a_reply_to_another_question_is_refused(data):
    assert "and question 7 was asked" in refusal(data, id=7).message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=8), values, max_size=3),
    max_leaves=10,
)
FIELDS = (
    *("output", "error", "tool_calls", "usage", "cost_usd", "model", "stop_reason"),
    *("empty_reason", "reasoning", "metadata", "domarinn", "id"),
)
REPLIES = st.dictionaries(st.sampled_from(FIELDS), JSON).map(lambda reply: json.dumps(reply).encode())


@settings(deadline=None)
@given(REPLIES | st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
@example(b'{"output": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")
@example(b'{"output": 1, "cost_usd": ' + b"9" * 400 + b"}")
@example(b'{"output": 1, "usage": {"input_tokens": ' + b"9" * 4_000 + b"}}")
@example(b'{"output": 1e400}')
@example(b'{"output": "\\ud800"}')
@example(b'{"output": 1, "tool_calls": [{"name": "\\ud800"}]}')
def test_whatever_a_program_writes_ends_as_an_answer_or_an_error(data):
    try:
        ended: object = read_provider_reply(data)
    except ProviderError as error:
        ended = error
        json.dumps(error.details, allow_nan=False)
    assert isinstance(ended, (Response, ProviderError))
