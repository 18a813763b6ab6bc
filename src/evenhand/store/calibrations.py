"""Calibrations of judges, kept beside the run store."""

from __future__ import annotations

from pathlib import Path

import msgspec

from evenhand.errors import StoreError
from evenhand.io.replacing import replacing
from evenhand.model.calibration import Calibration

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


def store_calibration(state: Path, calibration: Calibration) -> None:
    """Keep a calibration in place of the judge's earlier one. Raises `StoreError`."""
    path = state / FILE_NAME
    known = {**stored_calibrations(state), calibration.judge_digest: calibration}
    try:
        with replacing(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(known)).decode() + "\n")
    except OSError as error:
        raise StoreError(f"cannot be written: {error.strerror or error}; make it writable", path) from error
