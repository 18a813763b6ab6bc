"""What a YAML syntax error means, in words that lead to the mistake instead of to the parser's grammar."""

from __future__ import annotations

import re

import yaml

from evenhand.config.text_file import offset_in_line
from evenhand.errors import Location, Problem

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_QUOTED = re.compile(r"""(?<![^\s\[{,:-])(?:"(?:[^"\\]|\\.)*+"?|'[^']*'?)""")
_BARE_TEMPLATE = re.compile(r"(?:^|[\s:\[,-])\{[{%#]")
_UNCLOSED = "found unexpected end of stream"
_WORDS = {
    "mapping values are not allowed in this context": "a `:` stands where none can be",
    "did not find expected key": "a key was expected here",
    "did not find expected '-' indicator": "a list item that begins with `-` was expected here",
    "did not find expected ',' or '}'": "the `{` has no matching `}`, or a `,` is missing",
    "did not find expected ',' or ']'": "the `[` has no matching `]`, or a `,` is missing",
    "did not find expected node content": "a value was expected here",
    _UNCLOSED: "a quote is opened here and never closed",
    "could not find expected ':'": "a `:` was expected after this key",
    "found invalid Unicode character escape code": "the escape names no character, as half of a surrogate pair",
    "found unknown escape character": "the backslash in double quotes is followed by no valid escape",
    "found undefined alias": "the alias names an anchor that is not defined before it",
    "found undefined tag handle": "the tag is not known",
}
_HINTS = {
    "mapping values are not allowed in this context": "quote text that holds a colon, and check the indentation",
    "did not find expected key": "check the indentation and the quotes",
    "could not find expected ':'": "check the indentation",
    "found invalid Unicode character escape code": "write the character itself",
    "found unknown escape character": "use single quotes, in which a backslash is only itself",
    "found undefined tag handle": "use `!raw`, `!file` or no tag",
}
QUOTE_TEMPLATE = 'quote the template: "{{ … }}"'


def forbidden_character(text: str, file: str) -> Problem | None:
    """The first character that no YAML file may hold, as a problem."""
    match = _FORBIDDEN.search(text)
    if match is None:
        return None
    before = text[: match.start()]
    place = Location(file, before.count("\n") + 1, offset_in_line(before) + 1)
    code = ord(match[0])
    name = "NUL" if code == 0 else "control" if code < 0xA0 else "unassigned"
    return Problem(
        f"not valid YAML: {name} character U+{code:04X}",
        hint='remove it, or write it as an escape in double quotes ("\\u0007")',
        location=place,
    )


def syntax_problem(error: yaml.YAMLError, text: str, file: str) -> Problem:
    """A parser's error as a problem with its place, what is wrong and what to do."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return Problem(f"not valid YAML: {error}", location=Location(file))
    problem = str(error.problem or error.context)
    opened = error.context_mark if problem == _UNCLOSED else None
    mark = opened or error.problem_mark or error.context_mark
    message, hint = _explained(error, problem, _line(text, mark.line) if mark else "", mark)
    place = Location(file, mark.line + 1, mark.column + 1) if mark else Location(file)
    return Problem(f"not valid YAML: {message}", hint=hint, location=place)


def _explained(
    error: yaml.MarkedYAMLError, problem: str, line: str, mark: yaml.Mark | None
) -> tuple[str, str]:
    indentation = line[: len(line) - len(line.lstrip())]
    if "\t" in indentation or "tab character" in problem:
        return "a tab is used for indentation", "indent with spaces"
    if "maximum nesting depth" in problem:
        return "values are nested too deeply", "flatten the document"
    if "another document" in problem:
        return "the file holds more than one document", "remove the line `---`, or split the file"
    if "second occurrence" in problem:
        first = f", first at line {error.context_mark.line + 1}" if error.context_mark else ""
        return f"the anchor is defined twice{first}", "give each anchor its own name"
    if problem != _UNCLOSED and _BARE_TEMPLATE.search(_QUOTED.sub("", line)):
        return "a template stands without quotes", QUOTE_TEMPLATE
    if "cannot start any token" in problem and mark is not None:
        found = line[mark.column : mark.column + 1]
        return f"a value cannot begin with `{found}`", "quote the text"
    return _opening(error, _WORDS.get(problem, problem), mark), _HINTS.get(problem, "")


def _opening(error: yaml.MarkedYAMLError, message: str, mark: yaml.Mark | None) -> str:
    opened = error.context_mark
    if opened is None or mark is None or opened.line == mark.line:
        return message
    return f"{message} (in what begins at line {opened.line + 1})"


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[number] if number < len(lines) else ""
