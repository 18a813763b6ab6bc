"""Numbers and verdicts of a run in words, the same in every report for people."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from evenhand.analysis.named_means import MAX_NAME_LENGTH, MAX_NAMES
from evenhand.errors import ErrorClass, ExitCode, exit_code_of
from evenhand.model.comparison import GateVerdict
from evenhand.model.result import FlakyCase, Run, RunStatus, Spending, Summary


class Headline(msgspec.Struct, frozen=True):
    """What came out of a run: one word, and a sentence where the word does not say all."""

    word: str
    good: bool
    explanation: str = ""


def headline(run: Run) -> Headline:
    """The verdict that the run's exit code stands for; reports never judge by themselves."""
    if run.exit_code is None:
        return Headline("UNFINISHED", good=False, explanation="the run did not reach its end")
    if run.exit_code == ExitCode.OK:
        return Headline("PASSED", good=True)
    if run.exit_code == ExitCode.FAILED:
        return Headline("FAILED", good=False)
    if run.spending is not None and run.spending.is_reached:
        return Headline("STOPPED", good=False, explanation=_too_dear(run, run.spending))
    if run.exit_code == ExitCode.INTERRUPTED:
        return Headline("INTERRUPTED", good=False, explanation="what was finished is kept")
    if run.exit_code == ExitCode.SUITE and _is_inconclusive(run):
        return Headline("NOT ENOUGH EVIDENCE", good=False, explanation="nothing can be said either way")
    if run.exit_code == ExitCode.SUITE and run.baseline_note and run.gate is None and run.summary.judged:
        return Headline("NOT JUDGED", good=False, explanation="the baseline could not be compared with")
    if run.exit_code == ExitCode.SUITE:
        return Headline("NOT JUDGED", good=False, explanation=_suite_fault(run))
    return Headline(
        "ERROR", good=False, explanation="the machinery failed: what errored says nothing of the system"
    )


def _too_dear(run: Run, spending: Spending) -> str:
    return (
        f"{dollars(spending.spent_usd)} of {dollars(spending.max_cost_usd)} are spent, and a further cell could cost "
        f"more than is left; go on with `evenhand run --resume-run {run.run_id} --max-cost` and a higher limit"
    )


def _is_inconclusive(run: Run) -> bool:
    """Whether the gate alone kept the run from a verdict."""
    gate, summary = run.gate, run.summary
    return (
        gate is not None
        and gate.verdict is GateVerdict.NOT_ENOUGH_EVIDENCE
        and bool(summary.judged_assertions)
        and not summary.error_counts
    )


def _suite_fault(run: Run) -> str:
    summary = run.summary
    if not summary.total:
        asked = [f"--tag {tag!r}" for tag in run.filters.tags] + [
            f"--filter {f!r}" for f in run.filters.filters
        ]
        return (
            f"there was nothing to run: no case is left by {' '.join(asked)}"
            if asked
            else "there was nothing to run"
        )
    if any(exit_code_of(error_class) is ExitCode.SUITE for error_class in summary.error_counts):
        return "something in the suite needs mending"
    if summary.skipped == summary.total:
        return "every case was skipped"
    if summary.fallback_cases and summary.fallback_cases == summary.judged:
        return "fallbacks answered every judged case: nothing is known of the providers themselves"
    if not summary.judged_assertions:
        return "no assertion was judged"
    return "what was judged does not carry a verdict"


def tallies(summary: Summary) -> list[tuple[str, int]]:
    """The counts of the summary line: four always, the two of expected failures where there are any."""
    counts = [
        ("passed", summary.passed),
        ("failed", summary.failed),
        ("errored", summary.errored),
        ("skipped", summary.skipped),
    ]
    if summary.xfailed:
        counts.append(("failed as expected", summary.xfailed))
    if summary.xpassed:
        counts.append(("passed unexpectedly", summary.xpassed))
    return counts


def rate(summary: Summary) -> str:
    """The pass rate with its Wilson interval, never without what it leaves out; empty where nothing was judged."""
    if summary.pass_rate is None:
        return ""
    text = f"pass rate {percent(summary.pass_rate)}"
    if summary.pass_rate_low is not None and summary.pass_rate_high is not None:
        text += f", 95% interval {percent(summary.pass_rate_low)} to {percent(summary.pass_rate_high)}"
    return f"{text}, over {counted(summary.judged, 'judged case')}; {summary.errored:,} errored"


def repeat_lines(summary: Summary) -> list[str]:
    """What repeats showed; nothing where no question was asked twice."""
    repeats = summary.repeats
    if repeats is None:
        return []
    common = [k for k, cases in repeats.cases_at_k.items() if int(k) > 1 and 2 * cases >= repeats.cases]
    lines = []
    if common:
        k = max(common, key=int)
        any_of, all_of = percent(repeats.pass_at_k[k]), percent(repeats.pass_hat_k[k])
        lines.append(f"of {k} repeats: at least one passes {any_of} (pass@{k}), all pass {all_of} (pass^{k})")
    if repeats.passing or repeats.failing or repeats.undecided:
        lines.append(
            f"repeated until decided: {repeats.passing:,} passing, {repeats.failing:,} failing, "
            f"{repeats.undecided:,} undecided; {counted(repeats.calls_saved, 'call')} saved"
        )
    if repeats.flaky:
        names = "; ".join(_flaky(case) for case in repeats.flaky_cases[:5])
        more = f" and {repeats.flaky - 5:,} more" if repeats.flaky > 5 else ""
        lines.append(f"{counted(repeats.flaky, 'flaky case')}: {names}{more}")
    return lines


def _flaky(case: FlakyCase) -> str:
    asked = " · ".join(filter(None, (case.provider_id, case.prompt_id)))
    interval = f"{percent(case.low)} to {percent(case.high)}"
    return f"{case.test_id} [{asked}] passed {case.passed:,} of {case.judged:,} ({interval})"


def effort(summary: Summary) -> list[str]:
    """Time, calls, tokens and money, as far as they are known."""
    parts = []
    if summary.wall_ms is not None:
        parts.append(duration(summary.wall_ms))
    if summary.latency_ms_p50 is not None and summary.latency_ms_p95 is not None:
        parts.append(f"calls p50 {duration(summary.latency_ms_p50)}, p95 {duration(summary.latency_ms_p95)}")
    if summary.retried_cases:
        parts.append(f"{counted(summary.retried_cases, 'case')} retried")
    if summary.prompt_tokens or summary.completion_tokens:
        parts.append(f"{summary.prompt_tokens:,} tokens in, {summary.completion_tokens:,} out")
    if summary.cost_usd is not None:
        parts.append(dollars(summary.cost_usd))
    if summary.grader_cost_usd:
        parts.append(f"{dollars(summary.grader_cost_usd)} for graders")
    if summary.cache_hits:
        asked = summary.cache_hits + summary.cache_misses
        parts.append(f"{summary.cache_hits:,} of {asked:,} answers kept from before")
    if summary.cache_savings_usd:
        parts.append(f"{dollars(summary.cache_savings_usd)} saved")
    return parts


def notes(run: Run) -> list[str]:
    """What a reader must know before trusting the figures."""
    summary = run.summary
    found = []
    if run.status is RunStatus.STOPPED and not (run.spending and run.spending.is_reached):
        found.append("the run was ended early by its limit on failures")
    if run.planned_cells is not None and summary.total < run.planned_cells:
        found.append(f"{summary.total:,} of {counted(run.planned_cells, 'planned cell')} ran")
    found.extend(
        f"{limit.provider_id} turned {counted(limit.refused_calls, 'call')} away, so that calls at once went from "
        f"{limit.configured:,} to {limit.lowest:,} at the lowest; a lower `-j` or a `rate_limit` would have spared them"
        for limit in run.limits
    )
    if summary.fallback_cases:
        found.append(f"{counted(summary.fallback_cases, 'judged case')} answered by a fallback")
    if run.spending and run.spending.unpriced_answers:
        count = counted(run.spending.unpriced_answers, "answer")
        found.append(f"{count} came without a cost, so that the limit on the run's cost does not hold them")
    if summary.unenforced_budgets:
        found.append(
            f"{counted(summary.unenforced_budgets, 'budget')} could not be enforced: "
            "the provider reported no cost or tokens"
        )
    if summary.skipped_assertions:
        found.append(
            f"{counted(summary.skipped_assertions, 'assertion')} skipped: the outcome was already decided"
        )
    if summary.named_scores_left_out:
        found.append(
            f"{counted(summary.named_scores_left_out, 'named score')} left out: a run keeps "
            f"{MAX_NAMES:,} names of up to {MAX_NAME_LENGTH} characters"
        )
    return found


class NamedScore(msgspec.Struct, frozen=True):
    """The mean of the scores under one name: over the run, and by provider where there are several."""

    name: str
    score: float
    count: int
    by_provider: dict[str, float]


MAX_NAMED = 20
"""Named scores that a report for people shows."""


def named_scores(summary: Summary) -> list[NamedScore]:
    """The means by name, at most `MAX_NAMED`, those over most assertions first."""
    providers = summary.named_scores_by_provider
    found = []
    for name, count in most_frequent(summary.named_counts, limit=MAX_NAMED):
        own = {provider: means[name] for provider, means in providers.items() if name in means}
        by_provider = own if len(providers) > 1 else {}
        found.append(NamedScore(name, summary.named_scores[name], count, by_provider))
    return found


def plain_score(score: float) -> str:
    """A mean score with as many decimals as tell something."""
    return f"{score:.3f}".rstrip("0").rstrip(".") if abs(score) < 1e6 else f"{score:.3g}"


def most_frequent(counts: Mapping[str, int], *, limit: int = 10) -> list[tuple[str, int]]:
    """The names with the greatest counts, bounded because programs under test may invent names."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]


REMEDIES: dict[str, str] = {
    ErrorClass.PROVIDER_REQUEST: "the provider refused the request: the message says why, its options mend it",
    ErrorClass.PROVIDER_AUTH: "the provider refused the credentials: `evenhand doctor` shows which keys are set",
    ErrorClass.PROVIDER_RATE_LIMIT: "the provider asks for fewer calls: set `runner.rate_limit` or a lower `-j`",
    ErrorClass.PROVIDER_UNAVAILABLE: "the provider was down: run the missing cells again with `--failed`",
    ErrorClass.PROVIDER_TIMEOUT: "no answer in time: raise `timeout_ms`, or run again with `--failed`",
    ErrorClass.PROVIDER_PROTOCOL: "the answer could not be read: look at what the provider sent",
    ErrorClass.EXEC_FAILED: "the program under test broke: its messages are in the result",
    ErrorClass.CACHE_MISS: "no stored answer: run once without `--cache-only`",
    ErrorClass.CACHE_UNAVAILABLE: "the kept answers cannot be read: `evenhand cache path` says where they are",
    ErrorClass.GRADER_FAILED: "the grader gave no usable verdict: look at what it answered",
    ErrorClass.GRADER_UNAVAILABLE: "the grader could not be reached: run again with `--failed`",
    ErrorClass.STORE_UNAVAILABLE: "results could not be kept: `evenhand doctor` checks the state folder",
    ErrorClass.INTERNAL: "a fault of evenhand itself, or of a plugin: please report it with the message",
    ErrorClass.GRADER_MISSING: "no grader is configured for this assertion: name one in the suite",
    ErrorClass.RENDER_FAILED: "a template does not render for this case: mend it or the case's vars",
    ErrorClass.ASSERT_FAILED: "an assertion cannot be evaluated: mend it in the suite",
    ErrorClass.TRANSFORM_FAILED: "a transform broke or gave nothing: mend it in the suite",
    ErrorClass.CHECKER_FAILED: "a checker of the suite broke: run it by hand with the same input",
    ErrorClass.TRANSFORM_FAILED: "a transform broke or gave nothing: mend it, or the answer that it was given",
}
"""What to do about each class of error."""


def remedy(error_class: str | None) -> str:
    """What to do about an error, empty for a class that this version does not know."""
    return REMEDIES.get(error_class or "", "")


def owner(error_class: str) -> str:
    """Whose an error is to mend."""
    return "the suite" if exit_code_of(error_class) is ExitCode.SUITE else "the machinery"


def percent(share: float) -> str:
    """A share with one decimal. Only a share of exactly 1 or 0 reads as 100% or 0%."""
    if share in (0, 1):
        return f"{share:.0%}"
    return f"{min(max(round(share * 100, 1), 0.1), 99.9):.1f}%"


def duration(milliseconds: float) -> str:
    """A time in the unit that suits it: `310 ms`, `12.4 s`, `2 min 05 s`, `1 h 02 min`."""
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms" if milliseconds >= 9.95 else f"{milliseconds:.1f} ms"
    seconds = milliseconds / 1_000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60:,} h {minutes % 60:02d} min"


def dollars(amount: float) -> str:
    """An amount of money with as many decimals as it needs to be told from nothing."""
    if amount == 0:
        return "$0"
    decimals = 2 if abs(amount) >= 1 else min(2 - math.floor(math.log10(abs(amount))), 8)
    return f"${amount:,.{decimals}f}"


def counted(count: int, noun: str) -> str:
    """A number and its noun, in the plural where it must be."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
