"""Vars from what a person wrote or a data file holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.config.document import CASE_ASSERT
from evenhand.config.files import Files
from evenhand.config.findings import Place
from evenhand.errors import TemplateError
from evenhand.template import Engine, Val


def read_vars(
    written: Mapping[str, Any], place: Place, files: Files, *, is_data: bool = False
) -> dict[str, Val]:
    """The vars of a mapping. With `is_data`, their values are sent as they are."""
    if CASE_ASSERT in written:
        place.report_key(
            CASE_ASSERT, "`assert` stands under `vars`, where nothing would check it", "move it out of `vars`"
        )
    return {name: read_value(value, place, name, files, is_data=is_data) for name, value in written.items()}


def read_value(value: Any, place: Place, name: str, files: Files, *, is_data: bool = False) -> Val:
    """One value with the files that it refers to; `place` is that of the mapping it stands in."""
    if isinstance(value, (dict, list)):
        value = files.resolved(value, place.inside(name))
    try:
        return Val(value, is_data=is_data)
    except TemplateError as error:
        place.inside(name).report(error.message)
        return Val(None)


def check_templates(engine: Engine, value: Any, place: Place) -> None:
    """Report every template of a value that cannot be rendered whatever its data."""
    for problem in value.problems(engine):
        place.add(problem._replace(message=f"the template is wrong: {problem.message}"))
