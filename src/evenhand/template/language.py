"""The names that the template language knows: what the engine brings and what evenhand adds.

The engine's own `truncate`, `debug`, `cycler`, `joiner`, `pluralize`, `striptags` and `filesizeformat` are
not part of it.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGINE_FILTERS = _words(
    """
    abs attr batch bool capitalize chain count d default dictsort e escape first float format groupby indent int
    items join last length lines list lower map max min pprint reject rejectattr replace reverse round safe select
    selectattr slice sort split string sum title tojson trim unique upper urlencode zip
    """
)

ADDED_FILTERS = _words(
    """
    b64decode b64encode blake3 from_json json_decode json_encode md5 regex_match regex_replace sha256 slugify
    to_json truncate
    """
)

FILTERS = ENGINE_FILTERS | ADDED_FILTERS

TESTS = _words(
    """
    boolean defined divisibleby endingwith eq equalto escaped even false filter float ge greaterthan gt in int
    integer iterable le lessthan lower lt mapping ne none number odd safe sameas sequence startingwith string test
    true undefined upper
    """
)

FUNCTIONS = _words("dict namespace now rand randint range uuid")

ENGINE_EXTRAS = _words("pluralize filesizeformat striptags")
"""Filters of the binding that are no part of the language."""

OPTIONAL_FILTERS = frozenset({"default", "d"})
"""Filters that take an undefined value for an answer."""

OPTIONAL_TESTS = frozenset({"defined", "undefined"})
"""Tests that take an undefined value for an answer."""

TEXT_FILTERS = _words(
    """
    b64decode b64encode blake3 format from_json indent json_decode md5 regex_match regex_replace replace sha256
    slugify truncate
    """
)
"""Filters of ours that work on text, whatever they are given."""

JSON_FILTERS = frozenset({"json_encode", "to_json", "tojson"})
