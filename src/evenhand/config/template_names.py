"""Which names templates and expressions take from their scope, each text looked at once."""

from __future__ import annotations

from functools import lru_cache

from evenhand.template import undefined_names
from evenhand.template.language import OPTIONAL_FILTERS, OPTIONAL_TESTS
from evenhand.template.scan import Mentions, mentions_of, mentions_of_expression, names_in
from evenhand.template.statements import parse_template
from evenhand.template.syntax import parse_expression
from evenhand.template.tokens import Unreadable
from evenhand.template.vars import ENVIRONMENT

MAX_REMEMBERED = 5_000
"""Texts whose names are remembered."""


_ANSWERS = OPTIONAL_FILTERS | OPTIONAL_TESTS
"""Filters and tests that an undefined value may be put to."""


@lru_cache(MAX_REMEMBERED)
def taken(text: str, *, is_expression: bool = False) -> frozenset[str]:
    """Every name that a text takes, nested ones with their path; none for a text that cannot be read."""
    return names_in(text, is_expression=is_expression)


@lru_cache(MAX_REMEMBERED)
def needed(text: str, *, is_expression: bool = False) -> frozenset[str]:
    """The variables that a text cannot do without, besides the environment."""
    return frozenset(undefined_names(text, (ENVIRONMENT,), is_expression=is_expression))


def environment_taken(text: str, *, is_expression: bool = False) -> frozenset[str]:
    """The environment variables that a text names."""
    return _in_environment(taken(text, is_expression=is_expression))


@lru_cache(MAX_REMEMBERED)
def environment_needed(text: str, *, is_expression: bool = False) -> frozenset[str]:
    """The environment variables that a text cannot do without; none for a text that has answers for absence."""
    mentions = _mentions(text, is_expression)
    if any(use.name in _ANSWERS for use in (*mentions.filters, *mentions.tests)):
        return frozenset()
    paths = (read.path for read in mentions.reads if read.is_certain)
    return frozenset(path[1] for path in paths if path[0] == ENVIRONMENT and len(path) > 1)


def _in_environment(names: frozenset[str]) -> frozenset[str]:
    prefix = f"{ENVIRONMENT}."
    return frozenset(name[len(prefix) :].partition(".")[0] for name in names if name.startswith(prefix))


def _mentions(text: str, is_expression: bool) -> Mentions:
    try:
        return (
            mentions_of_expression(parse_expression(text))
            if is_expression
            else mentions_of(parse_template(text))
        )
    except Unreadable:
        return Mentions()
