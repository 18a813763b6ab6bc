"""What a question is kept under: everything that can change its answer, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.config.findings import Findings, Place
from evenhand.config.providers import read_provider
from evenhand.errors import DocumentPath, Location
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Message, Request, TestInfo, Tool
from evenhand.model.provider import Provider, ProviderContext
from evenhand.run.keyers import keyer_of
from evenhand.text.canonical import canonical


class Nowhere:
    """A document without lines."""

    def locate(self, path: DocumentPath) -> Location:
        return Location("suite")


ASKED = Request(text="What is 2 + 2?", vars={"x": "1"}, test=TestInfo(id="t", tags=("a",)))


def key(
    options: Mapping[str, Any],
    folder: Path,
    request: Request = ASKED,
    env: Mapping[str, str] | None = None,
) -> bytes:
    provider = made(options, folder)
    keyer = provider.keyer(ProviderContext(directory=folder, env=env or {}))
    assert keyer is not None
    return canonical(keyer(request))


def made(options: Mapping[str, Any], folder: Path) -> Provider:
    findings = Findings()
    provider = read_provider(dict(options), Place(findings, Nowhere()), Confinement(directory=folder))
    assert provider is not None
    return provider


OPENAI = {"id": "p", "type": "openai", "model": "m"}
HTTP = {"id": "p", "type": "http", "url": "http://127.0.0.1:1/ask", "body": {"q": "{{ prompt }}"}}
EXEC = {"id": "p", "type": "exec", "command": ["python3", "app.py"]}
PYTHON = {"id": "p", "type": "python", "target": "file://app.py:answer"}
ALL = (OPENAI, {**OPENAI, "type": "anthropic"}, HTTP, EXEC, PYTHON)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text("def answer(request): return 'x'\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("options", ALL, ids=lambda options: options["type"])
def test_names_of_provider_and_test_are_not_keyed(options: dict[str, Any], folder: Path) -> None:
    renamed = Request(text=ASKED.text, vars=ASKED.vars, test=TestInfo(id="other"))
    assert key(options, folder) == key({**options, "id": "q", "label": "Q"}, folder, renamed)
    assert b'"t"' not in key(options, folder)


@pytest.mark.parametrize("options", ALL, ids=lambda options: options["type"])
@pytest.mark.parametrize(
    "changed",
    [
        Request(text="What is 2 + 3?", vars={"x": "1"}, test=ASKED.test),
        Request(transcript=(Message(role="system", content="Be brief."),), vars={"x": "1"}, test=ASKED.test),
    ],
    ids=["text", "turns"],
)
def test_prompt_is_keyed(options: dict[str, Any], changed: Request, folder: Path) -> None:
    assert key(options, folder) != key(options, folder, changed)


@pytest.mark.parametrize(
    ("options", "changed", "same"),
    [
        (OPENAI, {"base_url": "http://127.0.0.1:9/v1"}, True),
        (OPENAI, {"api_key_env": "OTHER"}, True),
        (OPENAI, {"timeout_ms": 5}, True),
        (OPENAI, {"pricing": {"input_per_mtok": 1}}, True),
        (OPENAI, {"fallback": ["q"]}, True),
        (OPENAI, {"request": {"auth": "none"}}, True),
        (OPENAI, {"request": {"headers": {"Authorization": "Bearer abc"}}}, True),
        (OPENAI, {"model": "m2"}, False),
        (OPENAI, {"params": {"temperature": 0}}, False),
        (OPENAI, {"request": {"path": "/other"}}, False),
        (OPENAI, {"request": {"query": {"v": "2"}}}, False),
        (OPENAI, {"request": {"headers": {"x-team": "a"}}}, False),
        (OPENAI, {"request": {"body": {"seed": 1}}}, False),
        (HTTP, {"timeout_ms": 5}, True),
        (HTTP, {"headers": {"Authorization": "Bearer abc"}}, True),
        (HTTP, {"headers": {"X-Team": "a"}}, False),
        (HTTP, {"url": "http://127.0.0.1:2/ask"}, False),
        (HTTP, {"method": "PUT"}, False),
        (HTTP, {"output_expr": "response.json.a"}, False),
        (EXEC, {"timeout_ms": 5}, True),
        (EXEC, {"persistent": True}, True),
        (EXEC, {"command": ["python3", "app.py", "-v"]}, False),
        (EXEC, {"env": {"MODE": "b"}}, False),
        (PYTHON, {"timeout_ms": 5}, True),
        (PYTHON, {"target": "file://app.py:other"}, False),
    ],
)
def test_what_is_keyed(options: dict[str, Any], changed: dict[str, Any], same: bool, folder: Path) -> None:
    assert (key(options, folder) == key({**options, **changed}, folder)) is same


@pytest.mark.parametrize("options", [EXEC, PYTHON], ids=lambda options: options["type"])
def test_changed_program_is_another_question(options: dict[str, Any], folder: Path) -> None:
    before = key(options, folder)
    (folder / "app.py").write_text("def answer(request): return 'another'\n", encoding="utf-8")
    assert key(options, folder) != before


def test_file_outside_the_folder_does_not_count_with_its_content(folder: Path) -> None:
    assert b'"files":{}' in key({**EXEC, "command": ["/bin/sh", "-c", "true"]}, folder)


def test_tools_are_keyed(folder: Path) -> None:
    offered = Request(text=ASKED.text, vars=ASKED.vars, test=ASKED.test, tools=(Tool(name="look"),))
    for options in ALL[:2]:
        assert key(options, folder) != key(options, folder, offered)


@pytest.mark.parametrize(
    "options",
    [
        {**OPENAI, "request": {"body": {"user": "u-{{ env.WHO }}"}}},
        {**HTTP, "body": {"user": "{{ env.WHO }}"}},
        {**HTTP, "headers": {"X-Team": "{{ env.WHO }}"}},
        {**HTTP, "url": "http://127.0.0.1:1/{{ env.WHO }}"},
    ],
)
def test_environment_is_keyed_by_name(options: dict[str, Any], folder: Path) -> None:
    one, two = (key(options, folder, env={"WHO": who}) for who in ('ann "a"', "bob"))
    assert one == two
    assert b"ann" not in one


@pytest.mark.parametrize(
    "options",
    [
        {**OPENAI, "request": {"body": {"user": "{% if env.WHO == 'bob' %}1{% else %}2{% endif %}"}}},
        {**HTTP, "body": {"user": "{{ env.WHO | upper }}"}},
    ],
)
def test_environment_that_decides_what_is_sent_is_keyed_by_digest(
    options: dict[str, Any], folder: Path
) -> None:
    one, two = (key(options, folder, env={"WHO": who}) for who in ("ann-ann", "bob"))
    assert one != two
    assert b"ann-ann" not in one.lower()


def test_secret_in_a_header_is_in_no_question(folder: Path) -> None:
    for options in (
        {**HTTP, "headers": {"Authorization": "Bearer sk-test-000"}},
        {**OPENAI, "request": {"headers": {"Authorization": "Bearer sk-test-000"}}},
    ):
        assert b"sk-test-000" not in key(options, folder)


def test_text_that_utf8_cannot_hold_has_a_key(folder: Path) -> None:
    odd = Request(text="a\ud800b", vars={"x": "\udfff"}, test=ASKED.test)
    for options in (OPENAI, EXEC, PYTHON):
        assert key(options, folder, odd) == key(options, folder, odd) != key(options, folder)


def test_deep_and_odd_values_have_a_key(folder: Path) -> None:
    deep: Any = 0
    for _ in range(5_000):
        deep = {"b": [deep], "a": 1}
    odd = Request(text="x", vars={"deep": deep, "big": 10**400}, test=ASKED.test)
    assert key(EXEC, folder, odd) == key(EXEC, folder, odd)


def test_echo_and_unknown_types_keep_nothing_by_default(folder: Path) -> None:
    assert not made({"id": "e", "type": "echo"}, folder).is_cached
    assert not made(PYTHON, folder).is_cached
    assert made({**PYTHON, "cache": True}, folder).is_cached
    assert not made({**EXEC, "cache": False}, folder).is_cached
    assert Provider(id="x").keyer(ProviderContext(directory=folder)) is None


def test_two_servers_of_a_suite_are_told_apart(folder: Path) -> None:
    context = ProviderContext(directory=folder)
    one, two, salted, other = (
        made({**OPENAI, **options}, folder)
        for options in (
            {"base_url": "http://127.0.0.1:1/v1"},
            {"id": "q", "base_url": "http://127.0.0.1:2/v1"},
            {"id": "q", "base_url": "http://127.0.0.1:2/v1", "cache_salt": "two"},
            {"id": "q", "model": "m2"},
        )
    )

    def asked(provider: Provider, *beside: Provider) -> bytes:
        keyer = keyer_of(provider, (provider, *beside), context)
        assert keyer is not None
        return canonical(keyer(ASKED))

    assert asked(one) == asked(two) == asked(one, other) == asked(one, salted)
    assert asked(one, two) != asked(two, one)
    assert asked(one, two) != asked(one)
