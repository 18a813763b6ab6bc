"""Judges, embeddings and checkers: what they said is kept as answers are, and no broken verdict ever."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from evenhand.model.caching import CacheSettings
from evenhand.model.exchange import Response
from evenhand.model.grading import Grader, Graders
from evenhand.model.result import CaseResult
from evenhand.model.suite import Case, Prompt, Retries, Runner, Suite
from evenhand.providers.http import Http
from evenhand.template import Val
from support.assertions import built
from support.cached import Counted, counted, run_cells
from support.servers import serving, status
from support.suites import suite

ASK = (Prompt(id="p", template="say {{ word }}"),)
GOOD = Response(output={"reasoning": "fine", "pass": True, "score": 0.8}, cost_usd=0.5)


def judged(folder: Path, judge: Counted, rubric: dict[str, Any], **fields: Any) -> Suite:
    case = Case(id="t", vars={"word": Val("hi")}, assertions=(built({"type": "llm-rubric", **rubric}),))
    return suite(
        folder,
        [case],
        providers=(counted(lambda _: "an answer"),),
        prompts=ASK,
        runner=Runner(retries=Retries(max=0)),
        graders=Graders(judges=(Grader(provider=judge),)),
        **fields,
    )


def run(loaded: Suite, folder: Path, **options: Any) -> CaseResult:
    return run_cells(loaded, folder / "cache", **options)[0]


def test_verdict_is_kept_and_judged_by_todays_threshold(tmp_path: Path) -> None:
    judge = counted([GOOD], id="judge")
    first = run(judged(tmp_path, judge, {"value": "Is kind."}), tmp_path).asserts[0]
    assert (first.status, first.cached, first.cost_usd) == ("pass", False, 0.5)
    for changed, verdict in (
        ({}, "pass"),
        ({"threshold": 0.9}, "fail"),
        ({"threshold": 0.9, "negate": True}, "pass"),
        ({"weight": 3.0}, "pass"),
    ):
        again = run(judged(tmp_path, judge, {"value": "Is kind.", **changed}), tmp_path).asserts[0]
        assert (again.status, again.cached, again.cost_usd) == (verdict, True, 0.5)
    assert judge.asked == 1


def test_other_rubric_is_another_question(tmp_path: Path) -> None:
    judge = counted([GOOD, GOOD], id="judge")
    for rubric in ("Is kind.", "Is short."):
        run(judged(tmp_path, judge, {"value": rubric}), tmp_path)
    assert judge.asked == 2


def test_unusable_verdict_is_never_used_again(tmp_path: Path) -> None:
    judge = counted(["well…", {"pass": True}, "no", GOOD], id="judge")
    broken = run(judged(tmp_path, judge, {"value": "Is kind."}), tmp_path)
    assert (broken.error_class, judge.asked) == ("grader_failed", 3)
    assert run(judged(tmp_path, judge, {"value": "Is kind."}), tmp_path).status == "pass"
    assert run(judged(tmp_path, judge, {"value": "Is kind."}), tmp_path).asserts[0].cached
    assert judge.asked == 4


def test_refusal_patterns_are_about_answers_not_about_verdicts(tmp_path: Path) -> None:
    judge = counted([Response(output='{"reasoning": "sorry", "pass": true, "score": 1}')], id="judge")
    loaded = judged(tmp_path, judge, {"value": "Is kind."})
    runner = structs.replace(loaded.runner, refusal_patterns=("sorry",))
    for _ in range(2):
        run(structs.replace(loaded, runner=runner), tmp_path)
    assert judge.asked == 1


def test_graders_can_be_asked_anew(tmp_path: Path) -> None:
    judge = counted([GOOD, GOOD], id="judge")
    fresh = CacheSettings(grader=False)
    for _ in range(2):
        result = run(judged(tmp_path, judge, {"value": "Is kind."}, cache=fresh), tmp_path)
    assert (result.cached, result.asserts[0].cached, judge.asked) == (True, False, 2)
    offline = run(judged(tmp_path, judge, {"value": "Is kind."}, cache=fresh), tmp_path, only=True)
    assert (offline.error_class, judge.asked) == ("cache_miss", 2)


def test_judge_is_a_miss_under_cache_only(tmp_path: Path) -> None:
    judge = counted([GOOD], id="judge")
    run(judged(tmp_path, judge, {"value": "Is kind."}), tmp_path)
    missed = run(judged(tmp_path, judge, {"value": "Is short."}), tmp_path, only=True)
    assert (missed.error_class, missed.asserts[0].error_class) == ("cache_miss", "cache_miss")
    assert judge.asked == 1


def checked(folder: Path, **options: Any) -> Suite:
    check = built({"type": "exec", "command": ["sh", "check.sh"], **options})
    case = Case(id="t", vars={"word": Val("hi")}, assertions=(check,))
    return suite(folder, [case], providers=(counted(lambda _: "an answer"),), prompts=ASK)


CHECK = "cat > /dev/null; echo >> calls.txt; echo '{}'\n"


@pytest.mark.parametrize(
    ("reply", "status", "kept"),
    [
        ('{"pass": true, "score": 0.7, "reason": "r", "details": {"a": 1}}', "pass", True),
        ('{"pass": false}', "fail", True),
        ('{"pass": "yes"}', "error", False),
        ('{"pass": true, "score": 7}', "error", False),
        ('{"error": {"message": "no"}}', "error", False),
        ("nothing", "error", False),
    ],
)
def test_reply_of_a_checker_is_kept_where_it_is_a_verdict(
    reply: str, status: str, kept: bool, tmp_path: Path
) -> None:
    (tmp_path / "check.sh").write_text(CHECK.format(reply), encoding="utf-8")
    found = [run(checked(tmp_path), tmp_path).asserts[0] for _ in range(2)]
    assert [item.status for item in found] == [status, status]
    assert found[1].cached is kept
    assert (found[0].score, found[0].reason, found[0].details) == (
        found[1].score,
        found[1].reason,
        found[1].details,
    )
    assert len((tmp_path / "calls.txt").read_text()) == (1 if kept else 2)


def test_changed_checker_and_its_salt_ask_again(tmp_path: Path) -> None:
    script = tmp_path / "check.sh"
    script.write_text(CHECK.format('{"pass": true}'), encoding="utf-8")
    run(checked(tmp_path), tmp_path)
    assert not run(checked(tmp_path, cache_salt="v2"), tmp_path).asserts[0].cached
    assert not run(checked(tmp_path, config={"a": 1}), tmp_path).asserts[0].cached
    assert run(checked(tmp_path, timeout_ms=9_000), tmp_path).asserts[0].cached
    script.write_text(CHECK.format('{"pass": false}'), encoding="utf-8")
    assert run(checked(tmp_path), tmp_path).asserts[0].status == "fail"


def test_error_in_the_body_of_a_successful_reply_is_not_kept(tmp_path: Path) -> None:
    async def replies() -> None:
        async with serving({"error": "busy"}, {"answer": "x"}, status(500)) as server:
            provider = Http(id="one", url=Val(server.url), output_expr="response.json.answer")
            case = Case(id="t", assertions=(built({"type": "contains", "value": "x"}),))
            loaded = suite(tmp_path, [case], providers=(provider,), runner=Runner(retries=Retries(max=0)))
            found = [await asyncio.to_thread(run, loaded, tmp_path) for _ in range(3)]
            assert [result.status for result in found] == ["error", "pass", "pass"]
            assert [result.cached for result in found] == [False, False, True]
            assert len(server.seen) == 2

    asyncio.run(replies())


def test_equal_judges_of_a_jury_give_verdicts_of_their_own(tmp_path: Path) -> None:
    poor = Response(output={"reasoning": "poor", "pass": False, "score": 0.1})
    judge = counted([GOOD, poor, GOOD], id="judge")
    jury = tuple(Grader(provider=structs.replace(judge, id=name)) for name in ("a", "b", "c"))
    for _ in range(2):
        loaded = structs.replace(judged(tmp_path, judge, {"value": "Is kind."}), graders=Graders(judges=jury))
        result = run(loaded, tmp_path)
        assert result.status == "pass"
    assert judge.asked == 3
    assert result.asserts[0].cached
