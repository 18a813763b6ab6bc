"""Labels of people over answers, from CSV or JSONL files."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from evenhand.errors import Location, Problem, SuiteError
from evenhand.registry import nearest

MAX_ROWS = 100_000
MAX_PROBLEMS = 50

_WORDS = {
    "pass": True, "true": True, "yes": True, "1": True,
    "fail": False, "false": False, "no": False, "0": False,
}  # fmt: skip
_COLUMNS = ("id", "output", "label", "rubric", "prompt")
_NOTED = ("case_key", "output_digest", "score", "comment", "noted_at")
"""Columns of verdicts that were given in the viewer, which say nothing to a judge."""


class LabelledItem(msgspec.Struct, frozen=True, kw_only=True):
    """One answer and what people said of it, each in turn."""

    id: str
    output: str
    labels: tuple[bool, ...]
    rubric: str | None = None
    prompt: str | None = None

    @property
    def label(self) -> bool | None:
        """What most of them said; None where they are split."""
        passed = sum(self.labels)
        failed = len(self.labels) - passed
        return None if passed == failed else passed > failed


def read_labels(path: Path) -> list[LabelledItem]:
    """The items of a file; rows with the same `id` are labels of several people. Raises `SuiteError`."""
    problems: list[Problem] = []
    rows: dict[str, list[tuple[dict[str, Any], bool]]] = defaultdict(list)
    try:
        for count, (line, row) in enumerate(_rows(path)):
            if count >= MAX_ROWS:
                problems.append(_problem(path, line, f"more than {MAX_ROWS:,} labels", "split the file"))
                break
            problem, label = _checked(path, line, row)
            if problem is not None:
                problems.append(problem)
                if len(problems) >= MAX_PROBLEMS:
                    break
                continue
            rows[str(row.get("id") or f"row/{line}")].append((row, label))
    except OSError as error:
        problems.append(
            _problem(path, 0, f"cannot be read: {error.strerror or error}", "name a file of labels")
        )
    except (UnicodeError, ValueError, csv.Error) as error:
        problems.append(_problem(path, 0, f"no CSV or JSONL, found {error}", "mend it"))
    items = [_item(name, found, path, problems) for name, found in rows.items()]
    if not items and not problems:
        problems.append(
            _problem(path, 0, "no labels, found an empty file", "add rows with `output` and `label`")
        )
    if problems:
        raise SuiteError(problems)
    return items


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        if path.suffix.lower() in (".jsonl", ".ndjson", ".json"):
            for line, text in enumerate(file, start=1):
                if text.strip():
                    row = json.loads(text)
                    if not isinstance(row, dict):
                        raise ValueError(f"line {line} is no object")
                    yield line, row
        else:
            reader = csv.DictReader(file)
            header = reader.fieldnames or ()
            if unknown := [name for name in header if name not in (*_COLUMNS, *_NOTED)]:
                raise SuiteError([_unknown(path, 1, name) for name in unknown[:MAX_PROBLEMS]])
            for row in reader:
                yield reader.line_num, row


def _checked(path: Path, line: int, row: dict[str, Any]) -> tuple[Problem | None, bool]:
    unknown = [name for name in row if name not in (*_COLUMNS, *_NOTED)]
    if unknown:
        return _unknown(path, line, unknown[0]), False
    if not isinstance(row.get("output"), str):
        return _problem(path, line, "`output` is missing or no text", "write the answer there"), False
    for name in ("rubric", "prompt"):
        if row.get(name) is not None and not isinstance(row[name], str):
            return _problem(path, line, f"`{name}` is no text", "write it as text"), False
    label = row.get("label")
    verdict = label if isinstance(label, bool) else _WORDS.get(str(label).strip().lower())
    if verdict is None:
        return _problem(
            path, line, f"`label` is neither pass nor fail, found {label!r}", "write pass or fail"
        ), False
    return None, verdict


def _item(
    name: str, rows: list[tuple[dict[str, Any], bool]], path: Path, problems: list[Problem]
) -> LabelledItem:
    first = rows[0][0]
    if any(row["output"] != first["output"] or row.get("rubric") != first.get("rubric") for row, _ in rows):
        problems.append(
            _problem(path, 0, f"item {name!r} has several outputs or rubrics", "give each its own id")
        )
    return LabelledItem(
        id=name,
        output=first["output"],
        labels=tuple(label for _, label in rows),
        rubric=first.get("rubric") or None,
        prompt=first.get("prompt") or None,
    )


def _unknown(path: Path, line: int, name: str | None) -> Problem:
    if name is None:
        return _problem(path, line, "more cells than the header has columns", "quote cells that hold a comma")
    close = nearest(name, _COLUMNS)
    known = f"columns are {', '.join(_COLUMNS)}"
    return _problem(
        path, line, f"unknown column {name!r}", f"did you mean {close!r}? {known}" if close else known
    )


def _problem(path: Path, line: int, message: str, hint: str) -> Problem:
    return Problem(message, hint=hint, location=Location(str(path), line))
