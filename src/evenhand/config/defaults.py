"""What every case has unless it says otherwise, read once and shared by all cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import structs

from evenhand.config.assertions import AssertionReader
from evenhand.config.document import CASE_ASSERT, WrittenDefaults
from evenhand.config.files import Files
from evenhand.config.findings import Place
from evenhand.config.turns import TurnReader
from evenhand.config.values import read_vars
from evenhand.model.assertion import Assertion
from evenhand.model.suite import MAX_REPEAT, MessageTemplate, Repeat
from evenhand.model.transform import WrittenTransform
from evenhand.template import Val


class Defaults(msgspec.Struct, frozen=True, kw_only=True):
    """The finished parts that cases share."""

    vars: Mapping[str, Val] = {}
    assertions: tuple[Assertion, ...] = ()
    tags: tuple[str, ...] = ()
    threshold: float | None = None
    cache_salt: str | None = None
    history: tuple[MessageTemplate, ...] = ()
    transform: WrittenTransform = None
    repeat: Repeat | None = None
    is_whole: bool = True
    """Whether nothing was left out because it was reported."""

    def merged_tags(self, own: Sequence[str]) -> tuple[str, ...]:
        """A case's own tags, then those of the defaults that it lacks."""
        if not own:
            return self.tags
        return (*own, *(tag for tag in self.tags if tag not in own))


def read_repeat(written: int | Repeat | None, place: Place) -> Repeat | None:
    """How often a case is asked, from either form."""
    if isinstance(written, int):
        if not 1 <= written <= MAX_REPEAT:
            place.report(f"a case is asked 1 to {MAX_REPEAT:,} times, found {written!r}")
            return None
        return Repeat(max=written)
    if (
        written is not None
        and not written.until_decided
        and (written.alpha, written.pass_rate) != (0.05, 0.5)
    ):
        place.report(
            "`alpha` and `pass_rate` say when a case is decided", "add `until_decided: true`, or remove them"
        )
    return written


def read_defaults(
    written: WrittenDefaults, place: Place, *, files: Files, assertions: AssertionReader, turns: TurnReader
) -> Defaults:
    """The defaults of a suite, without what was reported."""
    before = place.findings.problem_count
    defaults = Defaults(
        vars=read_vars(written.vars, place.inside("vars"), files),
        assertions=assertions.read_all(written.asserts, place.inside(CASE_ASSERT), check=True),
        tags=written.tags,
        threshold=written.threshold,
        cache_salt=written.cache_salt,
        repeat=read_repeat(written.repeat, place.inside("repeat")),
        history=() if written.history is None else turns.history(written.history, place.inside("history")),
        transform=assertions.transforms.checked(written.transform, place.inside("transform")),
    )
    return structs.replace(defaults, is_whole=place.findings.problem_count == before)
