"""Sets of characters in a pattern, written so that every engine reads them alike.

Engines disagree on nested classes and set operations. Here a set is a plain class where that can say it, else an
expression of plain classes and look-ahead that matches exactly one character.
"""

from __future__ import annotations

from typing import NamedTuple

ANY = "(?s:.)"
NOTHING = "(?!)"

ASCII_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\x09\x20",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\x09-\x0d\x20",
    "upper": "A-Z",
    "word": r"0-9A-Z\x5fa-z",
    "xdigit": "0-9A-Fa-f",
}
"""The named classes of the form `[:alpha:]`, as items of a class."""


class Set(NamedTuple):
    """What one character may be: the items of a class, which may be negated, or an expression."""

    items: str = ""
    negated: bool = False
    expression: str = ""

    @property
    def text(self) -> str:
        """The set as a pattern for one character."""
        if self.expression:
            return self.expression
        if self.negated and r"\p{" in self.items and r"\P{" in self.items:
            # The package `regex` takes `[^\p{L}\P{L}]` for every character.
            return f"(?:(?![{self.items}]){ANY})"
        if self.items:
            return f"[{'^' if self.negated else ''}{self.items}]"
        return ANY if self.negated else NOTHING

    def inverted(self) -> Set:
        """The set of every other character."""
        if self.expression:
            return Set(expression=f"(?:(?!{self.expression}){ANY})")
        return self._replace(negated=not self.negated)

    def combined(self, operator: str, other: Set) -> Set:
        """The set that `&&`, `--` or `~~` makes of this one and another."""
        left, right = self.text, other.text
        if operator == "&&":
            return Set(expression=f"(?:(?={right}){left})")
        if operator == "--":
            return Set(expression=f"(?:(?!{right}){left})")
        return Set(expression=f"(?:(?!{right}){left}|(?!{left}){right})")


PERL_CLASSES = {
    "d": Set(r"\p{Nd}"),
    "s": Set(r"\p{White_Space}"),
    "w": Set(r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}"),
}
"""What `\\d`, `\\s` and `\\w` are: Unicode Technical Standard 18, annex C."""


def union(sets: list[Set]) -> Set:
    """The set of every character that one of the sets holds."""
    if len(sets) == 1:
        return sets[0]
    listed = "".join(each.items for each in sets if not each.negated and not each.expression)
    others = [each.text for each in sets if each.negated or each.expression]
    if not others:
        return Set(listed)
    return Set(expression=f"(?:{'|'.join([f'[{listed}]'] * bool(listed) + others)})")


def escaped_literal(character: str) -> str:
    """One character as it can stand inside and outside of a class."""
    if character.isascii() and not character.isalnum():
        return f"\\x{ord(character):02x}"
    return character
