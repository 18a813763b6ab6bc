"""`evenhand diff`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SUITE = """\
version: 1
suite: faq
providers: [{{id: parrot, type: echo}}]
prompts: [{{id: say, template: "{prompt}"}}]
tests:
  - {{id: paris, vars: {{answer: "The capital is {paris}."}}, assert: [{{type: contains, value: Paris}}]}}
  - {{id: rome, vars: {{answer: "{rome}"}}, assert: [{{type: contains, value: Rome}}]}}
  - {{id: {third}, vars: {{answer: x}}, assert: [{{type: contains, value: x}}]}}
"""


def write(paris: str = "Paris", rome: str = "Rome", third: str = "old", prompt: str = "{{ answer }}") -> None:
    Path("evenhand.yaml").write_text(
        SUITE.format(paris=paris, rome=rome, third=third, prompt=prompt), encoding="utf-8"
    )


def run(evenhand) -> str:
    evenhand("run", "--out", "run.json", "--format", "json")
    return json.loads(Path("run.json").read_text(encoding="utf-8"))["run_id"]


@pytest.fixture
def runs(evenhand):
    """Two runs: in the second one case fails newly, one passes newly, one is gone and one new."""
    write(rome="Milan")
    base = run(evenhand)
    Path("base.json").write_bytes(Path("run.json").read_bytes())
    write(paris="Lyon", third="new")
    return base, run(evenhand)


def test_the_table_leads_with_what_got_worse(evenhand, runs) -> None:
    done = evenhand("diff", *runs)
    assert (done.code, done.err) == (1, "")
    assert done.out.index("newly failing (1)") < done.out.index("newly passing (1)")
    assert "pass → fail; differs: vars, output" in done.out
    assert "The capital is [-Paris-]{+Lyon+}." in done.out
    assert "1 newly failing, 1 newly passing, 0 still failing, 0 unchanged, 1 added, 1 removed" in done.out
    assert "with 2 cases no change at all can be told from chance" in done.out


def test_it_exits_0_where_nothing_fails_newly(evenhand, runs) -> None:
    assert evenhand("diff", runs[0], runs[0]).code == 0
    write(paris="Lyon", rome="Milan", third="new")
    base = run(evenhand)
    write(paris="Lyon", third="new")
    assert evenhand("diff", base, run(evenhand)).code == 0


def test_the_head_is_the_latest_run_unless_named(evenhand, runs) -> None:
    assert evenhand("diff", runs[0]).out == evenhand("diff", runs[0], "latest").out


def test_the_base_latest_is_the_run_before_the_head(evenhand, runs) -> None:
    assert f"{runs[0]} → {runs[1]}" in evenhand("diff", "latest").out


def test_files_are_compared_as_runs_are(evenhand, runs) -> None:
    from_files = evenhand("diff", "base.json", "run.json", "--format", "json")
    from_store = evenhand("diff", *runs, "--format", "json")
    one, two = json.loads(from_files.out), json.loads(from_store.out)
    assert from_files.code == 1
    assert one["cases"] == two["cases"]
    assert one["comparison"] | {"base": "", "head": ""} == two["comparison"] | {"base": "", "head": ""}


def test_json_holds_the_changed_cells_and_the_counts(evenhand, runs) -> None:
    document = json.loads(evenhand("diff", *runs, "--format", "json").out)
    assert [case["section"] for case in document["cases"]] == [
        "newly_failing",
        "newly_passing",
        "added",
        "removed",
    ]
    worse = document["cases"][0]
    assert (worse["base_status"], worse["head_status"], worse["causes"]) == (
        "pass",
        "fail",
        ["vars", "output"],
    )
    assert {"kind": "added", "text": "Lyon"} in worse["output_diff"]
    assert document["comparison"]["newly_failing"] == 1


@pytest.mark.parametrize(
    ("show", "sections"),
    [
        ("none", set()),
        ("regressions", {"newly_failing"}),
        ("changed", {"newly_failing", "newly_passing", "added", "removed"}),
    ],
)
def test_diffs_chooses_what_is_shown(evenhand, runs, show: str, sections: set[str]) -> None:
    document = json.loads(evenhand("diff", *runs, "--format", "json", "--diffs", show).out)
    assert {case["section"] for case in document["cases"]} == sections


def test_markdown_is_a_table_in_code_spans(evenhand, runs) -> None:
    done = evenhand("diff", *runs, "--format", "md", "--out", "diff.md")
    assert (done.code, done.out) == (1, "")
    text = Path("diff.md").read_text(encoding="utf-8")
    assert "### Newly failing (1)" in text
    assert "| `paris` | `parrot · say` | pass → fail | vars, output |" in text
    assert "− `Paris`<br>+ `Lyon`" in text


def test_a_changed_prompt_is_named_as_the_cause(evenhand) -> None:
    write()
    base = run(evenhand)
    write(prompt="Ask: {{ answer }}")
    run(evenhand)
    done = evenhand("diff", base)
    assert done.code == 0
    assert "output changed (3)" in done.out
    assert "differs: prompt, output" in done.out
    assert "the suites differ in: prompts\n" in done.out


def test_hostile_outputs_reach_no_terminal_and_no_markup(evenhand) -> None:
    write(paris="Paris")
    base = run(evenhand)
    write(paris="\\e[2J\\u202Eevil <script>|`x` " + "word " * 2_000)
    run(evenhand)
    for form in ("table", "md"):
        done = evenhand("diff", base, "--format", form)
        assert done.code == 1
        assert "\x1b" not in done.out
        assert "\u202e" not in done.out
        assert len(done.out) < 10_000
    full = evenhand("diff", base, "--full").out
    assert full.count("word") >= 2_000


def test_a_run_that_is_not_there_exits_2(evenhand, runs) -> None:
    for words in (("01ZZZZ", runs[1]), ("none.json", runs[1]), ("branch:nowhere", runs[1])):
        done = evenhand("diff", *words)
        assert done.code == 2
        assert done.err.startswith("error: ")


def test_settings_that_differ_are_shown_where_they_are_asked_for(evenhand) -> None:
    write()
    base = run(evenhand)
    write(prompt="{{ answer }}|`\\u001b")
    head = run(evenhand)
    assert "suite (" not in evenhand("diff", base, head).out
    table = evenhand("diff", base, head, "--config-diff").out
    assert (
        'suite (1)\n  prompts[say].template\n    - "{{ answer }}"\n    + "{{ answer }}|`\\\\u001b"\n' in table
    )
    markdown = evenhand("diff", base, head, "--config-diff", "--format", "md").out
    assert "### Suite (1)" in markdown
    assert '| `prompts[say].template` | `"{{ answer }}"` | ``"{{ answer }}\\|`' in markdown
    document = json.loads(evenhand("diff", base, head, "--config-diff", "--format", "json").out)
    assert document["suite"] == [
        {"path": "prompts[say].template", "base": "{{ answer }}", "head": "{{ answer }}|`\x1b"}
    ]
    assert "suite" not in json.loads(evenhand("diff", base, head, "--format", "json").out)


def test_a_long_setting_is_cut_where_it_says_so(evenhand) -> None:
    write(prompt="x" * 400)
    base = run(evenhand)
    write(prompt="Ω" * 400)
    head = run(evenhand)
    cut = evenhand("diff", base, head, "--config-diff").out
    assert "x" * 60 in cut
    assert "x…\n" in cut
    whole = evenhand("diff", base, head, "--config-diff", "--full").out
    assert whole.count("Ω", whole.index("prompts[say].template")) == 400
