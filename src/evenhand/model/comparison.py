"""How two runs over the same cases differ, and what a gate made of it, as it is stored with a run."""

from __future__ import annotations

import enum
from typing import Annotated, Literal

import msgspec

Meta = msgspec.Meta


class MetricChange(msgspec.Struct, frozen=True, kw_only=True):
    """How the mean of one score moved, head minus base, over the cases that both runs scored."""

    name: str
    cases: int
    mean: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    """Holm's correction over all metrics of the comparison and the pass rate."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over the cells of two runs, and whether their difference could be chance.

    `passing` is `pass` or `xpass`. Rates, tests and the detectable change are over the cells that were judged in both
    runs; `pairs` counts these, `cases` the different questions among them (repeats of one question are one case).
    """

    base: str
    """What the base was called: a run's id, a file, `branch:main`."""
    base_runs: tuple[str, ...] = ()
    head: str = ""
    newly_failing: int = 0
    newly_passing: int = 0
    still_failing: int = 0
    unchanged: int = 0
    added: int = 0
    removed: int = 0
    output_changed: int = 0
    pairs: int = 0
    cases: int = 0
    worse: int = 0
    """Cells judged in both runs that passed in the base alone."""
    better: int = 0
    base_pass_rate: float | None = None
    head_pass_rate: float | None = None
    p_value: float | None = None
    mid_p: float | None = None
    p_adjusted: float | None = None
    minimum_detectable_change: float | None = None
    """As a share of 1; None where no change could be seen."""
    metrics: tuple[MetricChange, ...] = ()
    suite_changes: tuple[str, ...] = ()
    """The parts of the suite that differ between the runs: prompts, providers, tests, asserts, grader, tools, …"""
    causes: dict[str, int] = {}
    """What else had changed, over the cells whose verdict or output changed."""


GateMode = Literal["any", "significant", "budget"]
"""What counts as having got worse."""

OnInconclusive = Literal["fail", "pass"]
"""What a run that shows too little ends as."""


class Gate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """When a run counts as worse than its baseline. It takes the place of the rule that every case must pass."""

    mode: Annotated[
        GateMode,
        Meta(
            description="`any`: one regression is too many; `significant`: more regressions than chance explains; "
            "`budget`: more than `max_regressions`."
        ),
    ] = "any"
    alpha: Annotated[
        float, Meta(gt=0, lt=1, description="Chance of a false alarm that `significant` accepts.")
    ] = 0.05
    max_regressions: Annotated[int, Meta(ge=0, description="Regressions that `budget` accepts.")] = 0
    min_pass_rate: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(
            description="Pass rate that the run must show: the lower bound of its 95 % interval must reach it."
        ),
    ] = None
    on_inconclusive: Annotated[
        OnInconclusive,
        Meta(description="Whether not enough evidence ends the run with exit code 2 (`fail`) or 0 (`pass`)."),
    ] = "fail"


class Baseline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What every run of the suite is compared with."""

    branch: Annotated[
        str,
        Meta(min_length=1, description="The newest result of each case on this branch of the repository."),
    ]


class GateVerdict(enum.StrEnum):
    """What a gate found."""

    REGRESSED = "regressed"
    NOT_REGRESSED = "not_regressed"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence"


class GateResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A gate's verdict and the reasons for it, in words."""

    verdict: GateVerdict
    reasons: tuple[str, ...]
    on_inconclusive: OnInconclusive = msgspec.field(default_factory=lambda: "fail")

    @property
    def words(self) -> str:
        """The verdict as people read it."""
        return self.verdict.replace("_", " ")
