"""Templates see the environment variables that the suite names, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.written import load, warnings

ENVIRON = {"A": "1", "B": "2", "C": "3", "SECRET": "s"}


@pytest.mark.parametrize(
    ("document", "files", "names"),
    [
        ({"env": ["A", "B"]}, {}, {"A", "B"}),
        ({"prompts": [{"id": "p", "template": "{{ env.A }} {{ env.B.x }}"}]}, {}, {"A", "B"}),
        ({"prompts": [{"id": "p", "template": "file://p.txt"}]}, {"p.txt": "{{ env.A }}"}, {"A"}),
        ({"prompts": [{"id": "p", "messages": [{"role": "user", "content": "{{ env.A }}"}]}]}, {}, {"A"}),
        ({"defaults": {"vars": {"x": "{{ env.A }}"}}}, {}, {"A"}),
        ({"tests": [{"vars": {"x": ["{{ env.A }}"]}}]}, {}, {"A"}),
        ({"tests": [{"assert": [{"type": "equals", "value": "{{ env.A }}"}]}]}, {}, {"A"}),
        ({"tests": [{"assert": [{"type": "jinja", "value": "env.A in output"}]}]}, {}, {"A"}),
        ({"defaults": {"assert": [{"type": "jinja", "value": "env.A in output"}]}}, {}, {"A"}),
        ({"extends": "base.yaml"}, {"base.yaml": "defaults: {vars: {x: '{{ env.A }}'}}"}, {"A"}),
        ({"tests": [{"vars": {"x": "mentions env.A and ${env:A}"}}]}, {}, set()),
        ({"tests": [{"vars": {"x": {"$raw": "{{ env.A }}"}}}]}, {}, set()),
        ({"tests": ["file://t.yaml"]}, {"t.yaml": "- vars: {x: '{{ env.A }}'}"}, set()),
        ({"tests": ["file://t.jsonl"]}, {"t.jsonl": '{"vars": {"x": "{{ env.A }}"}}'}, set()),
        ({"providers": [{"type": "exec", "command": ["${env:A}"]}]}, {}, set()),
    ],
)
def test_only_what_the_suite_names_is_visible(
    document: dict[str, Any], files: dict[str, str | bytes], names: set[str], tmp_path: Path
) -> None:
    suite = load(tmp_path, document, files, environ=ENVIRON)
    assert suite.env == {name: ENVIRON[name] for name in names}


def test_variables_that_were_not_allowed_are_hidden_whatever_the_suite_names(tmp_path: Path) -> None:
    document = {
        "providers": [{"type": "exec", "command": ["${env:SECRET:-none}"]}],
        "prompts": [{"id": "p", "template": "{{ env.A }} {{ env.SECRET }}"}],
    }
    suite = load(tmp_path, document, environ=ENVIRON, visible_variables=["A"])
    assert suite.env == {"A": "1"}
    assert suite.providers[0].command == ("none",)  # type: ignore[attr-defined]


def test_a_needed_variable_that_is_not_set_draws_a_warning(tmp_path: Path) -> None:
    document = {"prompts": [{"id": "p", "template": "{{ env.NOPE }}"}]}
    assert warnings(tmp_path, document)[0].endswith(
        "prompts[0].template: the environment variable 'NOPE' is needed here, but not set"
    )


@pytest.mark.parametrize(
    "document",
    [
        {"env": ["NOPE"]},
        {"prompts": [{"id": "p", "template": "{{ env.NOPE | default('x') }}"}]},
        {"prompts": [{"id": "p", "template": "{% if env.NOPE is defined %}{{ env.NOPE }}{% endif %}"}]},
    ],
)
def test_a_variable_that_can_be_done_without_draws_no_warning(
    document: dict[str, Any], tmp_path: Path
) -> None:
    assert warnings(tmp_path, document) == []


def test_the_environment_of_the_process_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_TEST_VARIABLE", "here")
    suite = load(tmp_path, {"env": ["EVENHAND_TEST_VARIABLE"]}, environ=None)
    assert suite.env == {"EVENHAND_TEST_VARIABLE": "here"}
