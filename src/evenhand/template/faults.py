"""What can go wrong inside one rendering, and how much it may do."""

from __future__ import annotations

import time

MAX_WRITTEN = 32 * 2**20
"""Characters that one rendering may print, or build for one value."""

MAX_ITEMS = 500_000
"""Items that the lists of one rendering may hold in all, counted each time that one is assigned."""

MAX_LEVELS = 100
"""Levels of lists and mappings that a template may build."""

MAX_SECONDS = 5.0
"""Time that one rendering with loops may take; a guard for what the other limits do not count."""


class FilterError(Exception):
    """A filter or function that cannot answer.

    `depends_on_data` is false where no other data would help; `argument` is the place of the one argument that is
    to blame, where it is one.
    """

    def __init__(self, message: str, *, depends_on_data: bool = True, argument: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.depends_on_data = depends_on_data
        self.argument = argument
        self.name = ""
        """The filter or function, as templates call it."""


class UnusableValue(FilterError):
    """A value that no template can hold; `why` says so without naming it."""

    def __init__(self, why: str) -> None:
        super().__init__(f"a value that the template uses {why}")
        self.why = why


class UndefinedValue(FilterError):
    """A value that the engine would have passed on although it is undefined."""

    def __init__(self, offset: int) -> None:
        super().__init__("undefined value")
        self.offset = offset
        """Where the value stands in the source."""


class LimitExceeded(FilterError):
    """A rendering that does more than it may."""

    def __init__(self, message: str) -> None:
        super().__init__(message, depends_on_data=False)


class Meter:
    """What happens inside one rendering that the engine cannot report itself."""

    __slots__ = ("fault", "has_large_integer", "items", "raised", "started", "written")

    def __init__(self) -> None:
        self.has_large_integer = False
        """Whether an integer beyond 64 bits was ever met, which the engine itself cannot write as JSON."""
        self.reset()

    def reset(self) -> None:
        """Start a new rendering."""
        self.fault: FilterError | None = None
        """The first thing that went wrong where the engine swallows errors."""
        self.raised: FilterError | None = None
        """The last error raised into the engine, which may hand it back in a later rendering."""
        self.written = 0
        """Characters printed or built so far, as far as they are known."""
        self.items = 0
        self.started = 0.0

    def report(self, fault: FilterError) -> None:
        """Note a fault; the first one counts."""
        if self.fault is None:
            self.fault = fault

    def write(self, characters: int) -> None:
        """Count printed text. Raises `LimitExceeded`."""
        self.written += characters
        if self.written > MAX_WRITTEN:
            raise self.exceeded(f"prints more than {MAX_WRITTEN:,} characters")

    def build(self, characters: int) -> None:
        """Check the size of one value before it is built. Raises `LimitExceeded`."""
        if characters > MAX_WRITTEN:
            raise self.exceeded(f"builds a text of more than {MAX_WRITTEN:,} characters")

    def collect(self, items: int) -> None:
        """Count items of lists. Raises `LimitExceeded`."""
        self.items += items
        if self.items > MAX_ITEMS:
            raise self.exceeded(f"builds lists of more than {MAX_ITEMS:,} items in all")

    def step(self) -> None:
        """Look at the clock. Raises `LimitExceeded`."""
        if not self.started:
            self.started = time.monotonic()
        elif time.monotonic() - self.started > MAX_SECONDS:
            raise self.exceeded(f"takes longer than {MAX_SECONDS:g} seconds")

    def exceeded(self, message: str) -> LimitExceeded:
        """The error to raise where the rendering does more than it may."""
        self.raised = error = LimitExceeded(message)
        return error
