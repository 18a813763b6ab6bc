"""Groups of assertions: three-valued, scored, asked only as far as it matters."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.analysis.scoring import case_passes, case_score
from evenhand.errors import ErrorClass, Problem
from evenhand.model.assertion import Assertion, placed, walk
from evenhand.model.evidence import Evidence
from evenhand.model.group import Group
from evenhand.model.outcome import Outcome, Status, Weighed, errored, failed, failed_both_ways, passed
from evenhand.model.transform import Transform
from evenhand.run.evaluate import evaluate_case
from evenhand.run.groups import GROUP_DECIDED
from support.assertions import ENGINE, build, built, evidence, judged_case, judged_group, verdict_on

PASS, FAIL, ERROR, SKIPPED = Status.PASS, Status.FAIL, Status.ERROR, Status.SKIPPED
YES = {"type": "contains", "value": "yes"}
NO = {"type": "contains", "value": "no"}
GROUPS = ("all-of", "assert-set", "any-of", "none-of", "at-least")
_BOTH_POLARITIES = (*GROUPS, *(f"not-{kind}" for kind in GROUPS))


class Given(Assertion, frozen=True, kw_only=True, tag="given"):
    """A local assertion whose outcome the test decides."""

    outcome: Any

    def evaluate(self, evidence: Evidence) -> Outcome:
        found: Outcome = self.outcome
        return found


class Asked(Given, frozen=True, kw_only=True, tag="asked"):
    """A graded one."""

    tier: ClassVar[Literal["local", "graded", "members"]] = "graded"


class Asking:
    """Grades as the assertion says, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[Assertion] = []

    async def __call__(self, assertion: Assertion, seen: Evidence) -> Outcome:
        self.asked.append(assertion)
        await asyncio.sleep(0)
        assert isinstance(assertion, Given)
        return assertion.settle(assertion.evaluate(seen), seen)


def of(status: Status, score: float | None = None) -> Outcome:
    if status is ERROR:
        return errored("broke", ErrorClass.CHECKER_FAILED)
    make = passed if status is PASS else failed
    return make("found", score=(1.0 if status is PASS else 0.0) if score is None else score)


def group(kind: str, members: Sequence[Assertion], **options: Any) -> Group:
    fields: dict[str, Any] = {"n": 1} if kind.endswith("at-least") else {}
    negate = kind.startswith("not-")
    cls = type(built({"type": kind.removeprefix("not-"), **fields, "assert": [YES]}))
    assert issubclass(cls, Group)
    made: Group = cls(members=tuple(members), negate=negate, **{**fields, **options})
    return made


def judge(
    assertion: Assertion, *, short_circuit: bool = True, threshold: float | None = None, output: str = "text"
) -> tuple[Outcome, Asking]:
    asking = Asking()
    outcome = judged_group(
        assertion, evidence(output), grade=asking, short_circuit=short_circuit, threshold=threshold
    )
    return outcome, asking


def truth(kind: str, statuses: Sequence[Status], n: int = 1) -> Status:
    """What a group is, said once more in the plainest way: over all verdicts that errored members might have had."""
    held: dict[str, Callable[[Sequence[bool]], bool]] = {
        "all-of": all,
        "assert-set": all,
        "any-of": any,
        "none-of": lambda world: not any(world),
        "at-least": lambda world: sum(world) >= n,
    }
    possible = [(True, False) if s is ERROR else (s is PASS,) for s in statuses]
    verdicts = {held[kind](worlds) for worlds in itertools.product(*possible)}
    return ERROR if len(verdicts) > 1 else PASS if True in verdicts else FAIL


@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("member", [Given, Asked])
@pytest.mark.parametrize("short_circuit", [True, False])
def test_groups_are_three_valued(kind: str, member: type[Given], short_circuit: bool) -> None:
    for length in (1, 2, 3):
        for statuses in itertools.product((PASS, FAIL, ERROR), repeat=length):
            for n in range(1, length + 1) if kind == "at-least" else (1,):
                options = {"n": n} if kind == "at-least" else {}
                made = group(kind, [member(outcome=of(status)) for status in statuses], **options)
                outcome, _ = judge(made, short_circuit=short_circuit)
                assert outcome.status is truth(kind, statuses, n), (statuses, n)
                assert (outcome.score is None) is (outcome.status is ERROR)
                turned, _ = judge(group(f"not-{kind}", made.members, **options), short_circuit=short_circuit)
                opposite = {PASS: FAIL, FAIL: PASS, ERROR: ERROR}
                assert turned.status is opposite[outcome.status]


def test_scores_are_those_of_the_members() -> None:
    members = [
        Given(outcome=of(PASS, 0.5), weight=3.0),
        Given(outcome=of(FAIL, 0.1), weight=1.0),
        Given(outcome=of(FAIL, 0.3), weight=0.0),
    ]
    scores = {kind: judge(group(kind, members))[0].score for kind in GROUPS}
    assert scores == pytest.approx(
        {"all-of": 0.4, "assert-set": 0.4, "any-of": 0.5, "none-of": 0.5, "at-least": 1.0}
    )
    assert judge(group("at-least", members, n=2))[0].score == 0.5


def test_decided_group_does_not_ask_its_remaining_members() -> None:
    members = [Asked(outcome=of(FAIL)), Asked(outcome=of(PASS)), Asked(outcome=of(PASS))]
    for kind, asked in {"all-of": 1, "any-of": 2, "none-of": 2, "at-least": 2}.items():
        outcome, asking = judge(group(kind, members))
        assert len(asking.asked) == asked, kind
        skipped = [part for part in outcome.parts if part.status is SKIPPED]
        assert len(skipped) == 3 - asked
        assert all(part.reason == GROUP_DECIDED for part in skipped)
    assert len(judge(group("at-least", members, n=3))[1].asked) == 1


def test_local_members_decide_before_anybody_is_asked() -> None:
    held, missed, grader = Given(outcome=of(PASS)), Given(outcome=of(FAIL)), Asked(outcome=of(PASS))
    assert judge(group("any-of", [grader, held]))[1].asked == []
    assert judge(group("all-of", [grader, missed]))[1].asked == []
    inner = group("any-of", [grader, held])
    outcome, asking = judge(group("all-of", [inner, missed]))
    assert (outcome.status, asking.asked) == (FAIL, [])
    assert outcome.parts[0].status is PASS


def test_without_short_circuit_every_member_is_asked() -> None:
    inner = group("any-of", [Asked(outcome=of(PASS)), Asked(outcome=of(PASS))])
    made = group("all-of", [Given(outcome=of(FAIL)), Asked(outcome=of(FAIL)), inner])
    assert len(judge(made, short_circuit=False)[1].asked) == 3


def test_errored_member_does_not_decide_a_group_that_may_still_fail() -> None:
    outcome, asking = judge(group("all-of", [Given(outcome=of(ERROR)), Asked(outcome=of(FAIL))]))
    assert (outcome.status, len(asking.asked)) == (FAIL, 1)
    outcome, _ = judge(group("all-of", [Given(outcome=of(ERROR)), Asked(outcome=of(PASS))]))
    assert (outcome.status, outcome.error_class) == (ERROR, "checker_failed")
    assert "broke" in outcome.reason


def test_set_with_a_threshold_asks_as_long_as_the_score_is_open() -> None:
    low, grader = Given(outcome=of(FAIL, 0.0)), Asked(outcome=of(PASS, 0.9))
    assert judge(group("assert-set", [low, grader], threshold=0.6))[1].asked == []
    outcome, asking = judge(group("assert-set", [low, grader], threshold=0.4))
    assert (outcome.status, outcome.score, len(asking.asked)) == (PASS, 0.45, 1)
    free = built({"type": "any-of", "assert": [{"type": "javascript", "value": "3"}]})
    unbounded = group("all-of", [free, Asked(outcome=of(PASS))])
    made = group("assert-set", [low, unbounded], threshold=0.9)
    outcome, asking = judge(made)
    assert (outcome.status, outcome.score, len(asking.asked)) == (PASS, 1.0, 1)
    errored_first = group("assert-set", [Given(outcome=of(ERROR)), grader], threshold=0.1)
    assert (judge(errored_first)[0].status, judge(errored_first)[1].asked) == (ERROR, [])


def test_under_a_threshold_of_the_case_members_are_asked_while_the_score_is_open() -> None:
    made = group("all-of", [Given(outcome=of(FAIL, 0.0)), Asked(outcome=of(PASS, 1.0))])
    assert judge(made)[1].asked == []
    outcome, asking = judge(made, threshold=0.5)
    assert (outcome.score, len(asking.asked)) == (0.5, 1)


def leaf(local: bool, status: Status, score: float, weight: float) -> Assertion:
    return (Given if local else Asked)(outcome=of(status, score), weight=weight)


leaves_ = st.builds(
    leaf,
    st.booleans(),
    st.sampled_from([PASS, FAIL, FAIL, PASS, ERROR]),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.sampled_from([0.0, 1.0, 2.0]),
)


def grouped(kind: str, members: list[Assertion], weight: float, threshold: float | None) -> Assertion:
    options: dict[str, Any] = {"threshold": threshold} if kind == "assert-set" else {}
    if kind == "at-least":
        options["n"] = (len(members) + 1) // 2
    if threshold is not None and not any(member.weight for member in members):
        options.pop("threshold", None)
    return group(kind, members, weight=weight, **options)


trees = st.recursive(
    leaves_,
    lambda inner: st.builds(
        grouped,
        st.sampled_from([*GROUPS, *(f"not-{kind}" for kind in GROUPS if kind != "assert-set")]),
        st.lists(inner, min_size=1, max_size=3),
        st.sampled_from([0.0, 1.0]),
        st.sampled_from([None, 0.3, 0.6]),
    ),
    max_leaves=8,
)


def run_case(
    assertions: Sequence[Assertion], threshold: float | None, *, short_circuit: bool
) -> list[Weighed]:
    return asyncio.run(
        evaluate_case(
            assertions,
            evidence("text"),
            threshold=threshold,
            short_circuit=short_circuit,
            judge_scripts=_no_scripts,
            run_transforms=_no_transforms,
            grade=Asking(),
        )
    )


async def _no_scripts(assertions: Sequence[Assertion], seen: Evidence) -> Sequence[Outcome]:
    raise AssertionError("there are no scripts")


async def _no_transforms(transforms: Sequence[Transform], seen: Evidence) -> Sequence[Any]:
    raise AssertionError("there are no transforms")


@settings(max_examples=150, deadline=None)
@given(st.lists(trees, min_size=1, max_size=3), st.sampled_from([None, 0.25, 0.5, 0.9]))
def test_what_is_skipped_could_not_have_changed_the_verdict(
    assertions: list[Assertion], threshold: float | None
) -> None:
    if threshold is not None and not any(assertion.weight for assertion in assertions):
        return  # refused at load: the threshold could never be missed
    whole = run_case(assertions, threshold, short_circuit=False)
    short = run_case(assertions, threshold, short_circuit=True)
    if any(inner.outcome.status is ERROR for inner in _everything(whole)):
        # Who is not asked cannot error, so only what did not error is compared.
        return
    verdicts = [case_passes(found, case_score(found), threshold) for found in (whole, short)]
    weights = [
        a.weight for a, found in zip(assertions, short, strict=True) if found.outcome.score is not None
    ]
    if threshold is None or any(weights):
        assert verdicts[0] == verdicts[1]
    for full, brief in zip(whole, short, strict=True):
        if brief.outcome.status is not SKIPPED:
            assert brief.outcome.status is full.outcome.status
            assert threshold is None or brief.outcome.score == full.outcome.score


def _everything(found: Sequence[Weighed]) -> list[Any]:
    waiting: list[Any] = list(found)
    seen = []
    while waiting:
        item = waiting.pop()
        outcome = item.outcome if isinstance(item, Weighed) else item
        seen.append(Weighed(outcome, 1.0))
        waiting += outcome.parts
    return seen


@pytest.mark.parametrize(
    "options",
    [
        {"type": "none-of", "assert": [NO]},
        {"type": "not-any-of", "assert": [NO]},
        {"type": "not-all-of", "assert": [NO, {"type": "cost", "max": 1}]},
        {"type": "not-at-least", "n": 1, "assert": [NO]},
        {"type": "none-of", "assert": [{"type": "any-of", "assert": [NO]}]},
    ],
)
def test_group_that_says_what_is_not_there_cannot_pass_on_an_empty_answer(options: Mapping[str, Any]) -> None:
    outcome = judged_group(built(options), evidence(""))
    assert outcome.status is FAIL
    assert "vacuously" in outcome.reason
    assert outcome.parts
    assert judged_group(built(options), evidence("text")).status is PASS


def test_what_fails_both_ways_never_helps_a_group_to_pass() -> None:
    """Over every small tree: a group passes at most where it would with any verdict in place of the fails both ways."""
    lost = failed_both_ways("threw")
    leaves = [Given(outcome=lost), Given(outcome=of(PASS)), Given(outcome=of(FAIL))]
    pairs = [pair for pair in itertools.product(leaves, repeat=2) if pair[0].outcome is lost]
    for outer, inner in itertools.product(_BOTH_POLARITIES, repeat=2):
        for first, second in pairs:
            worlds = [Given(outcome=of(status)) for status in (PASS, FAIL)]
            made = group(outer, [group(inner, [first, second]), Given(outcome=of(FAIL))])
            possible = [
                judge(group(outer, [group(inner, [world, second]), Given(outcome=of(FAIL))]))[0].status
                for world in worlds
                if second.outcome is not lost
            ]
            if possible:
                expected = PASS if set(possible) == {PASS} else FAIL
                assert judge(made)[0].status is expected, (outer, inner, second.outcome.status)


@pytest.mark.parametrize(
    "member",
    [
        {"type": "javascript", "value": "(() => { throw new Error('boom') })()"},
        {"type": "javascript", "value": "undefined"},
        {"type": "python", "value": "float('nan')"},
        {"type": "jinja", "value": "output_json.status == 'ok'"},
        {"type": "contains", "value": "secret", "transform": "''"},
        {"type": "cost", "max": 1, "on_missing": "fail"},
    ],
)
@pytest.mark.parametrize("kind", ["none-of", "not-any-of", "not-all-of"])
def test_member_that_could_not_tell_is_no_sign_of_absence(kind: str, member: Mapping[str, Any]) -> None:
    outcome = judged_group(built({"type": kind, "assert": [member]}), evidence("text"))
    assert (outcome.status, outcome.score) == (FAIL, 0.0)
    assert "what fails both ways counts as passed here" in outcome.reason
    assert outcome.parts[0].status is FAIL


def test_safe_mode_rejects_inside_a_group_that_asks_for_the_opposite() -> None:
    made = built({"type": "none-of", "assert": [{"type": "javascript", "value": "false"}]})
    (found,) = judged_case((made,), evidence("text"), safe_mode=True)
    assert (found.outcome.status, found.outcome.score) == (FAIL, 0.0)


def test_group_that_reads_only_figures_may_pass_on_an_empty_answer() -> None:
    options = {"type": "none-of", "assert": [{"type": "cost", "max": 1}]}
    assert judged_group(built(options), evidence("", response={"cost_usd": 2.0})).status is PASS


def test_budget_that_nobody_enforced_is_no_judgement_of_its_group() -> None:
    budget = {"type": "cost", "max": 1}
    for kind in ("all-of", "any-of", "none-of", "not-any-of", "not-all-of"):
        outcome = verdict_on("text", type=kind, **{"assert": [budget]})
        assert (outcome.status, outcome.unenforced) == (PASS, True), kind
    for kind in ("any-of", "none-of"):
        outcome = verdict_on("text", type=kind, **{"assert": [budget, NO]})
        assert (outcome.status, outcome.unenforced) == (PASS, True), kind
    assert not verdict_on("yes", type="any-of", **{"assert": [budget, YES]}).unenforced
    assert not verdict_on("yes", type="all-of", **{"assert": [budget, YES]}).unenforced
    assert verdict_on("yes", type="at-least", n=2, **{"assert": [budget, YES]}).unenforced


def test_results_of_members_are_kept_as_a_tree() -> None:
    inner = {"type": "any-of", "assert": [NO, {**YES, "metric": "tone", "weight": 2}]}
    outcome = verdict_on("yes", type="all-of", **{"assert": [inner, {**NO, "negate": True}]})
    assert [(p.kind, p.status, p.score) for p in outcome.parts] == [
        ("any-of", PASS, 1.0),
        ("contains", PASS, 1.0),
    ]
    first, second = outcome.parts[0].parts
    assert (first.status, second.status, second.metric, second.weight) == (FAIL, PASS, "tone", 2.0)
    assert second.criteria.value == "yes"
    assert second.reason == 'output contains "yes"'


def test_costs_of_members_add_up() -> None:
    paid = [Outcome(status=PASS, score=1.0, cost_usd=0.25), Outcome(status=PASS, score=1.0, cost_usd=0.5)]
    made = group("all-of", [Asked(outcome=outcome) for outcome in paid])
    assert judge(group("all-of", [made]))[0].cost_usd == 0.75
    assert judge(group("all-of", [Given(outcome=of(PASS))]))[0].cost_usd is None


def test_scripts_inside_groups_are_judged_with_all_others() -> None:
    script = {"type": "javascript", "value": "output.length / 10"}
    options = {"assert": [script, {"type": "any-of", "assert": [script, NO]}]}
    outcome = verdict_on("ten chars!", type="all-of", **options)
    assert (outcome.status, outcome.score) == (PASS, 1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"type": "at-least", "n": 3, "assert": [YES, NO]}, "3 of 2 members can never pass"),
        ({"type": "at-least", "n": 0, "assert": [YES]}, ">= 1"),
        ({"type": "all-of", "assert": []}, "length >= 1"),
        ({"type": "assert-set", "threshold": 1.5, "assert": [YES]}, "between 0 and 1"),
        ({"type": "assert-set", "threshold": 0.5, "assert": [{**YES, "weight": 0}]}, "weighs 0"),
    ],
)
def test_group_that_can_never_pass_or_fail_is_refused(options: Mapping[str, Any], words: str) -> None:
    problems = build(options)
    assert isinstance(problems, list)
    assert words in str(problems[0])


def test_weights_that_change_nothing_and_thresholds_that_are_always_met_draw_a_warning() -> None:
    def warned(options: Mapping[str, Any]) -> list[Problem]:
        return list(built(options).warnings(ENGINE))

    assert warned({"type": "any-of", "assert": [YES, {**NO, "weight": 2}]})[0].path == ("assert", 1, "weight")
    assert warned({"type": "assert-set", "threshold": 0, "assert": [YES]})
    free = {"type": "javascript", "value": "1"}
    assert not warned({"type": "assert-set", "threshold": 0, "assert": [free]})
    assert not warned({"type": "all-of", "assert": [{**YES, "weight": 2}]})


def test_walk_meets_every_assertion_with_its_path_and_polarity() -> None:
    made = built({"type": "none-of", "assert": [YES, {"type": "not-all-of", "assert": [NO]}]})
    assert [inner.kind for inner in walk((made,))] == ["none-of", "contains", "all-of", "contains"]
    assert [(p.path, p.is_turned) for p in placed((made,))] == [
        ((0,), True),
        ((0, "assert", 0), True),
        ((0, "assert", 1), False),
        ((0, "assert", 1, "assert", 0), False),
    ]
