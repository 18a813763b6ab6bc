"""A cursor over a pattern in Rust's syntax: characters, escapes, character classes, and what verbose mode skips."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

from evenhand.text.pattern_class import ASCII_CLASSES, PERL_CLASSES, Set, escaped_literal, union
from evenhand.text.pattern_errors import PatternError

MAX_DEPTH = 64
"""Groups and classes that may stand inside one another."""

_WHITE_SPACE = frozenset("\t\n\v\f\r \x85\u200e\u200f\u2028\u2029")
_PROPERTY = re.compile(r"\\([pP])(?:\{([^}]*)\}|(\w))")
_HEXADECIMAL = re.compile(
    r"\\(?:[xuU]\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))"
)
_ASCII_CLASS = re.compile(r"\[:(\^?)([a-z]+):\]")
_CONTROLS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_OPERATORS = ("&&", "--", "~~")


class Flags(NamedTuple):
    """The flags in force at one place of a pattern, by their letters."""

    i: bool = False
    m: bool = False
    s: bool = False
    R: bool = False
    U: bool = False
    u: bool = True
    x: bool = False


class Reader:
    """Reads from `at` on; every method leaves the cursor behind what it read."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.depth = 0
        self.flags = Flags()

    def peek(self) -> str:
        return self.source[self.at : self.at + 1]

    def skip_comments(self) -> None:
        """White space and comments, which count for nothing in verbose mode."""
        while self.flags.x and self.at < len(self.source):
            if self.source[self.at] in _WHITE_SPACE:
                self.at += 1
            elif self.source[self.at] == "#":
                end = self.source.find("\n", self.at)
                self.at = len(self.source) if end < 0 else end + 1
            else:
                return

    def item(self) -> str | Set:
        """One character or escape, inside or outside of brackets."""
        source, at = self.source, self.at
        if at >= len(source):
            raise PatternError("unclosed character class", at)
        if source[at] != "\\":
            self.at += 1
            return source[at]
        if match := _PROPERTY.match(source, at):
            self.at = match.end()
            return _property(match[1] == "P", match[2] or match[3])
        if match := _HEXADECIMAL.match(source, at):
            self.at = match.end()
            return _character(next(digits for digits in match.groups() if digits), at)
        self.at += 2
        letter = source[at + 1 : at + 2]
        if letter.lower() in PERL_CLASSES:
            characters = PERL_CLASSES[letter.lower()]
            return characters if letter.islower() else characters.inverted()
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if not letter or letter.isalnum() or letter > "\x7f":
            raise PatternError("unrecognized escape sequence", at)
        return letter

    def bracketed(self) -> Set:
        start = self.at
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise PatternError(f"more than {MAX_DEPTH} classes inside one another", start)
        self.at += 1
        self.skip_comments()
        negated = self.peek() == "^"
        if negated:
            self.at += 1
            self.skip_comments()
        characters = self.operands(start, self.leading())
        self.depth -= 1
        return characters.inverted() if negated else characters

    def leading(self) -> list[Set]:
        """What counts as itself only where a class begins: dashes, or a closing bracket."""
        sets: list[Set] = []
        while self.peek() == "-":
            sets.append(Set(r"\x2d"))
            self.at += 1
            self.skip_comments()
        if not sets and self.peek() == "]":
            sets.append(Set(r"\x5d"))
            self.at += 1
        return sets

    def operands(self, start: int, sets: list[Set]) -> Set:
        left: Set | None = None
        operator = ""
        while True:
            self.skip_comments()
            if self.at >= len(self.source):
                raise PatternError("unclosed character class", start)
            found = next((o for o in _OPERATORS if self.source.startswith(o, self.at)), "")
            if found or self.peek() == "]":
                right = union(sets)
                left = right if left is None else left.combined(operator, right)
                operator, sets = found, []
                self.at += len(found) or 1
                if not found:
                    return left
            else:
                sets.append(self.member())

    def member(self) -> Set:
        if self.peek() == "[":
            match = _ASCII_CLASS.match(self.source, self.at)
            if match and match[2] in ASCII_CLASSES:
                self.at = match.end()
                return Set(ASCII_CLASSES[match[2]], bool(match[1]))
            return self.bracketed()
        first = self.item()
        self.skip_comments()
        if isinstance(first, Set):
            return first
        if self.peek() != "-" or self.source[self.at + 1 : self.at + 2] in ("]", "-"):
            return Set(escaped_literal(first))
        self.at += 1
        self.skip_comments()
        last = self.item()
        if isinstance(last, Set):
            raise PatternError("invalid range in a character class", self.at)
        return Set(f"{escaped_literal(first)}-{escaped_literal(last)}")


def _character(hexadecimal: str, position: int) -> str:
    code = int(hexadecimal, 16)
    if code > sys.maxunicode or 0xD800 <= code < 0xE000:
        raise PatternError("hexadecimal escape is no Unicode scalar value", position)
    return chr(code)


def _property(is_negated: bool, name: str) -> Set:
    if "!=" in name:
        name = name.replace("!=", "=")
        is_negated = not is_negated
    folded = name.casefold()
    if folded == "any":
        found = Set(negated=True)
    elif folded == "ascii":
        found = Set(ASCII_CLASSES["ascii"])
    elif folded == "assigned":
        found = Set(r"\P{Cn}")
    else:
        return Set(f"\\{'P' if is_negated else 'p'}{{{name.replace(':', '=')}}}")
    return found.inverted() if is_negated else found
