"""Suites as files, for tests that go through the command line."""

from __future__ import annotations

from pathlib import Path

SUITE = """\
version: 1
suite: capitals
providers:
  - {id: parrot, type: echo}
  - {id: other, type: echo}
prompts:
  - {id: say, template: "{{ answer }}"}
  - id: turns
    messages:
      - {role: user, content: "{{ answer }}"}
tests:
  - id: right/france
    tags: [smoke]
    vars: {answer: Paris}
    only_providers: [parrot]
    assert:
      - {type: icontains, value: paris}
  - id: wrong/spain
    description: The capital of Spain
    vars: {answer: "Barcelona [red]x[/red] \\e[2J"}
    assert:
      - {type: contains, value: Madrid}
      - {type: not-contains, value: Lisbon}
"""
"""Two cells that pass and four that fail: exit code 1."""

PASSING = """\
version: 1
suite: passing
providers: [{id: parrot, type: echo}]
prompts: [{id: say, template: "{{ answer }}"}]
tests:
  - id: right
    vars: {answer: Paris}
    assert: [{type: contains, value: Paris}]
"""
"""One cell that passes."""

BROKEN = """\
version: 1
providers: [{type: ecko}]
prompts: [{id: say, template: hello}]
tests:
  - asserts: [{type: contains, value: x}]
"""
"""A suite with two typing errors."""


def write_suite(text: str, folder: Path = Path(), name: str = "evenhand.yaml") -> Path:
    """Write a suite's file into a folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
