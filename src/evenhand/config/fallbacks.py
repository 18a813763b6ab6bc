"""What is wrong or suspicious about who answers for whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.config.findings import Place
from evenhand.config.providers import id_of
from evenhand.model.provider import Provider
from evenhand.registry import nearest


def check_fallbacks(providers: Sequence[Provider], values: Sequence[Any], place: Place) -> None:
    """Check the fallbacks of a suite's providers; `values` are all of them as written, at `place`.

    Fallbacks are looked up among the ids as written, so that a provider with a fault of its own is not missing too.
    """
    ids = [id_of(value) for value in values]
    embedding = {provider.id for provider in providers if provider.embeds}
    chained = {provider.id for provider in providers if provider.fallback}
    referenced = {name for provider in providers for name in provider.fallback}
    for provider in providers:
        at = place.inside(ids.index(provider.id))
        if provider.embeds:
            _check_embeddings(provider, at)
            continue
        _check_targets(provider, at.inside("fallback"), ids, embedding, chained)
        if provider.fallback_only and provider.id not in referenced:
            at.inside("fallback_only").warn(
                f"no provider has {provider.id!r} as `fallback`, so that it is never asked",
                "name it in one, or leave it out",
            )
    under_test = [provider for provider in providers if not provider.embeds]
    whole = len(providers) == len(values)
    if whole and under_test and all(provider.fallback_only for provider in under_test):
        place.report(
            "every provider is `fallback_only`, so there is no system under test", "take it away from one"
        )


def refuse_fallbacks(provider: Provider, place: Place) -> None:
    """Report fallbacks of a model that grades: there is only the one that the suite trusts with verdicts."""
    for name in ("fallback", "fallback_only"):
        if getattr(provider, name):
            place.inside(name).report("a grader has no fallback: verdicts of two models are not comparable")


def _check_embeddings(provider: Provider, at: Place) -> None:
    for name in ("fallback", "fallback_only"):
        if getattr(provider, name):
            at.inside(name).report(
                "an embeddings provider is no system under test and has no fallback", "leave it out"
            )


def _check_targets(
    provider: Provider, at: Place, ids: Sequence[Any], embedding: set[str], chained: set[str]
) -> None:
    for index, name in enumerate(provider.fallback):
        place = at.inside(index)
        if name == provider.id:
            place.report(f"provider {name!r} is its own fallback", "name another provider")
        elif name not in ids:
            close = nearest(name, [known for known in ids if isinstance(known, str)])
            hint = f"did you mean {close!r}?" if close else "name a provider by its `id`"
            place.report(f"no provider has the id {name!r}", hint)
        elif name in embedding:
            place.report(f"{name!r} makes embeddings and cannot answer", "name a model that answers")
        elif name in provider.fallback[:index]:
            place.warn(f"the fallback {name!r} is listed twice; it is asked once")
        elif name in chained:
            place.warn(f"{name!r} has fallbacks of its own, which are not followed from here")
