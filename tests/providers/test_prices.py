"""What a call costs, and when that is not known."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.model.exchange import Usage
from evenhand.providers.prices import Pricing, cost_usd, rates_of
from support.vectors import row_id, topic


@pytest.mark.parametrize("row", topic("pricing"), ids=row_id)
def test_pricing_vector(row: dict[str, Any]) -> None:
    given, wanted = row["suite_fragment"], row["expected"]["cost_micro_usd"]
    cost = cost_usd(Usage(**given["usage"]), rates_of(given["model"], Pricing(**given.get("pricing", {}))))
    assert cost == (None if wanted is None else wanted / 1_000_000)


@pytest.mark.parametrize(
    ("model", "input_rate"),
    [
        ("gpt-5", 1.25),
        ("gpt-5-2025-08-07", 1.25),
        ("gpt-5-chat-latest", 1.25),
        ("gpt-5-mini-2025-08-07", 0.25),
        ("gpt-5.1-codex", 1.25),
        ("claude-sonnet-4-5-20250929", 3.0),
        ("gpt-50", None),
        ("gpt-4o-audio-preview", None),
        ("some-open-model", None),
    ],
)
def test_a_model_is_found_by_name_date_and_family(model: str, input_rate: float | None) -> None:
    assert rates_of(model).input_per_mtok == input_rate


def test_own_rates_win_field_by_field() -> None:
    rates = rates_of("gpt-4o", Pricing(output_per_mtok=1.0))
    assert (rates.input_per_mtok, rates.output_per_mtok) == (2.5, 1.0)


def test_each_component_is_rounded_up_to_a_micro_dollar() -> None:
    rates = Pricing(input_per_mtok=0.3, output_per_mtok=0.3)
    assert cost_usd(Usage(input_tokens=1, output_tokens=1), rates) == 0.000002


def test_what_was_written_for_an_hour_has_a_rate_of_its_own() -> None:
    rates = rates_of("claude-haiku-4-5")
    usage = Usage(cache_write_tokens=1_000_000, cache_write_1h_tokens=400_000)
    assert cost_usd(usage, rates) == pytest.approx(0.6 * 1.25 + 0.4 * 2)


@pytest.mark.parametrize(
    "field", ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"]
)
def test_a_used_component_without_a_rate_makes_the_cost_unknown(field: str) -> None:
    rates = Pricing(**{f"{field.removesuffix('_tokens')}_per_mtok": None})
    assert cost_usd(Usage(**{field: 1}), rates) is None
    assert cost_usd(Usage(), rates) == 0
    assert cost_usd(None, rates) is None


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_more_tokens_never_cost_less(fewer: int, further: int) -> None:
    rates = rates_of("gpt-4o")
    less, more = (cost_usd(Usage(input_tokens=n), rates) for n in (fewer, fewer + further))
    assert less is not None
    assert more is not None
    assert less <= more
