"""Names that a suite can mention."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.model.assertion import Assertion
from evenhand.registry import Registry, nearest


def registry() -> Registry[type[Assertion]]:
    return Registry("thing", lambda: None)


class Known(Assertion, frozen=True, tag="known"):
    """A kind for this test."""


def test_class_is_found_under_its_tag() -> None:
    names = registry()
    names.register(Known)
    assert names.find("known") is Known
    assert names.all() == {"known": Known}
    assert names.find("unknown") is None


def test_name_has_one_owner() -> None:
    names = registry()
    names.register(Known)

    class Other(Assertion, frozen=True, tag="known"):
        """Another kind with the same name."""

    with pytest.raises(TypeError, match="already taken"):
        names.register(Other)


def test_class_without_a_docstring_is_refused() -> None:
    class Silent(Assertion, frozen=True, tag="silent"):
        pass

    Silent.__doc__ = None
    with pytest.raises(TypeError, match="no docstring"):
        registry().register(Silent)


@pytest.mark.parametrize(("typed", "meant"), [("contain", "contains"), ("Regexp", "regex"), ("zzz", None)])
def test_nearest_name_is_what_was_meant(typed: str, meant: str | None) -> None:
    assert nearest(typed, ["contains", "regex", "length"]) == meant


SHOUTING = '''
from evenhand import ASSERTIONS, Assertion
from evenhand.model.outcome import verdict

@ASSERTIONS.register
class Shouts(Assertion, frozen=True, tag="shouts"):
    """The output is in capital letters."""

    def evaluate(self, evidence):
        return verdict(evidence.text.isupper(), "capital letters")
'''


def run_with_plugin(folder: Path, code: str, provider: str = "echo") -> subprocess.CompletedProcess[str]:
    """Run a suite that names the kind `shouts`, in a process in which a package `shouting` is installed."""
    (folder / "shouting.py").write_text(code, encoding="utf-8")
    metadata = folder / "shouting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text("[evenhand.plugins]\nshouting = shouting\n", encoding="utf-8")
    (folder / "evenhand.yaml").write_text(
        f"version: 1\nproviders: [{{type: {provider}}}]\nprompts: [{{id: p, template: HELLO}}]\n"
        "tests: [{id: t, assert: [{type: shouts}, {type: not-shouts}]}]\n",
        encoding="utf-8",
    )
    main = f"import sys; sys.path.insert(0, {str(folder)!r}); from evenhand.__main__ import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", main, "run", str(folder), "--no-progress"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_plugin_is_loaded_when_its_kind_is_named(tmp_path: Path) -> None:
    done = run_with_plugin(tmp_path, SHOUTING)
    assert done.returncode == 1, done.stderr
    assert "shouts" in done.stdout


def test_plugin_that_cannot_be_loaded_is_named_without_a_traceback(tmp_path: Path) -> None:
    done = run_with_plugin(tmp_path, "import no_such_module_of_a_plugin\n")
    assert done.returncode == 3
    assert "the plugin 'shouting' cannot be loaded from `shouting`: ModuleNotFoundError: " in done.stderr
    assert "mend or uninstall its package" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return evidence.text.isupper()", "`Shouts.evaluate` must return an `Outcome`, found true;"),
        ("return evidence.txt", "AttributeError: 'Evidence' object has no attribute 'txt' (shouting.py:"),
    ],
)
def test_a_kind_of_a_plugin_that_breaks_is_told_with_its_place(
    body: str, message: str, tmp_path: Path
) -> None:
    wrong = SHOUTING.replace('return verdict(evidence.text.isupper(), "capital letters")', body)
    done = run_with_plugin(tmp_path, wrong)
    assert done.returncode == 3, done.stderr
    assert message in " ".join(done.stdout.split())
    assert "or of a plugin" in done.stdout
    assert done.stderr == ""


ECHOING = (
    SHOUTING
    + '''
from evenhand import PROVIDERS, Provider

class Session:
    async def complete(self, request):
        return request.prompt

    async def close(self):
        pass

@PROVIDERS.register
class Echoing(Provider, frozen=True, kw_only=True, tag="echoing"):
    """Answers in a wrong form."""

    def open(self, context):
        return Session()
'''
)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (ECHOING, "`complete` must return a `Response`, found the text"),
        (
            ECHOING.replace("return Session()", "raise ValueError('no table')"),
            "provider 'echoing' cannot be made ready: ValueError: no table (shouting.py:",
        ),
    ],
)
def test_a_provider_of_a_plugin_that_breaks_is_told_with_its_place(
    code: str, message: str, tmp_path: Path
) -> None:
    done = run_with_plugin(tmp_path, code, provider="echoing")
    assert done.returncode == 3, done.stderr
    assert message in " ".join(done.stdout.split())
    assert done.stderr == ""
