from __future__ import annotations

import math

import pytest

from evenhand.errors import ErrorClass, ExitCode, ProviderError
from evenhand.io.reply import response_from_reply
from evenhand.model.exchange import Response, ToolCall, Usage


def failure(**reply: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        response_from_reply(reply)
    assert caught.value.exit_code is ExitCode.HARNESS
    return caught.value


def test_every_field_of_a_reply_is_carried_over():
    reply = {
        "output": {"a": [1]},
        "usage": {"input_tokens": 12, "output_tokens": 4, "cache_read_tokens": 3},
        "cost_usd": 0.25,
        "metadata": {"m": 1},
        "stop_reason": "end_turn",
        "empty_reason": "refusal",
        "reasoning": "thinking",
        "model": "m-1",
        "tool_calls": [{"id": "c", "name": "look", "arguments": {"x": 1}}],
        "invented_later": True,
    }
    assert response_from_reply(reply) == Response(
        output={"a": [1]},
        usage=Usage(input_tokens=12, output_tokens=4, cache_read_tokens=3),
        cost_usd=0.25,
        metadata={"m": 1},
        stop_reason="end_turn",
        empty_reason="refusal",
        reasoning="thinking",
        model="m-1",
        tool_calls=(ToolCall(name="look", arguments={"x": 1}, id="c"),),
    )


@pytest.mark.parametrize("output", ["", "text", None, 0, 1.5, False, [], {}, {"a": None}])
def test_any_json_value_is_an_output(output):
    assert response_from_reply({"output": output}).output == output


def test_null_fields_count_as_absent():
    names = ("usage", "cost_usd", "error", "metadata", "stop_reason", "empty_reason", "model", "tool_calls")
    assert response_from_reply({"output": "x", **dict.fromkeys(names)}) == Response(output="x")


def test_an_empty_reason_without_text_is_none():
    assert response_from_reply({"output": "", "empty_reason": ""}).empty_reason is None


def test_a_usage_without_counts_reports_nothing():
    assert response_from_reply({"output": "x", "usage": {}}).usage is None
    assert response_from_reply({"output": "x", "usage": {"total": 9}}).usage is None
    assert response_from_reply({"output": "x", "usage": {"input_tokens": 0}}).usage == Usage()


def test_calls_without_a_name_are_dropped():
    calls = [
        {"arguments": {}},
        {"name": None},
        {"name": ""},
        {"name": "kept"},
        {"name": "too", "arguments": "{}"},
    ]
    assert response_from_reply({"output": "", "tool_calls": calls}).tool_calls == (
        ToolCall(name="kept"),
        ToolCall(name="too", arguments="{}"),
    )


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("usage", 7, "the reply's `usage` must be an object, found 7"),
        ("usage", {"input_tokens": -1}, "`usage.input_tokens` must be a whole number of 0 or more, found -1"),
        (
            "usage",
            {"output_tokens": 1.5},
            "`usage.output_tokens` must be a whole number of 0 or more, found 1.5",
        ),
        (
            "usage",
            {"output_tokens": True},
            "`usage.output_tokens` must be a whole number of 0 or more, found true",
        ),
        ("usage", {"output_tokens": 10**40 * -1}, "found an integer of many digits"),
        ("cost_usd", -0.01, "`cost_usd` must be a finite number of 0 or more, found -0.01"),
        ("cost_usd", "0.1", '`cost_usd` must be a finite number of 0 or more, found the text "0.1"'),
        ("cost_usd", math.nan, "`cost_usd` must be a finite number of 0 or more, found nan"),
        ("cost_usd", math.inf, "`cost_usd` must be a finite number of 0 or more, found inf"),
        (
            "cost_usd",
            10**400,
            "`cost_usd` must be a finite number of 0 or more, found an integer of many digits",
        ),
        ("cost_usd", False, "`cost_usd` must be a finite number of 0 or more, found false"),
        ("model", 5, "`model` must be text, found 5"),
        ("stop_reason", ["x"], "`stop_reason` must be text, found a list"),
        ("empty_reason", {}, "`empty_reason` must be text, found an object"),
        ("reasoning", 1, "`reasoning` must be text, found 1"),
        ("tool_calls", {"name": "x"}, "`tool_calls` must be a list, found an object"),
        ("tool_calls", [{"name": "x"}, "y"], '`tool_calls[1]` must be an object, found the text "y"'),
        ("tool_calls", [{"name": 3}], "`tool_calls[0].name` must be text, found 3"),
        ("tool_calls", [{"name": "x", "id": 3}], "`tool_calls[0].id` must be text, found 3"),
        (
            "tool_calls",
            [{"name": "x", "arguments": {"a": math.inf}}],
            "`tool_calls[0].arguments.a` is inf, which is not a JSON number",
        ),
        ("output", {"a": [math.nan]}, "the reply's `output.a[0]` is nan, which is not a JSON number"),
        ("metadata", {"a": math.inf}, "`metadata.a` is inf"),
    ],
)
def test_a_wrong_field_is_named_with_what_was_found(field, value, message):
    error = failure(**{"output": "x", field: value})
    assert message in error.message
    assert error.error_class is ErrorClass.EXEC_FAILED
    assert not error.retriable


def test_the_class_of_a_wrong_field_is_the_callers():
    with pytest.raises(ProviderError) as caught:
        response_from_reply({"output": "x", "model": 1}, ErrorClass.PROVIDER_PROTOCOL)
    assert caught.value.error_class is ErrorClass.PROVIDER_PROTOCOL


def test_a_reported_error_wins_over_an_output():
    error = failure(output="x", error={"message": "429 from upstream"})
    assert error.message == "429 from upstream"
    assert (error.error_class, error.retriable) == (ErrorClass.EXEC_FAILED, False)
    assert (error.retry_after_ms, error.details) == (None, None)


def test_everything_that_a_reported_error_says_is_kept():
    error = failure(
        error={
            "message": "slow down",
            "retriable": True,
            "class": "provider_rate_limit",
            "retry_after_ms": 1500,
            "details": {"quota": "minute"},
        },
        metadata={"ignored": 1},
    )
    assert error.error_class is ErrorClass.PROVIDER_RATE_LIMIT
    assert (error.retriable, error.retry_after_ms) == (True, 1500.0)
    assert error.details == {"quota": "minute"}


def test_metadata_stands_in_for_the_details_of_an_error():
    assert failure(error={"message": "x"}, metadata={"region": "eu"}).details == {"region": "eu"}


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("provider_auth", ErrorClass.PROVIDER_AUTH),
        ("grader_failed", ErrorClass.GRADER_FAILED),
        ("", ErrorClass.EXEC_FAILED),
        (None, ErrorClass.EXEC_FAILED),
        ("from_the_future", ErrorClass.EXEC_FAILED),
        (["provider_auth"], ErrorClass.EXEC_FAILED),
        ("assert_failed", ErrorClass.EXEC_FAILED),
        ("render_failed", ErrorClass.EXEC_FAILED),
        ("checker_failed", ErrorClass.EXEC_FAILED),
        ("grader_missing", ErrorClass.EXEC_FAILED),
    ],
)
def test_a_program_can_name_the_class_of_its_error_but_never_blame_the_suite(named, expected):
    assert failure(error={"message": "x", "class": named}).error_class is expected


@pytest.mark.parametrize("wait", [-1, "5", math.nan, math.inf, True, None, 10**400])
def test_a_wait_that_is_no_amount_is_ignored(wait):
    assert failure(error={"message": "x", "retry_after_ms": wait}).retry_after_ms is None


@pytest.mark.parametrize("retriable", ["yes", 1, None, "false"])
def test_only_true_makes_an_error_retriable(retriable):
    assert not failure(error={"message": "x", "retriable": retriable}).retriable


@pytest.mark.parametrize(
    ("error", "found"),
    [
        ("boom", 'the text "boom"'),
        ({}, "an object"),
        ({"message": 5}, "an object"),
        ([], "a list"),
        (False, "false"),
    ],
)
def test_an_error_of_the_wrong_form_is_an_error_all_the_same(error, found):
    message = f"the reply's `error` must be an object with a text `message`, found {found}"
    assert failure(output="x", error=error).message == message


def test_details_that_cannot_be_stored_say_so():
    details = failure(error={"message": "x", "details": {"a": math.nan}}).details
    assert details == {"unreadable": "`details.a` is nan, which is not a JSON number"}
