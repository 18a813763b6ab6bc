"""The systems under test, from a suite's `providers`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from evenhand.config.decode import decode
from evenhand.config.findings import Place
from evenhand.config.sandbox_rules import provider_refusals
from evenhand.config.transforms import TransformReader
from evenhand.config.typed_entry import find_type
from evenhand.errors import Problem
from evenhand.model.confinement import Confinement
from evenhand.model.provider import PROVIDERS, Provider


def read_providers(
    values: Sequence[Any],
    place: Place,
    confinement: Confinement,
    transforms: TransformReader | None = None,
) -> tuple[Provider, ...]:
    """The providers of a list, without those that were reported."""
    providers: dict[str, Provider] = {}
    for index, value in enumerate(values):
        at = place.inside(index)
        provider = read_provider(value, at, confinement)
        if provider is None:
            continue
        if provider.embeds:
            refuse_transform(provider, at)
        elif transforms is not None:
            transforms.checked(provider.transform, at.inside("transform"))
        if provider.id in providers:
            first = next(number for number, known in enumerate(values) if id_of(known) == provider.id)
            at.report(
                f"duplicate provider id {provider.id!r}, first at {place.inside(first).location}",
                "give each provider its own `id`",
            )
        providers.setdefault(provider.id, provider)
    return tuple(providers.values())


def read_provider(value: Any, place: Place, confinement: Confinement) -> Provider | None:
    """One provider; None after reporting what is wrong with it."""
    entry = find_type(value, PROVIDERS, place)
    provider: Provider | None = decode(entry.cls, entry.options, place) if entry else None
    if provider is None:
        return None
    if not provider.id:
        provider = msgspec.structs.replace(provider, id=id_of(value))
    for problem in (*provider.problems(confinement), *provider_refusals(provider, confinement)):
        place.add(problem)
    for warning in (*unkept(provider), *provider.warnings(confinement.directory)):
        place.add_warning(warning)
    return provider


def unkept(provider: Provider) -> Iterator[Problem]:
    """A warning where the suite wants answers kept that cannot be."""
    if provider.cache and not provider.can_keep_answers:
        yield Problem(
            f"answers of type {provider.__struct_config__.tag!r} cannot be kept: every question is put anew",
            ("cache",),
            "remove it, or give the class of the provider a `keyer`",
        )


def refuse_transform(provider: Provider, place: Place) -> None:
    """Report a transform where nothing would apply it."""
    if provider.transform is not None:
        place.inside("transform").report(
            "a transform is for systems under test, found one on a provider that grades", "remove it"
        )


def id_of(value: Any) -> Any:
    """The id that a provider gets as it is written: its own, else its type."""
    return (value.get("id") or value.get("type")) if isinstance(value, dict) else None
