"""How latency, cost and score are distributed over a run."""

from __future__ import annotations

import msgspec

from evenhand.report.figures import dollars, duration
from evenhand.web.case_index import CaseIndex
from evenhand.web.plots import Histogram, Scatter, histogram, scatter


class ProviderScatter(msgspec.Struct, frozen=True, kw_only=True):
    """Score over cost of one provider's cases."""

    provider: str
    plot: Scatter


class RunPlots(msgspec.Struct, frozen=True, kw_only=True):
    """The plots of a run; None and empty where nothing is known."""

    latency: Histogram | None
    cost: Histogram | None
    score: Histogram | None
    score_by_cost: tuple[ProviderScatter, ...]


MAX_PROVIDERS = 8


def run_plots(index: CaseIndex, run_id: str) -> RunPlots:
    """The plots of what the index holds of a run."""
    return index.remembered(run_id, "plots", lambda: _made(index, run_id))


def _made(index: CaseIndex, run_id: str) -> RunPlots:
    rows = index.rows(
        "SELECT latency_ms, cost_usd, score, provider, test_id, case_key FROM cases WHERE run = ? ORDER BY position",
        (index.number(run_id),),
    )
    by_provider: dict[str, list[tuple[float, float, str, str]]] = {}
    for row in rows:
        if row["cost_usd"] is not None and row["score"] is not None:
            label = f"{row['test_id']}: score {row['score']:.3g}, {dollars(row['cost_usd'])}"
            address = f"/runs/{run_id}/cases/{row['case_key']}"
            by_provider.setdefault(row["provider"], []).append(
                (row["cost_usd"], row["score"], label, address)
            )
    plots = (
        (provider, scatter(pairs, dollars)) for provider, pairs in list(by_provider.items())[:MAX_PROVIDERS]
    )
    return RunPlots(
        latency=histogram([row["latency_ms"] for row in rows if row["latency_ms"] is not None], duration),
        cost=histogram([row["cost_usd"] for row in rows if row["cost_usd"] is not None], dollars),
        score=histogram(
            [row["score"] for row in rows if row["score"] is not None], lambda value: f"{value:.2g}"
        ),
        score_by_cost=tuple(
            ProviderScatter(provider=name, plot=plot) for name, plot in plots if plot is not None
        ),
    )
