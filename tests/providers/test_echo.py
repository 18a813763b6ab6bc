from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.model.emptiness import empty_reason
from evenhand.model.exchange import Message, Response
from evenhand.providers.echo import Echo
from support.programs import ask, request

TURNS = (
    Message(role="system", content="be brief"),
    Message(role="user", content=[{"type": "text", "text": "hi"}]),
)


@pytest.mark.parametrize(
    ("asked", "output"),
    [
        (request("hello {{ x }}"), "hello {{ x }}"),
        (request(""), ""),
        (request(None, transcript=TURNS), "system: be brief\nuser: hi"),
        (request(None, transcript=()), ""),
        (request(None), ""),
    ],
)
def test_an_echo_answers_with_the_prompt(asked, output):
    assert ask(Echo(), Path(), asked) == [Response(output=output)]


def test_an_echo_of_no_prompt_counts_as_blank():
    (response,) = ask(Echo(), Path(), request(None))
    assert isinstance(response, Response)
    assert empty_reason(response) == "blank"


def test_an_echo_reports_no_tool_calls():
    assert not Echo().reports_tool_calls
    assert Echo().calls_at_once is None
