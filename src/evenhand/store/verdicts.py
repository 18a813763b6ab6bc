"""What people found of answers: one row for each answer, in a file that `evenhand calibrate` reads as it is."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Literal

import msgspec

from evenhand.errors import StoreError
from evenhand.io.replacing import replacing

NAME = "verdicts.jsonl"
"""The file in the state folder."""

MAX_BYTES = 64 << 20
"""Size of the file that is read."""

_LOCK = threading.Lock()


class HumanVerdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person found of one answer. It holds for that answer alone: another output is another row."""

    id: str
    """The test's id, the case's key and the digest of the output."""
    case_key: str
    output_digest: str
    output: str
    label: Literal["pass", "fail"]
    rubric: str | None = None
    """The criterion by which a model judged the answer, if one did."""
    prompt: str | None = None
    score: float | None = None
    """The score that would have been right, from 0 to 1."""
    comment: str = ""
    noted_at: str = ""
    """UTC, as `2026-01-02T03:04:05Z`."""


_ROW = msgspec.json.Decoder(HumanVerdict)


def keep_verdict(state: Path, verdict: HumanVerdict) -> None:
    """Write a verdict in the place of an earlier one on the same answer. Raises `StoreError`."""
    path = state / NAME
    with _LOCK:
        rows = [row for row in read_verdicts(state) if row.id != verdict.id]
        lines = [msgspec.json.encode(row) for row in (*rows, verdict)]
        # A file beyond what is read would take the pages of all cases with it.
        if sum(map(len, lines)) + len(lines) > MAX_BYTES:
            raise StoreError(
                f"no room for more than {MAX_BYTES >> 20} MB of verdicts; move the file away", path
            )
        try:
            with replacing(path) as file:
                file.writelines(f"{line.decode()}\n" for line in lines)
        except OSError as error:
            raise StoreError(f"the verdict cannot be kept: {error.strerror or error}", path) from None


def read_verdicts(state: Path) -> list[HumanVerdict]:
    """All verdicts, in the order in which they were given. Raises `StoreError` for a file that is none."""
    path = state / NAME
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"the verdicts cannot be read: {error.strerror or error}", path) from None
    if len(content) > MAX_BYTES:
        raise StoreError(f"more than {MAX_BYTES >> 20} MB of verdicts; move the file away", path)
    try:
        return [_ROW.decode(line) for line in content.splitlines() if line.strip()]
    except msgspec.MsgspecError as error:
        raise StoreError(f"no file of verdicts, found {error}; move it away", path) from None


def verdicts_on(state: Path, case_key: str) -> list[HumanVerdict]:
    """The verdicts on one case, the newest first."""
    return [row for row in reversed(read_verdicts(state)) if row.case_key == case_key]
