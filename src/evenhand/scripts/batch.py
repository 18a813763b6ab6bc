"""What is asked of a worker in one message, and what it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

Purpose = Literal["verdict", "value"]
"""What scripts are asked for: a verdict on the output, or a new output."""


class Given(msgspec.Struct, frozen=True):
    """A value on its way to a worker: plain text, or JSON text with what JSON cannot hold beside it."""

    text: str = ""
    is_text: bool = False
    specials: str = ""


class Script(msgspec.Struct, frozen=True):
    """One evaluation: what to run, and the configuration that belongs to it alone.

    `key` names the source in all workers of a pool.
    """

    key: int
    source: Any
    timeout_ms: float
    config: Given = Given()


class Thrown(msgspec.Struct, frozen=True):
    """What a script threw."""

    name: str = ""
    message: str = ""
    stack: str = ""


class Uncompiled(msgspec.Struct, frozen=True):
    """Why a source cannot be run, with the 1-based place in it, 0 where unknown."""

    error: str
    line: int = 0
    column: int = 0


class Answer(msgspec.Struct, frozen=True):
    """What became of one script. Exactly one of the fields before `console` is set."""

    returned: Any = msgspec.UNSET
    value: str | None = None
    """The JSON text of what a script returned that was asked for a value."""
    unfit: str = ""
    """Why what it returned is no value: what it is, in words."""
    threw: Thrown | None = None
    uncompiled: Uncompiled | None = None
    lacks: str = ""
    """The feature that the script used and that its engine lacks."""
    memory: bool = False
    """Whether the memory limit was hit."""
    too_large: bool = False
    """Whether what it returned is larger than a verdict may be."""
    crowded: bool = False
    """Whether there was no room left for what it answered."""
    unsettled: bool = False
    """Whether it waits for something that will never come."""
    broken: str = ""
    """Why the script could not be run, or the worker not go on."""
    timed_out: bool = False
    unknown: bool = False
    console: tuple[str, ...] = ()


class Reply(msgspec.Struct, frozen=True):
    """One frame of a worker."""

    ready: bool = False
    results: tuple[tuple[int, msgspec.Raw], ...] = ()
    done: bool = False
    last: bool = False
    """Whether the worker ends after this batch, since it no longer trusts itself."""


MAX_ANSWERED = 64 * 1024 * 1024
"""Bytes that the scripts of one case may answer together, since a case keeps all of them at once."""


class Room:
    """What is left for the answers of one case's scripts."""

    def __init__(self, left: int = MAX_ANSWERED) -> None:
        self.left = left

    def takes(self, size: int) -> bool:
        """Whether an answer of so many bytes still fits; it then takes up its place."""
        if size > self.left:
            return False
        self.left -= size
        return True


class Batch:
    """The scripts of one case over one answer, and their answers as they come in."""

    def __init__(
        self,
        scripts: Sequence[Script],
        output: Given,
        context: Given,
        *,
        purpose: Purpose = "verdict",
        dry: bool = False,
        room: Room | None = None,
    ) -> None:
        """`dry` makes the scripts ready to run and runs none; `room` is shared with other batches of the case."""
        self.room = room or Room()
        self.scripts = scripts
        self.purpose = purpose
        self.dry = dry
        self.output = output
        self.context = context
        self.answers: list[Answer | None] = [None] * len(scripts)
        self.done: asyncio.Future[list[Answer]] = asyncio.get_running_loop().create_future()

    @property
    def size(self) -> int:
        """Characters of what the scripts look at."""
        return len(self.output.text) + len(self.context.text)

    def missing(self) -> list[int]:
        """The scripts without an answer, in their order."""
        return [index for index, answer in enumerate(self.answers) if answer is None]

    def settle(self) -> None:
        """Hand over the answers if all are there."""
        if not self.done.done() and None not in self.answers:
            self.done.set_result([answer for answer in self.answers if answer is not None])
