"""Equal digests mean an equal question."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.images import PNG
from support.written import PROVIDER, load

BASE: dict[str, Any] = {
    "prompts": [{"id": "a", "template": "{{ q }}{{ env.A }}"}],
    "defaults": {"vars": {"d": 1}, "assert": [{"type": "is-json"}]},
    "tests": [
        {"id": "x", "vars": {"q": "1"}, "assert": [{"type": "contains", "value": "y"}]},
        "file://c.csv",
    ],
}
FILES = {"c.csv": "id,q\nr,2\n"}
ENVIRON = {"A": "1"}


def digests(
    folder: Path, change: Mapping[str, Any], files: Mapping[str, str] = {}, **options: Any
) -> dict[str, str]:
    options = {"environ": ENVIRON, **options}
    return dict(load(folder, {**BASE, **change}, {**FILES, **files}, **options).digests)


def changed(
    folder: Path, change: Mapping[str, Any], files: Mapping[str, str] = {}, **options: Any
) -> set[str]:
    before, after = digests(folder, {}), digests(folder, change, files, **options)
    assert before.keys() == after.keys()
    return {part for part in before if before[part] != after[part]}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({}, set()),
        ({"description": "other", "suite": "other", "runner": {"concurrency": 2}}, set()),
        ({"prompts": [{"id": "a", "template": "{{ q }}?{{ env.A }}"}]}, {"prompts"}),
        ({"prompts": [{"id": "b", "template": "{{ q }}{{ env.A }}"}]}, {"prompts"}),
        ({"tools": [{"name": "t"}]}, {"prompts", "tools"}),
        ({"providers": [{**PROVIDER, "command": ["false"]}]}, {"providers"}),
        ({"defaults": {**BASE["defaults"], "vars": {"d": 2}}}, {"tests"}),
        ({"defaults": {**BASE["defaults"], "assert": []}}, {"asserts"}),
        ({"tests": [{**BASE["tests"][0], "vars": {"q": "2"}}, "file://c.csv"]}, {"tests"}),
        ({"tests": [{**BASE["tests"][0], "id": "z"}, "file://c.csv"]}, {"tests", "asserts"}),
        ({"tests": [{**BASE["tests"][0], "assert": []}, "file://c.csv"]}, {"asserts"}),
        ({"tests": [{**BASE["tests"][0], "tags": ["x"], "description": "y"}, "file://c.csv"]}, set()),
        ({"tests": [BASE["tests"][0], {"source": "file://c.csv", "template": True}]}, {"tests"}),
    ],
)
def test_a_digest_changes_with_its_part_alone(
    change: dict[str, Any], parts: set[str], tmp_path: Path
) -> None:
    assert changed(tmp_path, change) == parts


def test_a_digest_follows_the_content_of_test_files(tmp_path: Path) -> None:
    assert changed(tmp_path, {}, {"c.csv": "id,q\nr,3\n"}) == {"tests"}


def test_a_digest_does_not_depend_on_how_a_file_is_written(tmp_path: Path) -> None:
    assert changed(tmp_path, {}, {"c.csv": '"id";"q"\r\n"r";"2"\r\n'}) == set()


def test_a_digest_follows_the_environment_that_templates_see(tmp_path: Path) -> None:
    assert changed(tmp_path, {}, environ={"A": "2"}) == {"env"}
    assert changed(tmp_path, {}, environ={"A": "1", "B": "2"}) == set()


def test_a_digest_follows_files_that_values_are_read_from(tmp_path: Path) -> None:
    change = {"tests": [{"id": "x", "vars": {"q": {"$file": "f.txt"}}}]}
    before = digests(tmp_path, change, {"f.txt": "one"})
    after = digests(tmp_path, change, {"f.txt": "two"})
    assert {part for part in before if before[part] != after[part]} == {"files"}


def test_a_digest_follows_prompt_files(tmp_path: Path) -> None:
    change = {"prompts": [{"id": "a", "template": "file://p.txt"}]}
    before = digests(tmp_path, change, {"p.txt": "{{ q }}"})
    after = digests(tmp_path, change, {"p.txt": "{{ q }}!"})
    assert {part for part in before if before[part] != after[part]} == {"prompts", "files"}


def test_a_digest_follows_histories_and_images(tmp_path: Path) -> None:
    block = {"type": "image", "file": "i.png"}
    history = [{"role": "user", "content": [block]}]
    change = {
        "tests": [{"history": history, "vars": {"q": 1}}, {"history": "file://h.yaml", "vars": {"q": 2}}]
    }
    files: dict[str, str | bytes] = {"i.png": PNG, "h.yaml": "- {role: user, content: x}"}
    before = digests(tmp_path, change, files)
    assert digests(tmp_path, change, {**files, "i.png": PNG + b"!"})["files"] != before["files"]
    assert (
        digests(tmp_path, change, {**files, "h.yaml": "- {role: user, content: y}"})["files"]
        != before["files"]
    )
    assert digests(tmp_path, change, files) == before
