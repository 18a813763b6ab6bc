"""What a call cost: its tokens times the rates of its model, in micro-dollars, never guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache, lru_cache
from importlib import resources
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from evenhand.model.exchange import Usage

_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")
_MICRO = 1_000_000


Rate = Annotated[float, Meta(ge=0)]


def _rate(description: str) -> Any:
    return Meta(description=f"US dollars for a million {description}.")


class Pricing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Rates of a model in US dollars for a million tokens. What is left out is taken from the table of prices."""

    input_per_mtok: Annotated[Rate | None, _rate("tokens of the prompt")] = None
    output_per_mtok: Annotated[Rate | None, _rate("tokens of the answer")] = None
    cache_read_per_mtok: Annotated[Rate | None, _rate("tokens read from the vendor's cache")] = None
    cache_write_per_mtok: Annotated[Rate | None, _rate("tokens written to the vendor's cache")] = None
    cache_write_1h_per_mtok: Annotated[Rate | None, _rate("tokens written to it for an hour")] = None


@lru_cache(maxsize=256)
def rates_of(model: str, own: Pricing = Pricing()) -> Pricing:
    """The rates of a model, with `own` over those of the table: by its name, without its date, or by its family."""
    listed = _listed(model)
    merged = {name: getattr(own, name) for name in Pricing.__struct_fields__}
    for name, value in merged.items():
        if value is None:
            merged[name] = listed.get(name.removesuffix("_per_mtok"))
    return Pricing(**merged)


def cost_usd(usage: Usage | None, rates: Pricing) -> float | None:
    """What tokens cost, each component rounded up to a micro-dollar.

    None where there is no usage, or where a component that was used has no known rate.
    """
    if usage is None:
        return None
    total = 0
    for tokens, rate in (
        (usage.input_tokens, rates.input_per_mtok),
        (usage.output_tokens, rates.output_per_mtok),
        (usage.cache_read_tokens, rates.cache_read_per_mtok),
        (usage.cache_write_tokens - usage.cache_write_1h_tokens, rates.cache_write_per_mtok),
        (usage.cache_write_1h_tokens, rates.cache_write_1h_per_mtok),
    ):
        if tokens <= 0:
            continue
        if rate is None:
            return None
        # Dollars for a million tokens are micro-dollars for one.
        total += math.ceil(_exact(rate) * tokens)
    return total / _MICRO


@lru_cache(maxsize=256)
def _exact(rate: float) -> Decimal:
    """A rate as it was written: 0.1, not the nearest binary fraction."""
    return Decimal(str(rate))


def _listed(model: str) -> Mapping[str, float]:
    table = _table()
    for name in (model, _DATE.sub("", model)):
        if name in table:
            return table[name]
    families = [name for name in table if model.startswith(f"{name}-")]
    return table[max(families, key=len)] if families else {}


@cache
def _table() -> dict[str, dict[str, float]]:
    import tomllib

    text = resources.files("evenhand.providers").joinpath("data", "prices.toml").read_text(encoding="utf-8")
    models: dict[str, dict[str, float]] = tomllib.loads(text)["models"]
    return models
