"""What people say of answers in the viewer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand.calibration.labels import read_labels
from evenhand.errors import StoreError
from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult
from evenhand.store.verdicts import NAME, read_verdicts
from support.viewed import RUN_ID, a_case

KEY = a_case(0).case_key
PAGE = f"/runs/{RUN_ID}/cases/{KEY}"


@pytest.fixture
def say(browse):
    """Sends the form of the case's page, as its own page does."""

    def call(**form: str) -> int:
        return browse(f"{PAGE}/verdict", "POST", {"Origin": "same"}, form)[0]

    return call


def test_a_verdict_is_kept_and_shown_on_the_case(say, browse, add) -> None:
    add(a_case(0, output="It is Paris."))
    assert say(label="fail", score="0.25", comment="<b>too short</b>") == 303
    page = browse(PAGE)[2]
    assert "&lt;b&gt;too short" in page
    verdict = json.loads(browse(f"{PAGE}.json")[2])["verdict"]
    assert (verdict["label"], verdict["score"]) == ("fail", 0.25)


def test_a_verdict_survives_later_runs_and_expires_with_the_answer(say, browse, add) -> None:
    add(a_case(0, output="It is Paris."))
    say(label="pass")
    same, other = "01J00000000000000000000AAA", "01J00000000000000000000BBB"
    add(a_case(0, output="It is Paris."), run_id=same)
    add(a_case(0, output="It is Lyon."), run_id=other)
    assert json.loads(browse(f"/runs/{same}/cases/{KEY}.json")[2])["verdict"]["label"] == "pass"
    expired = json.loads(browse(f"/runs/{other}/cases/{KEY}.json")[2])
    assert expired["verdict"] is None
    assert len(expired["older_verdicts"]) == 1
    assert "was said of another answer" in browse(f"/runs/{other}/cases/{KEY}")[2]


def test_a_later_verdict_on_the_same_answer_takes_the_place_of_the_earlier(say, add, tmp_path: Path) -> None:
    add(a_case(0))
    say(label="pass")
    say(label="fail")
    assert [verdict.label for verdict in read_verdicts(tmp_path)] == ["fail"]


def test_verdicts_feed_the_calibration_of_the_judge(say, add, tmp_path: Path) -> None:
    rubric = AssertResult(
        kind="llm-rubric", status=Status.PASS, score=1.0, criteria={"value": "Is friendly."}
    )
    add(a_case(0, output="Hello!", asserts=(rubric,)))
    say(label="fail", comment="curt")
    (item,) = read_labels(tmp_path / NAME)
    assert (item.output, item.label, item.rubric) == ("Hello!", False, "Is friendly.")


@pytest.mark.parametrize(
    "form", [{}, {"label": "maybe"}, {"label": "pass", "score": "2"}, {"label": "pass", "score": "x"}]
)
def test_what_is_no_verdict_is_refused(form: dict[str, str], say, add, tmp_path: Path) -> None:
    add(a_case(0))
    assert say(**form) == 404
    assert read_verdicts(tmp_path) == []


def test_a_form_of_any_size_is_not_taken(say, add) -> None:
    add(a_case(0))
    assert say(label="pass", comment="x" * 1_000_000) == 413


def test_a_file_that_holds_no_verdicts_is_told(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("no verdict\n", encoding="utf-8")
    with pytest.raises(StoreError, match="no file of verdicts"):
        read_verdicts(tmp_path)


def test_equal_answers_of_two_providers_have_verdicts_of_their_own(browse, add) -> None:
    cases = [a_case(0, provider=name, output="Paris") for name in ("one", "other")]
    add(*cases)
    pages = [f"/runs/{RUN_ID}/cases/{case.case_key}" for case in cases]
    for page, label in zip(pages, ("pass", "fail"), strict=True):
        assert browse(f"{page}/verdict", "POST", {"Origin": "same"}, {"label": label})[0] == 303
    assert [json.loads(browse(f"{page}.json")[2])["verdict"]["label"] for page in pages] == ["pass", "fail"]


def test_a_verdict_for_which_there_is_no_room_is_refused_and_the_others_stay(
    say, add, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(a_case(0))
    assert say(label="pass") == 303
    monkeypatch.setattr("evenhand.store.verdicts.MAX_BYTES", 1_000)
    assert say(label="pass", comment="long " * 500) == 500
    assert [verdict.comment for verdict in read_verdicts(tmp_path)] == [""]
