"""The run that somebody named the baseline of a suite, kept beside the run store."""

from __future__ import annotations

from pathlib import Path

import msgspec

from evenhand.errors import StoreError
from evenhand.io.replacing import replacing

FILE_NAME = "baselines.json"

_DECODER = msgspec.json.Decoder(dict[str, str])


def pinned(state: Path, suite_path: str) -> str | None:
    """The reference that is the baseline of a suite; None where nobody named one. Raises `StoreError`."""
    return _read(state).get(suite_path)


def pin(state: Path, suite_path: str, reference: str | None) -> None:
    """Name the baseline of a suite, or with None forget it. Raises `StoreError`."""
    pins = _read(state)
    if reference is None:
        pins.pop(suite_path, None)
    else:
        pins[suite_path] = reference
    path = state / FILE_NAME
    try:
        with replacing(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(pins)).decode() + "\n")
    except OSError as error:
        raise StoreError(f"cannot be written: {error.strerror or error}; make it writable", path) from error


def _read(state: Path) -> dict[str, str]:
    path = state / FILE_NAME
    try:
        return _DECODER.decode(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(f"cannot be read, found {error}; mend or remove it", path) from error
