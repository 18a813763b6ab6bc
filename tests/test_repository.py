"""What may not stand in the repository."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

REGISTRY_HOSTS = re.compile(
    r"(pypi\.org|pythonhosted\.org|registry\.npmjs|registry\.yarnpkg|crates\.io|proxy\.golang|repo1?\.maven|deb\.debian)",
    re.IGNORECASE,
)
OWN_MACHINE = re.compile(r"(/home/[a-z]+/|/root/|/Users/[A-Za-z]+/|/work/)")
DATA = ("tests/data/vectors/",)
"""Tables of inputs, whose text is data."""


def tracked_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def texts() -> list[tuple[str, str]]:
    found = []
    for name in tracked_files():
        if name == Path(__file__).relative_to(ROOT).as_posix() or name.startswith(DATA):
            continue
        try:
            found.append((name, (ROOT / name).read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return found


def test_the_package_installs_for_development_with_the_locked_tools_alone(tmp_path: Path) -> None:
    # The build tool would use `editables`, which is not among the locked tools, for another kind of editable install.
    script = (
        "import sys; sys.modules['editables'] = None; "
        "from hatchling.build import build_editable; build_editable(sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert [file.suffix for file in tmp_path.iterdir()] == [".whl"]


@pytest.mark.parametrize(("what", "pattern"), [("registry", REGISTRY_HOSTS), ("machine", OWN_MACHINE)])
def test_no_file_names_a_registry_or_somebodys_machine(what: str, pattern: re.Pattern[str]) -> None:
    assert [f"{name}: {match[0]}" for name, text in texts() if (match := pattern.search(text))] == []


def test_requirements_are_pinned_by_hash_and_name_no_address() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert "://" not in text
        pins = [line for line in text.splitlines() if "==" in line]
        assert pins
        assert all(line.endswith("\\") for line in pins)


def test_the_models_environment_has_what_evenhand_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[^\w.-]", dependency, maxsplit=1)[0] for dependency in project["dependencies"]}
    locked = (ROOT / "requirements" / "models.txt").read_text(encoding="utf-8")
    assert {name for name in names if f"\n{name}==" not in f"\n{locked}"} == set()
