"""What holds for every kind of provider, checked against each of them."""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from evenhand.config.decode import convert
from evenhand.io.images import image_block
from evenhand.model.confinement import Confinement
from evenhand.model.describe import details_of, options_of, summary_of
from evenhand.model.exchange import Message, Response
from evenhand.model.provider import PROVIDERS, Provider
from evenhand.providers.echo import Echo
from evenhand.providers.exec import Exec
from evenhand.providers.python import Python
from support.images import PNG
from support.programs import ask, open_session, program, replies, request, run, write

ONCE = """
import json, sys
prompt = json.load(sys.stdin).get("prompt", {})
lines = [f"{m['role']}: {m['content']}" for m in prompt.get("messages", [])]
json.dump({"output": prompt.get("text", "\\n".join(lines))}, sys.stdout)
"""
WARM = """
import json, sys
for line in sys.stdin:
    prompt = json.loads(line).get("prompt", {})
    lines = [f"{m['role']}: {m['content']}" for m in prompt.get("messages", [])]
    print(json.dumps({"output": prompt.get("text", "\\n".join(lines))}), flush=True)
"""


def python(folder: Path, head: str) -> Provider:
    write(folder / "app.py", f"{head} return request.prompt")
    return Python(id="app", target="file://app.py:answer")


MAKERS: dict[str, Callable[[Path], Provider]] = {
    "echo": lambda folder: Echo(id="app"),
    "exec": lambda folder: Exec(id="app", command=program(folder, ONCE)),
    "persistent exec": lambda folder: Exec(id="app", command=program(folder, WARM), persistent=True),
    "plain python": lambda folder: python(folder, "def answer(request):"),
    "async python": lambda folder: python(folder, "async def answer(request):"),
}


@pytest.fixture(params=MAKERS)
def provider(request, tmp_path):
    """A provider of each kind whose answer is the prompt."""
    return MAKERS[request.param](tmp_path)


@pytest.mark.parametrize(
    "text", ["hello", "", " \n", "naïve ✓ \U0001f600 e\u0301", "a\u2028b\r\nc\0d", '{"output": 1}']
)
def test_any_text_goes_in_and_comes_out_unchanged(provider, tmp_path, text):
    assert replies(provider, tmp_path, request(text)) == [Response(output=text)]


def test_a_long_text_is_no_obstacle(provider, tmp_path):
    text = "long ✓ " * 100_000
    assert replies(provider, tmp_path, request(text)) == [Response(output=text)]


def test_turns_arrive(provider, tmp_path):
    turns = (Message(role="system", content="be brief"), Message(role="user", content="hi"))
    assert replies(provider, tmp_path, request(None, transcript=turns)) == [
        Response(output="system: be brief\nuser: hi")
    ]


def test_images_arrive_as_they_are_declared_to(provider, tmp_path):
    (tmp_path / "a.png").write_bytes(PNG)
    turn = Message(role="user", content=[image_block("a.png", PNG, "image/png")])
    (answer,) = ask(looking(provider, tmp_path), tmp_path, request(None, transcript=(turn,)))
    expected = base64.b64encode(PNG).decode() if provider.takes_images else "user: "
    assert answer.output == expected


def looking(provider, folder):
    """The provider with a system behind it that answers with the data of the image it was shown."""
    if isinstance(provider, Exec):
        source = WARM if provider.persistent else ONCE
        shown = source.replace("{m['role']}: {m['content']}", "{m['content'][0]['data']}")
        return Exec(id="app", command=program(folder, shown), persistent=provider.persistent)
    if isinstance(provider, Python):
        path = folder / "app.py"
        path.write_text(path.read_text().replace("request.prompt", "request.messages[0].content[0]['data']"))
    return provider


def test_a_case_without_a_prompt_can_be_asked(provider, tmp_path):
    assert replies(provider, tmp_path, request(None, vars={"q": "x"})) == [Response(output="")]


def test_a_session_answers_many_questions_at_once_each_with_its_own_answer(provider, tmp_path):
    async def body() -> list[object]:
        session = open_session(provider, tmp_path, concurrency=8)
        answers = await asyncio.gather(*(session.complete(request(f"question {n}")) for n in range(24)))
        await session.close()
        return [each.output for each in answers]

    assert run(body()) == [f"question {n}" for n in range(24)]


def test_a_cancelled_call_does_not_disturb_the_next_one(provider, tmp_path):
    async def body() -> object:
        session = open_session(provider, tmp_path, concurrency=2)
        for _ in range(3):
            call = asyncio.create_task(session.complete(request("cancelled")))
            await asyncio.sleep(0.005)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
        after = await session.complete(request("after"))
        await session.close()
        return after.output

    assert run(body()) == "after"


def test_a_session_can_be_closed_without_having_been_used(provider, tmp_path):
    async def body() -> None:
        await open_session(provider, tmp_path).close()

    run(body())


def test_two_sessions_of_one_provider_live_side_by_side(provider, tmp_path):
    async def body() -> list[object]:
        sessions = [open_session(provider, tmp_path) for _ in range(2)]
        answers = await asyncio.gather(*(each.complete(request(str(n))) for n, each in enumerate(sessions)))
        for each in sessions:
            await each.close()
        return [each.output for each in answers]

    assert run(body()) == ["0", "1"]


def test_a_session_leaves_the_import_path_as_it_was(provider, tmp_path):
    path, modules = list(sys.path), set(sys.modules)
    ask(provider, tmp_path)
    assert sys.path == path
    assert "app" not in set(sys.modules) - modules


def test_a_good_declaration_has_no_problems(provider, tmp_path):
    assert provider.problems(Confinement(directory=tmp_path)) == []
    assert provider.warnings(tmp_path) == []


@pytest.mark.parametrize("cls", PROVIDERS.all().values(), ids=PROVIDERS.all())
def test_every_type_documents_itself(cls):
    assert summary_of(cls).endswith(".")
    assert isinstance(details_of(cls), str)
    own = [option for option in options_of(cls) if option.name not in Provider.__struct_fields__]
    assert all(option.description for option in own)


@pytest.mark.parametrize("cls", PROVIDERS.all().values(), ids=PROVIDERS.all())
def test_the_example_of_every_type_is_a_valid_declaration(cls):
    for block in yaml.safe_load(cls.example):
        declared = convert({k: v for k, v in block.items() if k != "type"}, cls)
        assert declared.name == block["id"]
