"""Template source as tokens, cut where the engine cuts it.

The engine parses templates itself; this reading exists for what must be known before it does, or from outside it:
names, filters, where a statement ends, how deep an expression nests.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_TOKENS = 50_000
"""Tokens of one source; constant text between tags is one token, whatever its length."""


class Unreadable(ValueError):
    """Source that is no template or expression, with the offset of the first thing that does not fit."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class Token(NamedTuple):
    """A piece of source. `kind` is `text`, `name`, `number`, `string`, `end`, or the piece itself for the rest."""

    kind: str
    text: str
    start: int
    end: int


class _Tokens(list[Token]):
    """Tokens up to the limit."""

    def append(self, token: Token) -> None:
        if len(self) >= MAX_TOKENS:
            raise Unreadable(
                f"more than {MAX_TOKENS:,} names and marks in one template; split it", token.start
            )
        super().append(token)


WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_MARK = re.compile(r"\{[{%#]")
_SPACE = re.compile(r"[ \t\n\f\r]+")
_RAW = re.compile(r"[-+]?[ \t\n\f\r]*raw[ \t\n\f\r]*[-+]?%\}")
_END_RAW = re.compile(r"\{%[-+]?[ \t\n\f\r]*endraw[ \t\n\f\r]*[-+]?%\}")
_NUMBER = re.compile(
    r"0[bB][0-9_]*|0[oO][0-9_]*|0[xX][0-9a-fA-F_]*"
    r"|[0-9][0-9_]*(?:\.(?:(?![A-Za-z_])|(?=[eE][-+0-9]))[0-9_]*)?(?:[eE](?:[-+0-9][0-9_]*)?)?"
)
_STRING = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"", re.DOTALL)
_OPERATOR = re.compile(r"//|\*\*|==|!=|>=|<=|[-+*/%.,:~|=><()\[\]{}]")
_OPENERS = frozenset("([{")
_CLOSERS = frozenset(")]}")


def template_tokens(source: str) -> list[Token]:
    """The tokens of a template. Raises `Unreadable`."""
    tokens = _Tokens()
    position = 0
    while (mark := _MARK.search(source, position)) is not None:
        if mark.start() > position:
            tokens.append(Token("text", source[position : mark.start()], position, mark.start()))
        position = mark.end()
        if mark[0] == "{#":
            close = source.find("#}", position)
            if close < 0:
                raise Unreadable("this comment does not end; close it with `#}`", mark.start())
            position = close + 2
        elif mark[0] == "{%" and (raw := _RAW.match(source, position)) is not None:
            close_raw = _END_RAW.search(source, raw.end())
            if close_raw is None:
                raise Unreadable("this raw block does not end; close it with `{% endraw %}`", mark.start())
            tokens.append(Token("text", source[raw.end() : close_raw.start()], raw.end(), close_raw.start()))
            position = close_raw.end()
        else:
            position = _read_tag(source, mark, tokens)
    if position < len(source):
        tokens.append(Token("text", source[position:], position, len(source)))
    tokens.append(Token("end", "", len(source), len(source)))
    return tokens


def expression_tokens(source: str) -> list[Token]:
    """The tokens of an expression that stands alone. Raises `Unreadable`."""
    tokens = _Tokens()
    position, balance = 0, 0
    while position < len(source):
        if (space := _SPACE.match(source, position)) is not None:
            position = space.end()
            continue
        token = _read_token(source, position)
        balance += (token.kind in _OPENERS) - (token.kind in _CLOSERS)
        if balance < 0:
            raise Unreadable(f"`{token.text}` closes nothing", token.start)
        tokens.append(token)
        position = token.end
    tokens.append(Token("end", "", len(source), len(source)))
    return tokens


def _read_tag(source: str, mark: re.Match[str], tokens: list[Token]) -> int:
    """Read from behind an opening mark to behind its end, which brackets hide."""
    end = "}}" if mark[0] == "{{" else "%}"
    position, balance = mark.end(), 0
    if source[position : position + 1] in ("-", "+"):
        position += 1
    tokens.append(Token(mark[0], source[mark.start() : position], mark.start(), position))
    while position < len(source):
        if (space := _SPACE.match(source, position)) is not None:
            position = space.end()
            continue
        if balance == 0:
            skip = 1 if source[position] in "-+" else 0
            if source.startswith(end, position + skip):
                stop = position + skip + 2
                tokens.append(Token(end, source[position:stop], position, stop))
                return stop
        token = _read_token(source, position)
        balance += (token.kind in _OPENERS) - (token.kind in _CLOSERS)
        tokens.append(token)
        position = token.end
    raise Unreadable(f"this tag does not end; close it with `{end}`", mark.start())


def _read_token(source: str, position: int) -> Token:
    if (word := WORD.match(source, position)) is not None:
        return Token("name", word[0], position, word.end())
    if (operator := _OPERATOR.match(source, position)) is not None:
        return Token(operator[0], operator[0], position, operator.end())
    if source[position] in "'\"":
        if (string := _STRING.match(source, position)) is None:
            raise Unreadable("this text does not end; close its quotes", position)
        return Token("string", string[0], position, string.end())
    if (number := _NUMBER.match(source, position)) is not None:
        return Token("number", number[0], position, number.end())
    raise Unreadable("this character has no meaning in a tag", position)
