"""Entries whose `type` decides what they are: providers and assertions. The one place that knows `not-`."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import msgspec

from evenhand.config.findings import Place
from evenhand.config.other_words import KINDS, as_mapping
from evenhand.config.wording import found, in_words
from evenhand.model.assertion import NEGATION_PREFIX
from evenhand.registry import Registry, nearest

C = TypeVar("C", bound=type[msgspec.Struct])

TYPE = "type"
NEGATE = "negate"


class TypedEntry(NamedTuple):
    """The class that an entry's `type` names, and its options without that key."""

    cls: Any
    options: dict[str, Any]


def find_type(
    value: Any, registry: Registry[Any], place: Place, *, negatable: bool = False
) -> TypedEntry | None:
    """What an entry is; None after reporting why nobody knows.

    With `negatable`, one `not-` in front of the type is taken off and becomes `negate: true`, whatever an explicit
    `negate` says: two spellings of one intent disagree, and the prefix is the more specific one.
    """
    if not isinstance(value, dict):
        mapping = as_mapping(value) if isinstance(value, str) else None
        place.report(
            f"expected a mapping with a `type`, found {found(value)}", f"write `{mapping}`" if mapping else ""
        )
        return None
    name = value.get(TYPE)
    if not isinstance(name, str):
        _report_missing(value, registry, place)
        return None
    options = {key: item for key, item in value.items() if key != TYPE}
    bare = name
    if negatable and name.startswith(NEGATION_PREFIX):
        bare = name[len(NEGATION_PREFIX) :]
        options[NEGATE] = True
    cls = registry.find(bare)
    if cls is None:
        _report_unknown(name, registry, place, negatable)
        return None
    return TypedEntry(cls, options)


def _report_missing(value: dict[str, Any], registry: Registry[Any], place: Place) -> None:
    if TYPE in value:
        place.inside(TYPE).report(f"expected the name of the {registry.what}, found {found(value[TYPE])}")
        return
    misspelt = next((key for key in value if nearest(key, [TYPE])), None)
    as_key = next((key for key in value if registry.find(key.removeprefix(NEGATION_PREFIX))), None)
    hint = f"write `type: {as_key}`" if as_key else f"did you write {misspelt!r} for it?" if misspelt else ""
    place.report(f"key {TYPE!r} is missing", hint or f"it names the {registry.what}")


def _report_unknown(name: str, registry: Registry[Any], place: Place, negatable: bool) -> None:
    names = list(registry.all())
    known = [*names, *(NEGATION_PREFIX + known for known in names)] if negatable else names
    close = nearest(name, known)
    hint = f"did you mean {close!r}?" if close else f"there are {in_words(names)}" if names else ""
    if negatable:
        hint = KINDS.get(name.removeprefix(NEGATION_PREFIX), hint)
    place.inside(TYPE).report(f"unknown {registry.what} {name!r}", hint)
