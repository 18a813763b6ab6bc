"""What can be imported from `evenhand` is chosen, documented and typed."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import evenhand

PUBLIC = sorted(set(evenhand.__all__) - {"__version__"})


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_exists_and_says_what_it_is_for(name: str) -> None:
    value = getattr(evenhand, name)
    assert inspect.getdoc(value if inspect.isclass(value) or inspect.isfunction(value) else type(value))


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(evenhand.__file__).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    names = {
        alias.name
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert names == set(PUBLIC)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        evenhand.nothing  # noqa: B018


def test_names_are_listed_for_completion() -> None:
    assert set(dir(evenhand)) == set(evenhand.__all__)
