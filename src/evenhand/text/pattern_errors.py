"""What can be wrong with a pattern, and with a search for one."""

from __future__ import annotations

from evenhand.errors import BrokenAssertion
from evenhand.text.excerpt import quoted

_CONTEXT_LENGTH = 24


class PatternError(ValueError):
    """A pattern that cannot be used: what is wrong, and the 0-based position in the pattern where that is known."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.position = position

    def located_in(self, source: str) -> PatternError:
        """The same error with its place told in words."""
        if self.position is None:
            return self
        near = source[self.position : self.position + _CONTEXT_LENGTH]
        where = f"at character {self.position + 1}" + (f", {quoted(near)}" if near else ", its end")
        return PatternError(f"{self.message} ({where})", self.position)


class PatternLimitExceeded(BrokenAssertion):
    """A search that was cut off before it was decided: nothing is known about the text."""
