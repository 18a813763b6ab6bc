"""The documents are complete, current, and everything in them works."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from evenhand.cli.main import cli
from evenhand.errors import ErrorClass, ExitCode
from evenhand.model.assertion import ASSERTIONS
from evenhand.model.provider import PROVIDERS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)]*)?\)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(language: str) -> list[pytest.param]:  # type: ignore[valid-type]
    return [
        pytest.param(match[2], id=f"{name_of(page)}-{number}")
        for page in PAGES
        for number, match in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")))
        if match[1] == language
    ]


def reference(page: str) -> str:
    return (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")


def test_generated_pages_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "generate_reference.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ASSERTIONS.all())
def test_assertion_is_documented_with_a_passing_and_a_failing_example(name: str) -> None:
    cls = ASSERTIONS.all()[name]
    assert f"## {name}\n" in reference("assertions.md")
    assert {"pass", "fail"} <= {example.expect for example in cls.examples}


@pytest.mark.parametrize("name", PROVIDERS.all())
def test_provider_is_documented_with_an_example(name: str) -> None:
    assert f"## {name}\n" in reference("providers.md")
    assert PROVIDERS.all()[name].example


def test_error_classes_and_exit_codes_are_documented() -> None:
    page = reference("errors.md")
    assert all(f"| `{error_class.value}` |" in page for error_class in ErrorClass)
    assert all(f"| {code.value} |" in page for code in ExitCode)


def commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], click.Command]]:
    found = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            found += commands(inner, (*path, name))
    return found


@pytest.mark.parametrize(
    ("path", "command"), commands(cli), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_command_and_its_options_are_documented(path: tuple[str, ...], command: click.Command) -> None:
    page = reference("cli.md")
    assert " ".join(["evenhand", *path]) in page
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.help, parameter.name
            assert all(option in page for option in parameter.opts)


def test_every_option_of_a_kind_or_type_says_what_it_means() -> None:
    from evenhand.model.describe import options_of

    silent = [
        f"{name}.{option.name}"
        for registry in (ASSERTIONS, PROVIDERS)
        for name, cls in registry.all().items()
        for option in options_of(cls)
        if not option.description
    ]
    assert silent == []


def test_every_key_of_a_suite_says_what_it_means() -> None:
    rows = [line for line in reference("suite.md").splitlines() if line.startswith("| `")]
    assert len(rows) > 40
    assert [row for row in rows if row.rstrip().endswith("|  |")] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [match[1] for match in LINK.finditer(text) if "://" not in match[1]]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("text", blocks("console"))
def test_commands_in_the_documents_exist(text: str) -> None:
    for line in text.splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[:1] == ["evenhand"]:
            command: click.Command = cli
            rest = words[1:]
            while isinstance(command, click.Group) and rest:
                inner = command.get_command(click.Context(command), rest[0])
                if inner is None:
                    break
                command, rest = inner, rest[1:]
            command.make_context("evenhand", rest, resilient_parsing=False).close()
        if words[:1] == ["make"]:
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_public_functions_and_classes_say_what_they_are_for() -> None:
    import importlib
    import pkgutil

    import evenhand

    silent = []
    for module in pkgutil.walk_packages(evenhand.__path__, "evenhand."):
        if module.name == "evenhand.__main__":
            continue
        loaded = importlib.import_module(module.name)
        if not loaded.__doc__:
            silent.append(module.name)
        for name, value in vars(loaded).items():
            is_own = getattr(value, "__module__", None) == module.name and not name.startswith("_")
            if is_own and (inspect.isclass(value) or inspect.isfunction(value)) and not inspect.getdoc(value):
                silent.append(f"{module.name}.{name}")
    assert silent == []


def test_the_table_of_suite_keys_holds_those_of_every_form_of_a_tests_entry() -> None:
    table = (Path(__file__).parents[1] / "docs" / "reference" / "suite.md").read_text(encoding="utf-8")
    for key in ("id", "source", "template", "generator", "generator.command"):
        assert f"| `tests[].{key}` |" in table
