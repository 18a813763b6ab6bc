"""People who come from another tool are told what to write here."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand import SuiteError, load_suite
from evenhand.config import document, other_words
from evenhand.config.decode import struct_type
from evenhand.model.assertion import ASSERTIONS
from evenhand.model.grading import Grader
from evenhand.model.provider import PROVIDERS
from evenhand.template import Engine

OWNERS = {
    **vars(document),
    **PROVIDERS.all(),
    **ASSERTIONS.all(),
    "Grader": Grader,
}


def problems(tmp_path: Path, **suite: object) -> list[str]:
    whole = {
        "providers": [{"type": "echo"}],
        "prompts": [{"id": "ask", "template": "Hello"}],
        "tests": [{"assert": [{"type": "contains", "value": "x"}]}],
        **suite,
    }
    with pytest.raises(SuiteError) as caught:
        load_suite(whole, directory=tmp_path)
    return [str(problem) for problem in caught.value.problems]


def test_every_kind_of_another_tool_is_one_that_is_not_here() -> None:
    assert other_words.KINDS.keys().isdisjoint(ASSERTIONS.all())


@pytest.mark.parametrize("owner", other_words.KEYS)
def test_every_key_that_is_explained_is_one_that_its_owner_does_not_take(owner: str) -> None:
    taken = {field.encode_name for field in struct_type(OWNERS[owner]).fields}
    if owner in PROVIDERS.all() and owner in ASSERTIONS.all():
        taken |= {field.encode_name for field in struct_type(PROVIDERS.all()[owner]).fields}
    assert taken.isdisjoint(other_words.KEYS[owner])


def test_the_expression_for_a_number_of_words_is_one() -> None:
    expression = other_words.KINDS["word-count"].partition('value: "')[2].partition('"')[0]
    assert Engine().check_expression(expression) is None


@pytest.mark.parametrize(
    ("assertion", "hint"),
    [
        ({"type": "factuality", "value": "x"}, "write an `llm-rubric` that says what you expect"),
        ({"type": "not-contains-any", "value": ["x"]}, "write an `any-of` with one `contains` for each text"),
        ({"type": "is-json", "schema": {}}, "use `contains-json`, which takes a `schema`, beside it"),
        ({"type": "latency", "max": 3, "threshold": 3}, "write `max`"),
        ({"type": "contains", "value": 42}, "expected text, found the number 42; write it in quotes"),
        ({"type": "contains", "value": "x", "weight": "2"}, "found text '2'; write it without quotes"),
        ("contains: x", "expected a mapping with a `type`, found text 'contains: x'"),
        ({"type": "exec", "command": "python3 check.py"}, "write `[python3, check.py]`"),
    ],
)
def test_a_word_of_another_tool_in_an_assertion_is_explained(
    assertion: object, hint: str, tmp_path: Path
) -> None:
    assert hint in problems(tmp_path, tests=[{"assert": [assertion]}])[0]


@pytest.mark.parametrize(
    ("changed", "hint"),
    [
        ({"defaultTest": {}}, "write `defaults`"),
        ({"evaluateOptions": {"maxConcurrency": 2}}, "write `runner`"),
        ({"providers": ["openai:chat:gpt-5-mini"]}, "write `{type: openai, model: gpt-5-mini}`"),
        ({"providers": ["https://example.com/ask"]}, "write `{type: http, url: 'https://example.com/ask'}`"),
        ({"providers": ["python:app.py"]}, "write `{type: python, target: 'file://app.py:NAME'}`"),
        ({"providers": [{"type": "openai", "model": "m", "temperature": 0}]}, "write it under `params`"),
        ({"prompts": ["Hello"]}, "write its keys, `id` among them"),
        ({"grader": {"type": "openai", "model": "m"}}, "write it under `provider`"),
        ({"tests": {"first": {}}}, "write a list: each item begins with `- `"),
    ],
)
def test_a_word_of_another_tool_in_a_suite_is_explained(
    changed: dict[str, object], hint: str, tmp_path: Path
) -> None:
    assert any(hint in problem for problem in problems(tmp_path, **changed))


def test_a_suite_of_another_tool_is_named_with_the_page_that_helps(tmp_path: Path) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text("prompts: [hello]\n", encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path)
    assert "`promptfooconfig.yaml` is written in another language" in str(caught.value)
    page = Path(__file__).parents[2] / "docs/guides/from-promptfoo.md"
    assert page.name in str(caught.value)
    assert page.exists()
