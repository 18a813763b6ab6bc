from __future__ import annotations

import json

from evenhand.model.assertion import ASSERTIONS
from support.suites_on_disk import BROKEN, SUITE, write_suite


def test_tests_are_listed_with_tags_assertions_and_places(evenhand) -> None:
    write_suite(SUITE)
    done = evenhand("list", "tests")
    heading, first, second = done.out.splitlines()
    assert heading.split() == ["test", "tags", "assertions", "place"]
    assert first.split() == ["right/france", "smoke", "1", "evenhand.yaml:12:5"]
    assert second.split() == ["wrong/spain", "2", "evenhand.yaml:18:5"]
    assert done.code == 0


def test_tests_as_json(evenhand) -> None:
    write_suite(SUITE)
    first, second = json.loads(evenhand("list", "tests", "--json").out)
    assert first == {
        "id": "right/france",
        "description": None,
        "tags": ["smoke"],
        "vars": {"answer": "Paris"},
        "history": 0,
        "assertions": ["icontains"],
        "threshold": None,
        "cache_salt": None,
        "only_providers": ["parrot"],
        "skip_providers": [],
        "expect_fail": None,
        "location": "evenhand.yaml:12:5",
    }
    assert second["assertions"] == ["contains", "not-contains"]


def test_providers_and_prompts(evenhand) -> None:
    write_suite(SUITE)
    assert evenhand("list", "providers").out.splitlines()[1:] == ["parrot    echo", "other     echo"]
    assert json.loads(evenhand("list", "providers", "--json").out)[0] == {
        "id": "parrot",
        "type": "echo",
        "label": None,
    }
    prompts = evenhand("list", "prompts").out.splitlines()
    assert [line.split()[:2] for line in prompts[1:]] == [["say", "text"], ["turns", "1"]]
    assert [prompt["form"] for prompt in json.loads(evenhand("list", "prompts", "--json").out)] == [
        "text",
        "1 turn",
    ]


def test_every_assertion_kind_is_listed_without_a_suite(evenhand) -> None:
    lines = evenhand("list", "assertions").out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(ASSERTIONS.all())
    kinds = {kind["kind"]: kind for kind in json.loads(evenhand("list", "assertions", "--json").out)}
    assert set(kinds) == set(ASSERTIONS.all())
    assert kinds["contains"]["tier"] == "local"
    assert "value" in [option["name"] for option in kinds["contains"]["options"]]
    assert {example["expect"] for example in kinds["contains"]["examples"]} >= {"pass", "fail"}


def test_a_broken_suite_exits_2(evenhand) -> None:
    write_suite(BROKEN)
    for what in ("tests", "providers", "prompts"):
        done = evenhand("list", what)
        assert (done.code, done.out) == (2, "")
        assert "2 problems found" in done.err


def test_a_suite_without_prompts_says_so(evenhand) -> None:
    write_suite("version: 1\nproviders: [{type: echo}]\ntests: []\n")
    done = evenhand("list", "prompts")
    assert done.out == ""
    assert "there are no prompts\n" in done.err
