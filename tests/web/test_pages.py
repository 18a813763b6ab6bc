"""What the pages show beyond lists."""

from __future__ import annotations

import html
import json

import pytest

from evenhand.model.exchange import SentCall
from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult, CaseStatus, Run, RunStatus
from support.viewed import OLDER, RUN_ID, a_case, a_failure, keep


def test_the_matrix_shows_each_test_by_how_it_was_asked(browse, add) -> None:
    add(a_case(0), a_failure(0, provider="other"), a_case(1))
    page = json.loads(browse(f"/runs/{RUN_ID}/matrix.json")[2])
    assert page["columns"] == [["app", "ask"], ["other", "ask"]]
    assert [[cell and cell["status"] for cell in row["cells"]] for row in page["rows"]] == [
        ["pass", "fail"],
        ["pass", None],
    ]
    assert "case-1" in browse(f"/runs/{RUN_ID}/matrix")[2]


def test_two_runs_stand_beside_each_other_with_what_their_outputs_lost_and_gained(browse, add) -> None:
    add(a_case(0, output="the capital is Paris"), a_case(1), run_id=OLDER)
    add(a_failure(0, output="the capital is Lyon"), a_case(1))
    page = browse(f"/compare?base={OLDER}&head={RUN_ID}")[2]
    assert "<del>Paris</del><ins>Lyon</ins>" in page
    twin = json.loads(browse(f"/compare.json?base={OLDER}&head={RUN_ID}")[2])
    assert [(s["name"], s["total"]) for s in twin["sections"]] == [("newly_failing", 1)]


def test_kept_answers_are_listed_and_shown_with_their_questions(browse, site, tmp_path) -> None:
    key = keep(site, {"prompt": "capital of France"}, test="france")
    assert [row["key"] for row in json.loads(browse("/cache.json")[2])["rows"]] == [key]
    assert json.loads(browse("/cache.json?provider=other")[2])["rows"] == []
    page = browse(f"/cache/{key.removeprefix('sha256:')}")[2]
    assert "capital of France" in page
    assert "&lt;b&gt;Paris" in page
    assert "capital of France" in browse(f"/cache/{key}")[2]
    assert browse("/cache/0123")[0] == 404
    assert browse("/cache/nonsense")[0] == 404


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["c", "b", "a"]),
        ("text=STRASSE", ["b"]),
        ("text=of+France", ["a"]),
        ("text=say+%22hi%22", ["c"]),
        ("text=Berlin", []),
        ("provider=other", ["c"]),
        ("test=a", ["a"]),
        ("test=*", ["c", "b", "a"]),
        ("key=nonsense", []),
        ("provider=app&text=stra", ["b"]),
        ("before=nonsense", ["c", "b", "a"]),
    ],
)
def test_kept_answers_are_searched(browse, site, query: str, found: list[str]) -> None:
    keep(site, {"prompt": "capital of France"}, test="a")
    keep(site, {"prompt": "die Stra\u00dfe"}, test="b", output="long " * 20_000)
    keep(site, {"prompt": 'say "hi"'}, test="c", provider="other")
    twin = json.loads(browse(f"/cache.json?{query}")[2])
    assert [row["test"] for row in twin["rows"]] == found
    assert twin["older"] is None
    assert browse(f"/cache?{query}")[0] == 200


def test_a_kept_answer_is_found_by_the_beginning_of_its_key(browse, site) -> None:
    keys = [keep(site, {"n": n}, test=str(n)) for n in range(5)]
    for key in keys:
        rows = json.loads(browse(f"/cache.json?key={key[:15]}")[2])["rows"]
        assert [row["key"] for row in rows] == [key]


def test_kept_answers_are_paged_to_the_last(browse, site, monkeypatch) -> None:
    monkeypatch.setattr("evenhand.web.pages.kept.SHOWN", 2)
    for number in range(5):
        keep(site, {"n": number}, test=str(number), output="even" if number % 2 == 0 else "odd")
    assert walked(browse, "/cache?") == [["4", "3"], ["2", "1"], ["0"]]
    assert walked(browse, "/cache?text=even&") == [["4", "2"], ["0"]]


def test_a_search_through_very_many_kept_answers_goes_on_where_it_stopped(browse, site, monkeypatch) -> None:
    monkeypatch.setattr("evenhand.cache.inspecting.MAX_SEARCHED", 2)
    for number in range(5):
        keep(site, {"n": number}, test=str(number), output="here" if number == 0 else "no")
    assert "Not among those looked through so far" in browse("/cache?text=here")[2]
    assert walked(browse, "/cache?text=here&") == [[], [], ["0"]]


def walked(browse, address: str) -> list[list[str]]:
    """The tests on each page, from the newest to the last."""
    pages, before = [], ""
    while True:
        twin = json.loads(browse(f"{address.replace('?', '.json?')}{before}")[2])
        pages.append([row["test"] for row in twin["rows"]])
        if twin["older"] is None:
            return pages
        assert f"before={twin['older']}" in browse(f"{address}{before}")[2]
        before = f"before={twin['older']}"


def test_a_case_shows_what_was_sent_and_what_came_back(browse, add) -> None:
    sent = SentCall(method="POST", url="http://host/<ask>", headers={"X-A": "b"}, body='{"q":"why?"}')
    add(a_case(0, request=sent, raw={"answer": "<i>"}))
    address = f"/runs/{RUN_ID}/cases/{a_case(0).case_key}"
    page = browse(address)[2]
    assert "POST http:&#x2f;&#x2f;host&#x2f;&lt;ask&gt;\nX-A: b" in page
    assert "{\n  &quot;answer&quot;: &quot;&lt;i&gt;&quot;\n}" in page
    twin = json.loads(browse(f"{address}.json")[2])
    assert twin["result"]["request"]["headers"] == {"X-A": "b"}
    assert twin["kept_question"] is None


def test_a_case_with_a_kept_answer_shows_what_was_keyed(browse, add, site) -> None:
    key = keep(site, {"prompt": "capital of France"})
    add(a_case(0, cached=True, cache_key=key), a_case(1, cached=True, cache_key="sha256:" + "0" * 64))
    address = f"/runs/{RUN_ID}/cases/{a_case(0).case_key}"
    twin = json.loads(browse(f"{address}.json")[2])
    assert twin["kept_question"]["request"] == {"prompt": "capital of France"}
    page = browse(address)[2]
    assert "capital of France" in page
    assert f'href="/cache/{key.removeprefix("sha256:")}"' in page
    gone = browse(f"/runs/{RUN_ID}/cases/{a_case(1).case_key}")
    assert gone[0] == 200
    assert "/cache/" not in gone[2]


def test_a_case_shows_what_its_scripts_printed(browse, add) -> None:
    printed = {"console": ["saw <b>", "twice"], "other": 1}
    script = AssertResult(kind="javascript", status=Status.PASS, reason="fine", details=printed)
    member = {"kind": "python", "status": "pass", "details": {"console": ["inside"]}}
    group = AssertResult(kind="all-of", status=Status.PASS, reason="held", parts=(member,))
    add(a_case(0, asserts=(script, group)))
    address = f"/runs/{RUN_ID}/cases/{a_case(0).case_key}"
    page = browse(address)[2]
    assert "saw &lt;b&gt;\ntwice" in page
    shown = json.loads(browse(f"{address}.json")[2])["assertions"]
    assert [shown[0]["console"], shown[1]["parts"][0]["console"]] == ["saw <b>\ntwice", "inside"]
    assert json.loads(shown[0]["details"]) == {"other": 1}


def test_several_runs_stand_side_by_side_where_they_differ(browse, add) -> None:
    third = "01J00000000000000000000AAA"
    add(a_case(0), a_case(1), run_id=OLDER)
    add(a_case(0), a_failure(1))
    add(a_case(0), a_case(1), a_case(2), run_id=third)
    query = f"run={OLDER}&run={RUN_ID}&run={third}"
    page = json.loads(browse(f"/side-by-side.json?{query}")[2])
    shown = [(row["test_id"], [cell and cell["status"] for cell in row["cells"]]) for row in page["rows"]]
    assert shown == [("case-1", ["pass", "fail", "pass"]), ("case-2", [None, None, "pass"])]
    assert "2 cases differ" in browse(f"/side-by-side?{query}")[2]
    assert browse(f"/side-by-side?run={OLDER}")[0] == 404
    assert f'value="{OLDER}"' in browse("/runs")[2]


def test_the_spans_of_a_call_are_drawn_below_each_other(browse, add) -> None:
    from evenhand.model.trace import Span, Trace

    spans = (
        Span(span_id="a", name="<answer>", start_ms=0, end_ms=100),
        Span(span_id="b", parent_span_id="a", name="search", start_ms=10, end_ms=60, status_code=2),
    )
    add(a_case(0, trace=Trace(trace_id="t", spans=spans)))
    page = browse(f"/runs/{RUN_ID}/cases/{a_case(0).case_key}")[2]
    assert "&lt;answer&gt;" in page
    assert page.count('class="span"') == 2


def test_without_kept_answers_the_page_says_so(browse) -> None:
    assert "No such answer is kept" in browse("/cache")[2]


def test_a_comparison_with_a_run_that_is_not_there_says_so(browse, add) -> None:
    add(a_case(0))
    assert browse(f"/compare?base=01NOSUCHRUN&head={RUN_ID}")[0] == 404
    assert browse("/compare")[0] == 200


def test_a_case_shows_its_past_and_what_changed_since(browse, add) -> None:
    add(a_case(0, output="the capital is Paris"), run_id=OLDER)
    add(a_case(0, output="the capital is Lyon"))
    key = a_case(0).case_key
    page = browse(f"/runs/{RUN_ID}/cases/{key}")[2]
    assert f'href="?against={OLDER}"' in page
    assert "<del>Paris</del><ins>Lyon</ins>" in browse(f"/runs/{RUN_ID}/cases/{key}?against={OLDER}")[2]


def test_members_of_an_assertion_stand_below_it(browse, add) -> None:
    member = {"kind": "contains", "status": "fail", "score": 0, "reason": "no Paris", "parts": []}
    script = {
        "pass": True,
        "score": 1,
        "reason": "well",
        "componentResults": [{"pass": False, "reason": "ill"}],
    }
    group = AssertResult(kind="any-of", status=Status.FAIL, score=0.0, reason="none", parts=(member, script))
    add(a_case(0, status=CaseStatus.FAIL, asserts=(group,)))
    (shown,) = json.loads(browse(f"/runs/{RUN_ID}/cases/{a_case(0).case_key}.json")[2])["assertions"]
    assert [(part["kind"], part["status"]) for part in shown["parts"]] == [
        ("contains", "fail"),
        ("part", "pass"),
    ]
    assert shown["parts"][1]["parts"][0]["reason"] == "ill"


@pytest.mark.parametrize(
    ("output", "inside"),
    [
        ("# Title\n\n* **bold**\n* x", "<h1>Title</h1>"),
        ("a [link](https://example.org/) *b*", 'href="https://example.org/"'),
        ("[a](javascript:alert(1)) **b**", "[a](javascript:alert(1))"),
        ("![x](https://evil.example/p.png) **b**", "!<a href="),
        ("<b onclick=x>raw</b> **b**", "&lt;b onclick=x&gt;"),
        ("[a](file:///etc/passwd) **b**", "[a](file:///etc/passwd)"),
        ("[a](data:text/html,x) **b**", "[a](data:text/html,x)"),
    ],
)
def test_markdown_is_shown_without_what_could_act(output: str, inside: str, browse, add) -> None:
    add(a_case(0, output=output))
    page = browse(f"/runs/{RUN_ID}/cases/{a_case(0).case_key}")[2]
    shown = page[
        page.index('<div class="markdown">') : page.index("</details>", page.index('<div class="markdown">'))
    ]
    assert html.unescape(inside) in html.unescape(shown)
    assert not any(bad in shown for bad in ("<img", 'href="javascript', 'href="file', 'href="data', "<b "))


def test_json_is_a_tree_of_bounded_depth_and_size(browse, add) -> None:
    deep: object = 1
    for _ in range(60):
        deep = {"a": deep}
    add(a_case(0, output=json.dumps({"deep": deep, "wide": list(range(5_000))})))
    page = json.loads(browse(f"/runs/{RUN_ID}/cases/{a_case(0).case_key}.json")[2])
    assert [node["name"] for node in page["tree"]] == ["deep", "wide"]
    assert page["tree"][1]["children"][-1]["text"].endswith("more")
    assert browse(f"/runs/{RUN_ID}/cases/{a_case(0).case_key}")[0] == 200


@pytest.mark.parametrize(
    ("alive", "word", "running"),
    [(True, "UNFINISHED", True), (None, "UNFINISHED", True), (False, "UNFINISHED", False)],
)
def test_a_run_that_goes_on_shows_what_is_there_and_one_that_was_killed_says_so(
    browse, store, monkeypatch, alive, word, running
) -> None:
    monkeypatch.setattr(type(store), "goes_on", lambda *_: alive)
    writer = store.begin(Run(run_id=RUN_ID, suite="live", planned_cells=5))
    writer.add(a_case(0))
    writer.add(a_failure(1))
    writer.flush()
    page = json.loads(browse(f"/runs/{RUN_ID}.json")[2])
    assert (page["run"]["word"], page["run"]["is_running"], page["is_live"]) == (word, running, True)
    assert dict(page["tallies"])["passed"] == dict(page["tallies"])["failed"] == 1
    assert page["notes"] == ["2 of 5 planned cells ran"]
    assert ("--resume-run" in page["explanation"]) is not running
    (row,) = json.loads(browse("/runs.json")[2])["rows"]
    assert (row["passed"], row["failed"], row["is_running"]) == (1, 1, running)
    assert "2 of 5" in browse("/runs")[2]


def test_a_run_that_is_gone_on_with_is_running_again(browse, add, store, monkeypatch) -> None:
    add(a_case(0), status=RunStatus.INTERRUPTED, exit_code=130)
    assert json.loads(browse(f"/runs/{RUN_ID}.json")[2])["run"]["word"] == "INTERRUPTED"
    monkeypatch.setattr(type(store), "goes_on", lambda *_: True)
    assert json.loads(browse(f"/runs/{RUN_ID}.json")[2])["run"]["is_running"] is True


def test_distributions_are_drawn_from_what_is_known(browse, add) -> None:
    add(*(a_case(n, latency_ms=10.0 + n, cost_usd=0.001 * (n + 1), score=n / 10) for n in range(10)))
    page = browse(f"/runs/{RUN_ID}")[2]
    assert "Latency" in page
    assert "Score over cost, app" in page
    assert page.count("<circle") == 10


def test_a_suite_with_several_runs_has_a_trend(browse, add) -> None:
    from evenhand.model.result import Summary

    for number, rate in enumerate((0.5, 0.75)):
        summary = Summary(total=4, judged=4, pass_rate=rate, pass_rate_low=0.1, pass_rate_high=0.9)
        add(a_case(0), run_id=f"01J000000000000000000000T{number}", summary=summary)
    (trend,) = json.loads(browse("/runs.json")[2])["trends"]
    assert (trend["suite"], trend["latest"], len(trend["points"])) == ("capitals", 0.75, 2)
