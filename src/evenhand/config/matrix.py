"""One case for each combination of its matrix variables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from evenhand.config.findings import Place
from evenhand.config.wording import found
from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope
from evenhand.template.val import is_raw
from evenhand.text.json_reader import compact_json

MAX_COMBINATIONS = 100_000
"""Combinations that one case may be repeated for."""


class Combination(NamedTuple):
    """The values that the matrix gives to one repetition, and the id of the resulting case."""

    id: str
    values: dict[str, Any]


def combinations(
    base_id: str, matrix: Mapping[str, Any], matrix_id: str | None, engine: Engine, place: Place
) -> Iterator[Combination]:
    """Every combination, axes sorted by name, the first one slowest. Nothing where a problem was reported."""
    axes = sorted(matrix)
    if not _is_sound(matrix, place):
        return
    for picked in product(*(matrix[axis] for axis in axes)):
        values = dict(zip(axes, picked, strict=True))
        if matrix_id is None:
            yield Combination(
                f"{base_id}[{','.join(f'{axis}={_shown(value)}' for axis, value in values.items())}]", values
            )
            continue
        try:
            yield Combination(
                engine.render(matrix_id, Scope({axis: _plain(value) for axis, value in values.items()})),
                values,
            )
        except TemplateError as error:
            hint = "it sees the matrix variables alone" if error.depends_on_data else ""
            place.inside("matrix_id").report(f"`matrix_id` does not render: {error.message}", hint)
            return


def _is_sound(matrix: Mapping[str, Any], place: Place) -> bool:
    before = place.findings.problem_count
    for axis, values in matrix.items():
        at = place.inside("matrix", axis)
        if not isinstance(values, list):
            at.report(f"expected a list of values, found {found(values)}")
        elif not values:
            at.report("the list of values must not be empty")
    if place.findings.problem_count > before:
        return False
    number = math.prod(len(values) for values in matrix.values())
    if number > MAX_COMBINATIONS:
        place.inside("matrix").report(f"{number:,} combinations are too many (at most {MAX_COMBINATIONS:,})")
    return number <= MAX_COMBINATIONS


def _plain(value: Any) -> Any:
    return value["$raw"] if is_raw(value) else value


def _shown(value: Any) -> str:
    plain = _plain(value)
    return plain if isinstance(plain, str) else compact_json(plain)
