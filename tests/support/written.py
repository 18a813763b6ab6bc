"""Suites as people write them, in a folder of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.config.load import load_suite
from evenhand.errors import Problem, SuiteError
from evenhand.model.suite import Suite

PROVIDER = {"id": "p", "type": "exec", "command": ["true"]}


def write(folder: Path, document: Any, files: Mapping[str, str | bytes] = {}) -> Path:
    """A suite file in `folder`, from bytes, YAML text or a value, with other files beside it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path = folder / "evenhand.yaml"
    text = document if isinstance(document, (str, bytes)) else json.dumps(document, ensure_ascii=False)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return path


def whole(fragment: Mapping[str, Any]) -> dict[str, Any]:
    """A part of a suite with what every suite needs."""
    return {"version": 1, "providers": [PROVIDER], **fragment}


def load(folder: Path, document: Any, files: Mapping[str, str | bytes] = {}, **options: Any) -> Suite:
    """The suite, loaded from `folder`. A document that is a mapping need not name a provider."""
    written = whole(document) if isinstance(document, dict) else document
    return load_suite(write(folder, written, files), environ=options.pop("environ", {}), **options)


def problems(
    folder: Path, document: Any, files: Mapping[str, str | bytes] = {}, **options: Any
) -> list[Problem]:
    """What is wrong with a suite that cannot be loaded."""
    with pytest.raises(SuiteError) as caught:
        load(folder, document, files, **options)
    return caught.value.problems


def messages(folder: Path, document: Any, files: Mapping[str, str | bytes] = {}, **options: Any) -> list[str]:
    """The problems of a suite as they are shown, without the path of its folder."""
    found = problems(folder, document, files, **options)
    return [str(problem).replace(f"{folder}/", "") for problem in found]


def warnings(folder: Path, document: Any, files: Mapping[str, str | bytes] = {}, **options: Any) -> list[str]:
    """The warnings about a suite as they are shown, without the path of its folder."""
    found = load(folder, document, files, **options).warnings
    return [str(warning).replace(f"{folder}/", "") for warning in found]
