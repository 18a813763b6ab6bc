"""Asking a suite's judge about labelled answers, and what its verdicts say of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from evenhand.analysis.agreement import (
    Estimate,
    bootstrapped,
    cohens_kappa,
    confusion_of,
    krippendorffs_alpha,
    length_bias,
    self_consistency,
)
from evenhand.assertions.rubric import LlmRubric
from evenhand.calibration.labels import LabelledItem
from evenhand.errors import UsageError
from evenhand.io.provenance import utc_now
from evenhand.model.calibration import Bounded, Calibration
from evenhand.model.exchange import Request, Response
from evenhand.model.grading import Grader
from evenhand.model.outcome import Status
from evenhand.model.provider import Session
from evenhand.model.result import CaseResult, RunStatus
from evenhand.model.suite import Case, Prompt, Repeat, Suite
from evenhand.providers.echo import Echo
from evenhand.run.options import RunOptions
from evenhand.session.execution import Observer, execute_run
from evenhand.store.store import open_store
from evenhand.template import Val

LABELLED, ORDERED, TURNED = "labelled answers", "item", "turned"


class Verdicts(msgspec.Struct, kw_only=True):
    """What the judge said of one item: its verdicts, how many it did not give, and the one with turned sections."""

    item: LabelledItem
    label: bool
    found: list[bool] = msgspec.field(default_factory=list)
    unusable: int = 0
    turned: bool | None = None

    @property
    def majority(self) -> tuple[bool, ...]:
        """What most of the verdicts say, as those of one observer; empty where they are split."""
        return () if self.share == 0.5 else (self.share > 0.5,)

    @property
    def share(self) -> float:
        """The share of verdicts that pass."""
        return sum(self.found) / len(self.found)


async def calibrate(
    suite: Suite,
    items: Sequence[LabelledItem],
    *,
    rubric: str | None = None,
    repeat: int = 3,
    options: RunOptions = RunOptions(),
    observer: Observer | None = None,
    sessions: Mapping[str, Session] | None = None,
) -> Calibration:
    """Ask the suite's judge about every item, `repeat` times and once with the answer before the rubric.

    `rubric` serves items that have none of their own. Items on which people are split are left out. Verdicts are kept
    in the `cache_dir` of the options, if it is named, and used again. Raises `UsageError` where there is no judge, no
    rubric or no usable verdict, `SuiteError` as a run does.
    """
    if not suite.graders.judges:
        raise UsageError("the suite has no `grader`, so there is no judge to calibrate; add one")
    verdicts = [Verdicts(item=item, label=item.label) for item in items if item.label is not None]
    _check_rubrics([v.item for v in verdicts], rubric)
    cost_usd = await _ask(suite, verdicts, rubric, repeat, options, observer, sessions)
    judged = [verdict for verdict in verdicts if verdict.found]
    if not judged:
        raise UsageError("the judge gave no usable verdict at all; look at it with `evenhand run`")
    return _calibration(suite, verdicts, judged, items, repeat, cost_usd)


def _check_rubrics(items: Sequence[LabelledItem], rubric: str | None) -> None:
    if not items:
        raise UsageError("people are split on every item; label more of them")
    without = [item.id for item in items if item.rubric is None]
    if rubric is None and without:
        raise UsageError(
            f"item {without[0]!r} has no rubric; give one with `--rubric`, or in a column `rubric`"
        )


async def _ask(
    suite: Suite,
    verdicts: Sequence[Verdicts],
    rubric: str | None,
    repeat: int,
    options: RunOptions,
    observer: Observer | None,
    sessions: Mapping[str, Session] | None,
) -> float | None:
    """Put the items to the judge as a run of their own, and note what it said. Returns what that cost."""
    asking = msgspec.structs.replace(
        suite,
        suite=LABELLED,
        providers=(Echo(id=LABELLED),),
        prompts=(Prompt(id="question", template="{{ prompt }}"),),
        cases=_Labelled(verdicts, rubric, repeat, suite.graders.judges),
        tools=(),
        servers=(),
        gate=None,
        baseline=None,
        has_repeats=True,
        has_graded_cases=True,
    )
    given = {**(sessions or {}), LABELLED: _Answers()}
    with open_store(None) as store:
        run = await execute_run(asking, options, store=store, observer=observer, sessions=given)
        if run.status is RunStatus.INTERRUPTED:
            raise KeyboardInterrupt
        for result in store.results(run.run_id):
            _note(verdicts, result)
    return run.summary.grader_cost_usd


def _note(verdicts: Sequence[Verdicts], result: CaseResult) -> None:
    kind, _, place = result.cell.test_id.partition("/")
    of_item = verdicts[int(place)]
    status = result.asserts[0].status if result.asserts else Status.ERROR
    if status not in (Status.PASS, Status.FAIL):
        of_item.unusable += kind == ORDERED
    elif kind == ORDERED:
        of_item.found.append(status is Status.PASS)
    else:
        of_item.turned = status is Status.PASS


class _Labelled:
    """The cases that put labelled items to the judge."""

    is_held = True

    def __init__(
        self, verdicts: Sequence[Verdicts], rubric: str | None, repeat: int, judges: tuple[Grader, ...]
    ) -> None:
        self._verdicts = verdicts
        self._rubric = rubric
        self._repeat = Repeat(max=repeat)
        self._turned = tuple(map(_turned, judges)) if all(j.template is None for j in judges) else ()

    def __len__(self) -> int:
        return len(self._verdicts) * (2 if self._turned else 1)

    def __iter__(self) -> Iterator[Case]:
        for place, verdict in enumerate(self._verdicts):
            item = verdict.item
            rubric = Val(item.rubric or self._rubric, is_data=True)
            values = {
                "output": Val(item.output, is_data=True),
                "prompt": Val(item.prompt or "", is_data=True),
            }
            yield Case(
                id=f"{ORDERED}/{place}",
                vars=values,
                assertions=(LlmRubric(value=rubric),),
                repeat=self._repeat,
            )
            if self._turned:
                turned = LlmRubric(value=rubric, grader=self._turned)
                yield Case(id=f"{TURNED}/{place}", vars=values, assertions=(turned,))


def _turned(judge: Grader) -> Grader:
    """The judge with what it sees in another order: the answer before the rubric."""
    parts = ["{{output}}", "{{rubric}}"]
    if judge.include_prompt:
        parts.insert(0, "{{prompt}}")
    if judge.include_tool_calls:
        parts.insert(0, "{{tool_calls}}")
    return msgspec.structs.replace(judge, template="\n\n".join(parts))


class _Answers:
    """Answers with the output that people labelled."""

    async def complete(self, request: Request) -> Response:
        return Response(output=request.vars["output"])

    async def close(self) -> None:
        return None


def _calibration(
    suite: Suite,
    verdicts: Sequence[Verdicts],
    judged: Sequence[Verdicts],
    items: Sequence[LabelledItem],
    repeat: int,
    cost_usd: float | None,
) -> Calibration:
    pairs = [(verdict.label, verdict.found) for verdict in judged]
    confusion = confusion_of(pairs)
    both = [(v.share, v.turned) for v in judged if v.turned is not None]
    turned = [(share, after) for share, after in both if share != 0.5]
    return Calibration(
        judge_digest=judge_digest(suite),
        judge=", ".join(judge.provider.name for judge in suite.graders.judges),
        calibrated_at=utc_now(),
        items=len(judged),
        repeats=repeat,
        unusable=sum(verdict.unusable for verdict in verdicts),
        ties=sum(item.label is None for item in items),
        right_pass=confusion.right_pass,
        wrong_pass=confusion.wrong_pass,
        right_fail=confusion.right_fail,
        wrong_fail=confusion.wrong_fail,
        sensitivity=confusion.sensitivity,
        specificity=confusion.specificity,
        agreement=_bounded(bootstrapped(pairs, lambda some: confusion_of(some).agreement))
        or Bounded(value=confusion.agreement, low=0.0, high=1.0),
        kappa=_bounded(bootstrapped(pairs, lambda some: cohens_kappa(confusion_of(some)))),
        alpha=_bounded(bootstrapped([(*v.item.labels, *v.majority) for v in judged], krippendorffs_alpha)),
        human_alpha=krippendorffs_alpha([item.labels for item in items]),
        self_consistency=self_consistency([verdict.found for verdict in judged]),
        position_flips=(
            sum((share > 0.5) != after for share, after in turned) / len(turned) if turned else None
        ),
        position_shift=sum(after - share for share, after in both) / len(both) if both else None,
        length_bias=_bounded(
            bootstrapped([(len(v.item.output), v.label, v.share) for v in judged], length_bias)
        ),
        cost_usd=cost_usd,
    )


def _bounded(estimate: Estimate | None) -> Bounded | None:
    return None if estimate is None else Bounded(value=estimate.value, low=estimate.low, high=estimate.high)


def judge_digest(suite: Suite) -> str:
    """What names the judge of a suite: its graders as they are configured."""
    return suite.digests.get("grader", "")
