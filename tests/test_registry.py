"""Names that a suite can mention."""

from __future__ import annotations

import subprocess
import sys
import textwrap
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


def test_plugin_is_loaded_when_its_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "shouting.py").write_text(
        textwrap.dedent(
            '''
            from evenhand import ASSERTIONS, Assertion
            from evenhand.model.outcome import verdict

            @ASSERTIONS.register
            class Shouts(Assertion, frozen=True, tag="shouts"):
                """The output is in capital letters."""

                def evaluate(self, evidence):
                    return verdict(evidence.text.isupper(), "capital letters")
            '''
        ),
        encoding="utf-8",
    )
    metadata = tmp_path / "shouting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text("[evenhand.plugins]\nshouting = shouting\n", encoding="utf-8")
    (tmp_path / "evenhand.yaml").write_text(
        "version: 1\nproviders: [{type: echo}]\nprompts: [{id: p, template: HELLO}]\n"
        "tests: [{id: t, assert: [{type: shouts}, {type: not-shouts}]}]\n",
        encoding="utf-8",
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from evenhand.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", str(tmp_path), "--no-progress"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "shouts" in done.stdout
