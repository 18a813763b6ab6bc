"""Calibrations of judges, kept beside the run store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from evenhand.analysis.agreement import Confusion, corrected_rate
from evenhand.errors import StoreError
from evenhand.io.replacing import replacing
from evenhand.model.assertion import ASSERTIONS
from evenhand.model.calibration import Calibration, CorrectedRate
from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult, CaseResult

FILE_NAME = "calibrations.json"
KNOWN_VERSION = 1


class _Version(msgspec.Struct):
    schema_version: int


def stored_calibrations(state: Path) -> dict[str, Calibration]:
    """The latest calibration of each judge, by the judge's digest. Raises `StoreError`."""
    path = state / FILE_NAME
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror or error}", path) from error
    try:
        for version in msgspec.json.decode(content, type=dict[str, _Version]).values():
            if version.schema_version > KNOWN_VERSION:
                raise StoreError(
                    f"written by a newer evenhand, found `schema_version` {version.schema_version} where this one "
                    f"knows up to {KNOWN_VERSION}; upgrade with `pip install --upgrade evenhand`",
                    path,
                )
        return msgspec.json.decode(content, type=dict[str, Calibration])
    except msgspec.MsgspecError as error:
        raise StoreError(f"no calibrations, found {error}; remove it and calibrate again", path) from error


def corrected(results: Iterable[CaseResult], calibration: Calibration) -> CorrectedRate | None:
    """What the judge's verdicts among results come to, given how it errs; None where that cannot be said.

    Counted are verdicts of the suite's own judge without a threshold or vote of their own; a negated one counts as the
    judge gave it.
    """
    judged = passed = 0
    for result in results:
        for found in result.asserts:
            verdict = _judges_verdict(found)
            if verdict is not None:
                judged += 1
                passed += verdict
    confusion = Confusion(
        calibration.right_pass, calibration.wrong_pass, calibration.right_fail, calibration.wrong_fail
    )
    interval = corrected_rate(passed, judged, confusion)
    if interval is None or confusion.sensitivity is None or confusion.specificity is None:
        return None
    return CorrectedRate(
        passed=passed,
        judged=judged,
        rate=interval.rate,
        low=interval.low,
        high=interval.high,
        sensitivity=confusion.sensitivity,
        specificity=confusion.specificity,
        items=calibration.items,
        calibrated_at=calibration.calibrated_at,
    )


def _judges_verdict(found: AssertResult) -> bool | None:
    """What the suite's judge said, where the assertion is its verdict."""
    if found.status not in (Status.PASS, Status.FAIL) or not isinstance(found.criteria, dict):
        return None
    kind = ASSERTIONS.find(found.kind)
    if kind is None or not getattr(kind, "is_judges_verdict", False):
        return None
    if any(found.criteria.get(name) is not None for name in ("grader", "threshold", "vote")):
        return None
    return (found.status is Status.PASS) != bool(found.criteria.get("negate"))


def store_calibration(state: Path, calibration: Calibration) -> None:
    """Keep a calibration in place of the judge's earlier one. Raises `StoreError`."""
    path = state / FILE_NAME
    known = {**stored_calibrations(state), calibration.judge_digest: calibration}
    try:
        with replacing(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(known)).decode() + "\n")
    except OSError as error:
        raise StoreError(f"cannot be written: {error.strerror or error}; make it writable", path) from error
