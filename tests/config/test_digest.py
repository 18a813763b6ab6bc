"""Salts follow the content and the names of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from blake3 import blake3

from evenhand.config import digest
from evenhand.config.digest import Digests, digest_pattern
from evenhand.config.sandbox import Sandbox
from evenhand.errors import SuiteError
from support.case_files import write_files


def salt(folder: Path, pattern: str) -> str:
    return Digests(Sandbox(folder)).salt_of(pattern)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("$digest: a/*.md", "a/*.md"),
        (" $digest:a.md ", "a.md"),
        ("v1", None),
        ("x $digest: a", None),
        ("", None),
    ],
)
def test_salts_that_follow_files_are_told_from_text(text: str, pattern: str | None) -> None:
    assert digest_pattern(text) == pattern


def test_salt_is_the_hash_of_names_and_contents_in_order(tmp_path: Path) -> None:
    write_files(tmp_path, {"p/b.md": "world", "p/a.md": "hello"})
    expected = blake3(b"p/a.md\0hello\0p/b.md\0world\0").hexdigest()
    assert salt(tmp_path, "p/*.md") == f"blake3:{expected}"


def test_salt_changes_with_content_and_with_names(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "x"})
    first = salt(tmp_path, "*.md")
    write_files(tmp_path, {"a.md": "y"})
    second = salt(tmp_path, "*.md")
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    assert len({first, second, salt(tmp_path, "*.md")}) == 3


def test_pattern_is_computed_once_in_a_load(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "x"})
    digests = Digests(Sandbox(tmp_path))
    first = digests.salt_of("*.md")
    write_files(tmp_path, {"a.md": "y"})
    assert digests.salt_of("*.md") == first


@pytest.mark.parametrize(
    ("pattern", "message"), [("*.zip", "matched no files"), ("../*", "refuses to read outside")]
)
def test_pattern_without_files_to_read_is_refused(tmp_path: Path, pattern: str, message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        salt(tmp_path, pattern)


def test_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"a.md": "hello"})
    monkeypatch.setattr(digest, "MAX_DIGEST_BYTES", 4)
    with pytest.raises(SuiteError, match=r"a\.md: the files are larger than"):
        salt(tmp_path, "*.md")
