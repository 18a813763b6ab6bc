"""`evenhand list`: what a suite resolves to, and the assertion kinds there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import Function, allow_outside_option, suite_argument

if TYPE_CHECKING:
    from evenhand.model.assertion import Assertion
    from evenhand.model.suite import Case, Prompt


@click.group("list", short_help="Show what a suite resolves to, and the assertions there are.")
def command() -> None:
    """Show what a suite resolves to, and the assertions there are."""


def _json_option(function: Function) -> Function:
    return click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")(function)


@command.command("tests")
@suite_argument
@click.option(
    "--generators", is_flag=True, help="Run the programs that write cases, and list what they write."
)
@allow_outside_option
@_json_option
def tests(path: Path, generators: bool, allow_outside: tuple[Path, ...], as_json: bool) -> None:
    """List the cases of a suite with their tags, assertions and places."""
    from evenhand.cli.suites import loaded

    cases = loaded(path, generators=generators, allow_outside=allow_outside).cases
    rows = (
        (case.id, " ".join(case.tags), str(len(case.assertions)), str(case.location or "")) for case in cases
    )
    _show(("test", "tags", "assertions", "place"), rows, (_case(case) for case in cases), as_json)


@command.command("providers")
@suite_argument
@allow_outside_option
@_json_option
def providers(path: Path, allow_outside: tuple[Path, ...], as_json: bool) -> None:
    """List the providers of a suite."""
    from evenhand.cli.suites import loaded

    found = loaded(path, generators=False, allow_outside=allow_outside).providers
    described = [{"id": p.id, "type": p.__struct_config__.tag, "label": p.label} for p in found]
    rows = ((p.id, str(p.__struct_config__.tag), p.label or "") for p in found)
    _show(("provider", "type", "label"), rows, described, as_json)


@command.command("prompts")
@suite_argument
@allow_outside_option
@_json_option
def prompts(path: Path, allow_outside: tuple[Path, ...], as_json: bool) -> None:
    """List the prompts of a suite."""
    from evenhand.cli.suites import loaded

    found = loaded(path, generators=False, allow_outside=allow_outside).prompts
    described = [_prompt(prompt) for prompt in found]
    rows = ((p["id"], p["form"], p["label"] or "", p["location"] or "") for p in described)
    _show(("prompt", "form", "label", "place"), rows, described, as_json)


@command.command("assertions")
@_json_option
def assertions(as_json: bool) -> None:
    """List the assertion kinds. Each also exists as `not-<kind>`."""
    from evenhand.model.assertion import ASSERTIONS
    from evenhand.model.describe import summary_of

    kinds = ASSERTIONS.all()
    rows = ((name, cls.tier, summary_of(cls)) for name, cls in kinds.items())
    _show(("kind", "runs", "passes when"), rows, (_kind(name, cls) for name, cls in kinds.items()), as_json)


def _show(
    headings: Sequence[str], rows: Iterable[Sequence[str]], values: Iterable[object], as_json: bool
) -> None:
    from evenhand.cli.columns import print_columns, print_json_array
    from evenhand.cli.terminal import note

    if as_json:
        print_json_array(values)
    elif not print_columns(headings, rows):
        note(f"there are no {headings[0]}s")


def _case(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "description": case.description,
        "tags": case.tags,
        "vars": {name: value.authored for name, value in case.vars.items()},
        "history": len(case.history),
        "assertions": [_label(assertion) for assertion in case.assertions],
        "threshold": case.threshold,
        "cache_salt": case.cache_salt,
        "only_providers": case.only_providers,
        "skip_providers": case.skip_providers,
        "expect_fail": case.expect_fail,
        "location": str(case.location) if case.location else None,
    }


def _label(assertion: Assertion) -> str:
    """The kind as a suite writes it, with those inside a group: `any-of(contains, not-regex)`."""
    kind = f"not-{assertion.kind}" if assertion.negate else assertion.kind
    inner = ", ".join(_label(member) for member in assertion.members)
    return f"{kind}({inner})" if inner else kind


def _prompt(prompt: Prompt) -> dict[str, Any]:
    turns = len(prompt.messages)
    return {
        "id": prompt.id,
        "form": "text" if prompt.template is not None else f"{turns} {'turn' if turns == 1 else 'turns'}",
        "label": prompt.label,
        "location": str(prompt.location) if prompt.location else None,
    }


def _kind(name: str, cls: type[Assertion]) -> dict[str, Any]:
    from evenhand.model.describe import details_of, options_of, summary_of

    return {
        "kind": name,
        "tier": cls.tier,
        "summary": summary_of(cls),
        "details": details_of(cls),
        "options": [option._asdict() for option in options_of(cls)],
        "examples": list(_examples(cls)),
    }


def _examples(cls: type[Assertion]) -> Iterator[dict[str, Any]]:
    for example in cls.examples:
        yield {
            "assert": {"type": cls.__struct_config__.tag, **example.options},
            "output": example.output,
            "vars": example.vars,
            "response": example.response,
            "expect": example.expect,
        }
