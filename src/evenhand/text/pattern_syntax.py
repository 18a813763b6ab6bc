"""Reads the pattern language of Rust's `regex` crate and writes it in the dialect of another engine.

Two engines need it: one for look-around and back-references, one for the places of matches. What is written is in
one explicit form: no verbose mode, no names, no nested classes, flags only around what they change. Whether a
pattern is valid is not decided here: `plain_source` is the same pattern without look-around and back-references, of
equal length, for Rust's own parser to judge.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from evenhand.text.pattern_class import PERL_CLASSES, Set, escaped_literal
from evenhand.text.pattern_errors import PatternError
from evenhand.text.pattern_reader import MAX_DEPTH, Flags, Reader

UNBOUNDED = 1_000
"""A repetition that may go beyond this count is treated like one without end."""

_COUNTED = re.compile(r"\{\s*(\d{1,9})\s*(,?)\s*(\d{0,9})\s*\}")
_FLAGS = re.compile(r"\(\?([imsRUux]*)(?:-([imsRUux]+))?([:)])")
_OPENING = re.compile(r"\((?:\?(?:P?<([^>=!][^>]*)>|(<?[=!])))?")
_BACK_REFERENCE = re.compile(r"\\([1-9]\d{0,8})|(?:\\k<|\(\?P=)([^>)]+)[>)]")
_WORD_EDGE = re.compile(r"\\b\{(start|end|start-half|end-half)\}|\\([<>])")
_CASED_PROPERTY = re.compile(r"\\[pP]\{(?:\w+=)?(?:l[ult]|\w*(?:upper|lower|title)\w*)\}", re.IGNORECASE)
_LINE_ENDS = (Set(r"\x0a"), Set(r"\x0d\x0a"))
_CASELESS = frozenset(
    each for one in (*PERL_CLASSES.values(), *_LINE_ENDS, Set()) for each in (one, one.inverted())
)
"""Sets that hold a character's other case whenever they hold the character."""


class Dialect(NamedTuple):
    """How an engine writes what engines write differently."""

    word_boundary: str
    no_word_boundary: str
    end_of_text: str
    folds_turkic_i: bool
    """Whether, case ignored, the engine takes i and I for İ and ı too, and `\\p{Lu}` for every cased letter."""


class Translation(NamedTuple):
    """A pattern in another dialect, and what bounds the work of a search for it."""

    pattern: str
    plain_source: str
    """The source with a plain group of the same length for every look-around and back-reference."""
    wider_source: str
    """A source without them that matches wherever this one does: look-around left out, any text for references."""
    group_count: int
    group_names: dict[str, int]
    positions: int
    """Characters that the pattern matches one by one, counted repetitions written out."""
    wide_positions: int
    """Those of them that more than one character fits."""
    is_unbounded: bool
    """Whether some part may repeat without end."""


class _Piece(NamedTuple):
    text: str
    positions: int = 0
    wide: int = 0
    folds_case: bool = False
    """Whether the text still has to be put under the flag `i`."""
    is_atom: bool = True
    """Whether a repetition can follow the text as it stands."""


def translated(source: str, dialect: Dialect) -> Translation:
    """The pattern in the dialect. Raises `PatternError` for what cannot be carried over."""
    translator = _Translator(source, dialect)
    piece = translator.choice()
    if translator.at < len(source):
        raise PatternError("unopened group", translator.at)
    translator.check_references()
    return Translation(
        pattern=_cased([piece]),
        plain_source="".join(translator.plain),
        wider_source=_edited(source, translator.wider),
        group_count=translator.group_count,
        group_names=translator.group_names,
        positions=piece.positions,
        wide_positions=piece.wide,
        is_unbounded=translator.is_unbounded,
    )


class _Translator(Reader):
    """Recursive descent: every method reads from `at` on and returns what it wrote."""

    def __init__(self, source: str, dialect: Dialect) -> None:
        super().__init__(source)
        self.dialect = dialect
        self.plain = list(source)
        self.wider: list[tuple[int, int, str]] = []
        self.group_count = 0
        self.group_names: dict[str, int] = {}
        self.references: list[tuple[int, int]] = []
        self.is_unbounded = False

    def choice(self) -> _Piece:
        branches = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.sequence())
        if len(branches) == 1:
            return branches[0]
        return _Piece(
            "|".join(_cased([branch]) for branch in branches),
            sum(branch.positions for branch in branches),
            sum(branch.wide for branch in branches),
            is_atom=False,
        )

    def sequence(self) -> _Piece:
        pieces: list[_Piece] = []
        while True:
            self.skip_comments()
            character = self.peek()
            if character in ("", "|", ")"):
                break
            if character in ("*", "+", "?", "{"):
                if not pieces:
                    raise PatternError("repetition operator missing expression", self.at)
                pieces[-1] = self.repeated(pieces[-1])
            else:
                pieces.append(self.atom(character))
        if len(pieces) == 1:
            return pieces[0]
        positions = sum(piece.positions for piece in pieces)
        return _Piece(_cased(pieces), positions, sum(piece.wide for piece in pieces), is_atom=False)

    def repeated(self, piece: _Piece) -> _Piece:
        low, high, quantifier = self.quantifier()
        if self.peek() == "?":
            self.at += 1
            lazy = not self.flags.U
        else:
            lazy = self.flags.U
        times = low if high is None else high
        if high is None or high > UNBOUNDED:
            self.is_unbounded = True
        text = piece.text if piece.is_atom else f"(?:{piece.text})"
        return piece._replace(
            text=f"{text}{quantifier}{'?' if lazy else ''}",
            positions=piece.positions * max(times, 1),
            wide=piece.wide * max(times, 1),
            is_atom=False,
        )

    def quantifier(self) -> tuple[int, int | None, str]:
        character = self.source[self.at]
        if character != "{":
            self.at += 1
            return (1 if character == "+" else 0), (1 if character == "?" else None), character
        match = _COUNTED.match(self.source, self.at)
        if not match:
            raise PatternError("repetition quantifier expects a valid decimal", self.at)
        self.at = match.end()
        low = int(match[1])
        high = int(match[3]) if match[3] else None if match[2] else low
        return low, high, f"{{{low}{match[2]}{'' if high is None or not match[2] else high}}}"

    def atom(self, character: str) -> _Piece:
        if character == "(":
            return self.group()
        if character == "[":
            return self.of_set(self.bracketed())
        if character == "\\":
            return self.escape()
        self.at += 1
        if character == ".":
            return self.of_set(self.dot())
        if character == "^":
            return _anchor(self.line_start() if self.flags.m else r"\A")
        if character == "$":
            return _anchor(self.line_end() if self.flags.m else self.dialect.end_of_text)
        return self.literal(character)

    def dot(self) -> Set:
        return Set(negated=True) if self.flags.s else _LINE_ENDS[self.flags.R].inverted()

    def line_start(self) -> str:
        return r"(?:\A|(?<=\x0a)|(?<=\x0d)(?!\x0a))" if self.flags.R else "(?m:^)"

    def line_end(self) -> str:
        end = self.dialect.end_of_text
        return rf"(?:{end}|(?=\x0d)|(?<!\x0d)(?=\x0a))" if self.flags.R else "(?m:$)"

    def literal(self, character: str) -> _Piece:
        folds = self.flags.i and not (character.isascii() and character.lower() == character.upper())
        if folds and self.dialect.folds_turkic_i and character in "iI\u0130\u0131":
            return _Piece("[iI]" if character.isascii() else character, 1)
        return _Piece(escaped_literal(character), 1, folds_case=folds)

    def of_set(self, characters: Set) -> _Piece:
        text = characters.text
        if not self.flags.i or characters in _CASELESS:
            return _Piece(text, 1, 1)
        if not self.dialect.folds_turkic_i:
            return _Piece(text, 1, 1, folds_case=True)
        if _CASED_PROPERTY.search(text):
            raise PatternError("a class by case that ignores case is not supported here", self.at)
        turkic = "[\u0130\u0131]"
        return _Piece(f"(?:(?!{turkic})(?i:{text})|(?={turkic}){text})", 1, 1)

    def group(self) -> _Piece:
        reference = _BACK_REFERENCE.match(self.source, self.at)
        if reference:
            return self.back_reference(reference)
        flags = _FLAGS.match(self.source, self.at)
        if flags:
            return self.flagged(flags)
        opening = _OPENING.match(self.source, self.at)
        if opening is None or self.source.startswith("?", opening.end()):
            raise PatternError("unrecognized group", self.at)
        name, mark = opening.groups()
        self.at = opening.end()
        if mark is None:
            self.group_count += 1
            if name:
                self.group_names[name] = self.group_count
            return self.enclosed("(")
        self.plain[opening.start() : opening.end()] = list("(?:" if len(mark) == 1 else "(?s:")
        group = self.enclosed(f"(?{mark}")
        self.wider.append((opening.start(), self.at, ""))
        return group._replace(is_atom=False)

    def flagged(self, match: re.Match[str]) -> _Piece:
        on, off, end = match.groups()
        outer = self.flags
        self.flags = outer._replace(**(dict.fromkeys(on, True) | dict.fromkeys(off or "", False)))
        if not self.flags.u:
            raise PatternError("the flag `u` cannot be switched off here", match.start())
        self.at = match.end()
        if end == ")":
            return _Piece("")
        return self.enclosed("(?:", outer)

    def enclosed(self, opener: str, outer: Flags | None = None) -> _Piece:
        start = self.at
        outer = outer or self.flags
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise PatternError(f"more than {MAX_DEPTH} groups inside one another", start)
        inner = self.choice()
        if self.peek() != ")":
            raise PatternError("unclosed group", start)
        self.at += 1
        self.depth -= 1
        self.flags = outer
        return _Piece(f"{opener}{_cased([inner])})", inner.positions, inner.wide)

    def back_reference(self, match: re.Match[str]) -> _Piece:
        group = int(match[1]) if match[1] else self.group_names.get(match[2], 0)
        if not group:
            raise PatternError(f"back-reference to an unknown group `{match[2]}`", self.at)
        self.references.append((group, self.at))
        self.plain[match.start() : match.end()] = ["(", *"a" * (len(match[0]) - 2), ")"]
        self.wider.append((match.start(), match.end(), "(?s:.*)"))
        self.at = match.end()
        self.is_unbounded = True
        return _Piece(rf"(?:\{group})", 1, folds_case=self.flags.i)

    def check_references(self) -> None:
        for group, position in self.references:
            if group > self.group_count:
                found = f"the pattern has {self.group_count}"
                raise PatternError(f"back-reference to group {group}, but {found}", position)

    def escape(self) -> _Piece:
        source, at = self.source, self.at
        if reference := _BACK_REFERENCE.match(source, at):
            return self.back_reference(reference)
        if edge := _WORD_EDGE.match(source, at):
            self.at = edge.end()
            return _anchor(self.word_edge(edge[1] or {"<": "start", ">": "end"}[edge[2]]))
        anchors = {
            "A": r"\A",
            "z": self.dialect.end_of_text,
            "b": self.dialect.word_boundary,
            "B": self.dialect.no_word_boundary,
        }
        letter = source[at + 1 : at + 2]
        if letter in anchors:
            self.at += 2
            return _anchor(anchors[letter])
        item = self.item()
        return self.literal(item) if isinstance(item, str) else self.of_set(item)

    def word_edge(self, kind: str) -> str:
        word = PERL_CLASSES["w"].text
        before = f"(?<!{word})" if kind.startswith("start") else f"(?<={word})"
        after = f"(?={word})" if kind.startswith("start") else f"(?!{word})"
        if kind.endswith("half"):
            return before if kind == "start-half" else after
        return f"(?:{before}{after})"


def _edited(source: str, edits: list[tuple[int, int, str]]) -> str:
    """The source with parts of it replaced; an edit inside of another one is lost in it."""
    parts: list[str] = []
    at = 0
    for start, end, replacement in sorted(edits):
        if start >= at:
            parts += [source[at:start], replacement]
            at = end
    return "".join([*parts, source[at:]])


def _anchor(text: str) -> _Piece:
    return _Piece(text, is_atom=False)


def _cased(pieces: list[_Piece]) -> str:
    """The texts in a row, those that ignore case under a flag that says so."""
    parts: list[str] = []
    run: list[_Piece] = []
    for piece in [*pieces, _Piece("")]:
        if piece.folds_case:
            run.append(piece)
            continue
        if run:
            parts.append(f"(?i:{''.join(each.text for each in run)})")
            run = []
        parts.append(piece.text)
    return "".join(parts)
