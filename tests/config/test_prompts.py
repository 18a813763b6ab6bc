"""Prompts, turns and histories."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.io.images import MAX_IMAGE_BYTES, image_block
from evenhand.model.suite import Case, HistoryMarker, MessageTemplate, Prompt
from evenhand.template import Engine, Scope
from support.images import PNG
from support.written import load, messages, warnings

USER = {"role": "user", "content": "{{ q }}"}
SYSTEM = {"role": "system", "content": "Be kind."}


def prompt(folder: Path, written: dict[str, Any], files: Mapping[str, str | bytes] = {}) -> Prompt:
    document = {"defaults": {"vars": {"q": "x"}}, "prompts": [{"id": "a", **written}]}
    return load(folder, document, files).prompts[0]


def case(folder: Path, history: Any, files: Mapping[str, str | bytes] = {}) -> Case:
    (only,) = load(folder, {"tests": [{"vars": {"q": "x"}, "history": history}]}, files).cases
    return only


def shown(turns: tuple[MessageTemplate | HistoryMarker, ...]) -> list[Any]:
    return [
        "history" if isinstance(turn, HistoryMarker) else (turn.role, turn.content.authored) for turn in turns
    ]


def test_a_template_may_stand_in_a_file_and_keeps_its_last_line_break(tmp_path: Path) -> None:
    assert prompt(tmp_path, {"template": "file://p.md"}, {"p.md": "Q: {{ q }}\n"}).template == "Q: {{ q }}\n"


def test_messages_hold_turns_and_the_place_of_the_history(tmp_path: Path) -> None:
    written = [SYSTEM, "history", {"role": "user", "content": "file://u.txt"}]
    turns = prompt(tmp_path, {"messages": written}, {"u.txt": "{{ q }}!"}).messages
    assert shown(turns) == [("system", "Be kind."), "history", ("user", "{{ q }}!")]


def test_blocks_keep_thinking_and_images_as_they_are(tmp_path: Path) -> None:
    blocks = [
        {"type": "text", "text": "{{ q }}"},
        {"type": "thinking", "thinking": "{{ q }}", "signature": "s"},
        {"type": "image", "file": "pics/{{ q }}.png"},
    ]
    (turn,) = prompt(
        tmp_path, {"messages": [{"role": "user", "content": blocks}]}, {"pics/{{ q }}.png": PNG}
    ).messages
    assert isinstance(turn, MessageTemplate)
    assert turn.content.render(Engine(), Scope({"q": "x"})) == [
        {"type": "text", "text": "x"},
        {"type": "thinking", "thinking": "{{ q }}", "signature": "s"},
        image_block("pics/{{ q }}.png", PNG, "image/png"),
    ]


def test_tool_calls_and_their_results_stand_in_transcripts(tmp_path: Path) -> None:
    call = {"id": "1", "name": "find", "arguments": {"what": "{{ q }}", "n": 1}}
    history = [
        USER,
        {"role": "assistant", "tool_calls": [call, {"name": "stop"}]},
        {"role": "tool", "tool_call_id": "1", "content": "found"},
    ]
    turns = case(tmp_path, history).history
    first, second = turns[1].tool_calls
    assert (first.id, first.name) == ("1", "find")
    assert first.arguments.render(Engine(), Scope({"q": "x"})) == {"what": "x", "n": 1}
    assert second.arguments.authored == {}
    assert turns[2].tool_call_id == "1"


@pytest.mark.parametrize(
    ("name", "content"), [("h.yaml", "- {role: user, content: '{{ q }}'}\n"), ("h.json", json.dumps([USER]))]
)
def test_a_history_may_stand_in_a_file(name: str, content: str, tmp_path: Path) -> None:
    assert shown(case(tmp_path, f"file://{name}", {name: content}).history) == [("user", "{{ q }}")]


def test_a_history_from_a_data_file_is_no_template(tmp_path: Path) -> None:
    files = {"c.jsonl": json.dumps({"history": [USER]}) + "\n"}
    (only,) = load(tmp_path, {"tests": ["file://c.jsonl"]}, files).cases
    assert only.history[0].content.render(Engine(), Scope({})) == "{{ q }}"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"messages": []}, "prompts[0].messages: the list of turns must not be empty"),
        (
            {"messages": ["history", SYSTEM, "history"]},
            "prompts[0].messages: 'history' can stand in a prompt once",
        ),
        ({"messages": ["histroy"]}, "prompts[0].messages[0]: expected a mapping, found text 'histroy'"),
        ({"messages": [{"role": "user"}]}, "prompts[0].messages[0]: a turn needs `content` or `tool_calls`"),
        ({"messages": [{"content": "x"}]}, "prompts[0].messages[0]: key 'role' is missing; who speaks"),
        ({"messages": [{"role": "usr", "content": "x"}]}, "found text 'usr'; did you mean 'user'?"),
        ({"messages": [{**USER, "contnt": 1}]}, "prompts[0].messages[0].contnt: unknown key"),
        (
            {"messages": [{**USER, "tool_calls": [{"name": "x"}]}]},
            "only an assistant calls tools, found the role 'user'",
        ),
        (
            {"messages": [{**USER, "tool_call_id": "1"}]},
            "only a tool turn answers a call, found the role 'user'",
        ),
        (
            {"messages": [{"role": "user", "content": 5}]},
            "content: expected text or a list of blocks, found the number 5",
        ),
        (
            {"messages": [{"role": "user", "content": ["x"]}]},
            "content[0]: expected a block of the type text, thinking or",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "txt"}]}]},
            "found text 'txt'; did you mean 'text'?",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "content[0]: key 'text' is missing",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "file": "no.png"}]}]},
            "no such file, found 'no.png'",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "file": "../x.png"}]}]},
            "content[0].file: refuses to read outside the suite's folder",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "file": "evenhand.yaml"}]}]},
            "content[0].file: 'evenhand.yaml' is no image, found the bytes 7b 22 76 65 72 73 69 6f; use PNG, JPEG,",
        ),
        (
            {"messages": [{"role": "user", "content": "file://no.txt"}]},
            "content: no such file, found 'no.txt'",
        ),
        ({"messages": [{"role": "user", "content": "{{ q"}]}, "messages[0].content: the template is wrong"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"name": "x", "arguments": {"a": "{{ q"}}]}]},
            "messages[0].tool_calls[0].arguments.a: the template is wrong",
        ),
        ({"template": "file://../secret.txt"}, "refuses to read outside"),
        ({"template": "Explain what {% means"}, "prompts[0].template: the template is wrong"),
    ],
)
def test_a_wrong_prompt_is_refused(written: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message in "\n".join(messages(tmp_path, {"prompts": [{"id": "a", **written}]}))


def test_a_wrong_template_in_a_file_is_placed_in_that_file(tmp_path: Path) -> None:
    files = {"p.md": "one\n{{ two\n"}
    (found,) = messages(tmp_path, {"prompts": [{"id": "a", "template": "file://p.md"}]}, files)
    assert found.startswith("p.md")


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ("h.yaml", "tests[0].history: expected a list of turns or a file:// reference, found text 'h.yaml'"),
        ({"role": "user"}, "tests[0].history: expected a list of turns, found a mapping"),
        ("file://no.yaml", "tests[0].history: no such file"),
        ("file://h.yaml", "h.yaml:2:3: [1]: a turn needs `content` or `tool_calls`"),
        ("file://h.txt", "unsupported transcript extension '.txt'"),
        ("file://m.yaml", "must hold a list"),
        ([{"role": "user", "content": None}], "a turn needs `content` or `tool_calls`"),
    ],
)
def test_a_wrong_history_is_refused(history: Any, message: str, tmp_path: Path) -> None:
    files = {"h.yaml": "- {role: user, content: x}\n- role: user\n", "h.txt": "x", "m.yaml": "a: 1\n"}
    assert message in "\n".join(messages(tmp_path, {"tests": [{"history": history}]}, files))


def picture(file: str = "a.png") -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image", "file": file}]}


ECHO = [{"id": "p", "type": "exec", "command": ["true"]}, {"id": "mirror", "type": "echo"}]


@pytest.mark.parametrize("skipped", [True, False])
def test_an_image_is_refused_where_a_provider_would_lose_it(skipped: bool, tmp_path: Path) -> None:
    skip = {"skip_providers": ["mirror"]} if skipped else {}
    document = {
        "providers": ECHO,
        "prompts": [{"id": "a", "messages": [picture(), "history"]}],
        "tests": [
            {"assert": [{"type": "is-json"}], **skip},
            {
                "history": [picture(), {"role": "user", "content": "x"}],
                "assert": [{"type": "is-json"}],
                **skip,
            },
        ],
    }
    files = {"a.png": PNG}
    if skipped:
        assert len(load(tmp_path, document, files).cases) == 2
        return
    wrong = "provider 'mirror' cannot take images; leave it out with `skip_providers`"
    found = messages(tmp_path, document, files)
    assert [line.split(": ", 1)[1] for line in found] == [
        f"prompts[0]: {wrong}",
        f"tests[1].history: {wrong}",
    ]


def test_an_image_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    document = {"prompts": [{"id": "a", "messages": [picture("big.png")]}]}
    (found,) = messages(tmp_path, document, {"big.png": PNG + b"\0" * MAX_IMAGE_BYTES})
    assert "is larger than 20 MiB; make the image smaller" in found


@pytest.mark.parametrize(
    ("turns", "warns"),
    [
        (["history", USER], True),
        ([SYSTEM, "history", USER], True),
        ([SYSTEM, USER], True),
        ([SYSTEM, USER, "history"], False),
        ([USER, "history"], False),
    ],
)
def test_a_conversation_that_begins_with_the_assistant_draws_a_warning(
    turns: list[Any], warns: bool, tmp_path: Path
) -> None:
    history = [{"role": "assistant", "content": "hello"}]
    document = {
        "prompts": [{"id": "a", "messages": turns}],
        "tests": [{"vars": {"q": "x"}, "history": history, "assert": [{"type": "is-json"}]}],
    }
    assert bool(warnings(tmp_path, document)) == warns
