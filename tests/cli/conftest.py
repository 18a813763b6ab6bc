from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from evenhand.cli.main import main


class Done(NamedTuple):
    """What a command said and how it ended."""

    code: int
    out: str
    err: str


Evenhand = Callable[..., Done]


@pytest.fixture
def evenhand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Iterator[Evenhand]:
    """Calls the command line in this process, in an empty folder with a state folder of its own."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "state"))
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: object) -> Done:
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    yield call
    logger = logging.getLogger("evenhand")
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)
