"""Finished cases from raw ones: typed, merged with the defaults, repeated over their matrix."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from evenhand.config.assertions import AssertionReader
from evenhand.config.decode import UNFIT, convert, decode_partly
from evenhand.config.defaults import Defaults, read_repeat
from evenhand.config.digest import digest_pattern
from evenhand.config.document import CASE_ASSERT, WrittenCase
from evenhand.config.files import Files
from evenhand.config.findings import Findings, Place
from evenhand.config.matrix import combinations
from evenhand.config.raw_case import RawCase
from evenhand.config.turns import TurnReader
from evenhand.config.values import read_value, read_vars
from evenhand.model.suite import Case
from evenhand.template import Engine, Val


class CaseBuilder:
    """Makes cases; what is wrong with one is reported, and it is left out."""

    def __init__(
        self,
        *,
        defaults: Defaults,
        engine: Engine,
        files: Files,
        assertions: AssertionReader,
        turns: TurnReader,
    ) -> None:
        self._defaults = defaults
        self._engine = engine
        self._files = files
        self._assertions = assertions
        self._turns = turns

    def build(self, raw: RawCase, findings: Findings, *, check: bool) -> Iterator[Case]:
        """The cases that a raw one stands for. With `check`, its assertions are checked as well."""
        place = Place(findings, raw.origin, raw.base_path)
        try:
            written = convert(raw.document, WrittenCase)
        except UNFIT:
            partly = decode_partly(WrittenCase, raw.document, place)
            if partly is None:
                return
            written = partly
        own_vars = read_vars(written.vars, place.inside("vars"), self._files, is_data=raw.is_data)
        case = self._case(raw, written, own_vars, place, check)
        if written.matrix_id is not None and not written.matrix:
            place.inside("matrix_id").report(
                "there is no `matrix` that it could name", "remove it, or add one"
            )
        if written.matrix:
            for repeated in self._repeated(case, written, raw, place):
                yield self._salted(repeated, place)
        else:
            yield self._salted(case, place)

    def _case(
        self, raw: RawCase, written: WrittenCase, own_vars: dict[str, Val], place: Place, check: bool
    ) -> Case:
        defaults = self._defaults
        assertions = defaults.assertions
        if written.asserts:
            assertions += self._assertions.read_all(written.asserts, place.inside(CASE_ASSERT), check=check)
        transform = defaults.transform
        if written.transform is not None:
            transform = written.transform
            if check:
                self._assertions.transforms.checked(transform, place.inside("transform"))
        history = defaults.history
        if written.history is not None:
            history = self._turns.history(written.history, place.inside("history"), is_data=raw.is_data)
        return Case(
            id=raw.auto_id if written.id is None else written.id,
            description=written.description,
            tags=defaults.merged_tags(written.tags),
            vars={**defaults.vars, **own_vars} if defaults.vars else own_vars,
            assertions=assertions,
            threshold=defaults.threshold if written.threshold is None else written.threshold,
            history=history,
            only_providers=written.only_providers,
            skip_providers=written.skip_providers,
            expect_fail=_expectation(written.expect_fail),
            cache_salt=defaults.cache_salt if written.cache_salt is None else written.cache_salt,
            transform=transform,
            repeat=(
                defaults.repeat
                if written.repeat is None
                else read_repeat(written.repeat, place.inside("repeat"))
            ),
            location=place.location,
        )

    def _repeated(self, case: Case, written: WrittenCase, raw: RawCase, place: Place) -> Iterator[Case]:
        matrix = place.inside("matrix")
        for combination in combinations(case.id, written.matrix, written.matrix_id, self._engine, place):
            axes = {
                axis: read_value(value, matrix, axis, self._files, is_data=raw.is_data)
                for axis, value in combination.values.items()
            }
            yield structs.replace(case, id=combination.id, vars={**case.vars, **axes})

    def _salted(self, case: Case, place: Place) -> Case:
        """The case with a salt that stands for files replaced by their digest."""
        if case.cache_salt is None or digest_pattern(case.cache_salt) is None:
            return case
        authored = {name: value.authored for name, value in case.vars.items()}
        salt = self._files.salt(case.cache_salt, authored, place.inside("cache_salt"))
        return structs.replace(case, cache_salt=salt)


def _expectation(expect_fail: bool | str | None) -> str | None:
    """Why a case is expected to fail: empty text without a reason, None where it must pass."""
    if isinstance(expect_fail, bool):
        return "" if expect_fail else None
    return expect_fail
