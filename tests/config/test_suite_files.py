"""Prompts, turns and transcripts in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.config.sandbox import Sandbox
from evenhand.config.suite_files import SuiteFiles
from evenhand.errors import Location, SuiteError
from support.case_files import write_files
from support.images import PNG


def suite_files(folder: Path, files: dict[str, str | bytes]) -> SuiteFiles:
    write_files(folder, files)
    return SuiteFiles(Sandbox(folder))


def test_prompt_is_the_text_of_its_file_as_it_stands(tmp_path: Path) -> None:
    read = suite_files(tmp_path, {"p/ask.md": "Title\n---\n{{ q }}\n"}).text("file://p/ask.md")
    assert read.text == "Title\n---\n{{ q }}\n"
    assert read.name == str(tmp_path / "p/ask.md")


@pytest.mark.parametrize(
    ("name", "content"),
    [("t.yaml", "- role: user\n  content: hi\n"), ("t.json", '[\n {"role": "user",\n  "content": "hi"}]')],
)
def test_transcript_is_a_list_with_places(tmp_path: Path, name: str, content: str) -> None:
    read = suite_files(tmp_path, {name: content}).transcript(f"file://{name}")
    assert read.value == [{"role": "user", "content": "hi"}]
    assert read.locate((0, "content")).line == content[: content.index("hi")].count("\n") + 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.yaml", "role: user", "a transcript must hold a list of turns"),
        ("t.txt", "hi", "unsupported transcript extension '.txt'; use one of .json, .yaml, .yml"),
    ],
)
def test_other_transcripts_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(SuiteError, match=message) as caught:
        suite_files(tmp_path, {name: content}).transcript(f"file://{name}")
    assert caught.value.problems[0].location is not None


def test_transcript_is_read_once(tmp_path: Path) -> None:
    files = suite_files(tmp_path, {"t.json": "[]"})
    assert files.transcript("file://t.json") is files.transcript("file://t.json")


def test_every_reader_stays_in_the_sandbox(tmp_path: Path) -> None:
    files = suite_files(tmp_path, {})
    for read in (files.text, files.transcript, files.image, files.salt):
        with pytest.raises(SuiteError, match="--allow-outside"):
            read("../secret.json")
    with pytest.raises(SuiteError, match="--allow-outside"):
        files.resolved({"$file": "../secret.json"}, lambda path: Location("suite.yaml"))


def test_an_image_is_named_by_its_path_relative_to_the_suite(tmp_path: Path) -> None:
    block = suite_files(tmp_path, {"img/a.png": PNG}).image("file://img/a.png")
    assert (block["file"], block["media_type"]) == ("img/a.png", "image/png")
