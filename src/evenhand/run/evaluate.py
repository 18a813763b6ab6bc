"""The two passes over a case's assertions: local ones first, then the graded ones that can still matter."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from evenhand.errors import ClassifiedError, ErrorClass
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome, errored, skipped
from evenhand.run.scoring import Weighed, graders_matter
from evenhand.run.transform import RunScripts, views

Grade = Callable[[Assertion, Evidence], Awaitable[Outcome]]
"""How a graded assertion is judged, `negate` applied: the seam behind which judges, embeddings and checkers live."""

JudgeScripts = Callable[[Sequence[Assertion], Evidence], Awaitable[Sequence[Outcome]]]
"""How the script assertions of a case are judged together, `negate` applied."""

DECIDED = "skipped: outcome already decided"


async def evaluate_case(
    assertions: Sequence[Assertion],
    evidence: Evidence,
    *,
    threshold: float | None,
    short_circuit: bool,
    judge_scripts: JudgeScripts,
    run_transforms: RunScripts,
    grade: Grade,
) -> list[Weighed]:
    """Judge the answer by every assertion; the outcomes keep the order of the assertions.

    Scripts are asked in one batch once the other local assertions are judged, and before graded ones.
    """
    outcomes: list[Outcome | None] = [
        judge(a, evidence) if a.tier == "local" and not a.is_script and a.transform is None else None
        for a in assertions
    ]
    if None not in outcomes:
        return [Weighed(o, a.weight) for o, a in zip(outcomes, assertions, strict=True) if o is not None]
    local = [i for i, a in enumerate(assertions) if outcomes[i] is None and a.tier == "local"]
    if local:
        some = [assertions[index] for index in local]
        judged = await _judge_later(some, await views(some, evidence, run_transforms), judge_scripts)
        for index, outcome in zip(local, judged, strict=True):
            outcomes[index] = outcome
    waiting = [index for index, outcome in enumerate(outcomes) if outcome is None]
    if waiting:
        decided = [Weighed(o, a.weight) for o, a in zip(outcomes, assertions, strict=True) if o is not None]
        graded = [assertions[index] for index in waiting]
        if short_circuit and not _worth_grading(decided, graded, threshold):
            found: Sequence[Outcome] = [skipped(DECIDED)] * len(graded)
        else:
            seen = await views(graded, evidence, run_transforms)
            found = await asyncio.gather(
                *(_graded(assertion, view, grade) for assertion, view in zip(graded, seen, strict=True))
            )
        for index, outcome in zip(waiting, found, strict=True):
            outcomes[index] = outcome
    return [Weighed(o, a.weight) for o, a in zip(outcomes, assertions, strict=True) if o is not None]


async def _judge_later(
    assertions: Sequence[Assertion], seen: Sequence[Evidence | Outcome], judge_scripts: JudgeScripts
) -> list[Outcome]:
    """The outcomes of local assertions that are scripts or have a transform; one batch of scripts to each output."""
    outcomes: dict[int, Outcome] = {}
    batches: dict[int, tuple[Evidence, list[int]]] = {}
    for index, (assertion, view) in enumerate(zip(assertions, seen, strict=True)):
        if isinstance(view, Outcome):
            outcomes[index] = view
        elif assertion.is_script:
            batches.setdefault(id(view), (view, []))[1].append(index)
        else:
            outcomes[index] = judge(assertion, view)
    judged = await asyncio.gather(
        *(judge_scripts([assertions[i] for i in indexes], view) for view, indexes in batches.values())
    )
    for (_, indexes), found in zip(batches.values(), judged, strict=True):
        outcomes.update(zip(indexes, found, strict=True))
    return [outcomes[index] for index in range(len(assertions))]


def judge(assertion: Assertion, evidence: Evidence) -> Outcome:
    """The outcome of one local assertion. Whatever breaks in it becomes an error, never a verdict."""
    try:
        return assertion.judge(evidence)
    except ClassifiedError as error:
        return errored(error.message, error.error_class, details=error.details)
    except Exception as error:  # noqa: BLE001  (a broken kind must not take the cell's other verdicts with it)
        return errored(f"{type(error).__name__}: {error}", ErrorClass.INTERNAL)


def _worth_grading(local: Sequence[Weighed], graded: Sequence[Assertion], threshold: float | None) -> bool:
    return graders_matter(local, [assertion.weight for assertion in graded], threshold)


async def _graded(assertion: Assertion, evidence: Evidence | Outcome, grade: Grade) -> Outcome:
    if isinstance(evidence, Outcome):
        return evidence
    try:
        return await grade(assertion, evidence)
    except ClassifiedError as error:
        return errored(error.message, error.error_class, details=error.details)
    except Exception as error:  # noqa: BLE001  (as in `judge`)
        return errored(f"{type(error).__name__}: {error}", ErrorClass.INTERNAL)
