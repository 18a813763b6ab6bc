"""Suites that cross features of every kind, drawn by hypothesis, and what of a run must come out the same again."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from hypothesis import strategies as st

from evenhand import RunOptions, load_suite
from evenhand.model.result import CaseResult, Run
from evenhand.session.execution import execute_run
from evenhand.store.state import store_path
from evenhand.store.store import open_store
from support.machinery import INPUT_PER_MTOK, OUTPUT_PER_MTOK

PRICING = {"input_per_mtok": INPUT_PER_MTOK, "output_per_mtok": OUTPUT_PER_MTOK}

APP = """\
import json, os, re, sys
from evenhand import ErrorClass, ProviderError, Response

def answer(request):
    asked = dict(re.findall(r"\\[(\\w+) ?([^\\]]*)\\]", request.prompt))
    if "down" in asked or "refused" in asked:
        raise ProviderError("down", ErrorClass.PROVIDER_UNAVAILABLE)
    if "empty" in asked or "cut" in asked:
        return Response(output="", stop_reason="length" if "cut" in asked else "stop")
    if "filtered" in asked:
        return Response(output="", stop_reason="content_filter")
    text = asked.get("say", "words")
    if "flip" in asked and request.repeat % 3 == 1:
        text = "another thing"
    return text
"""

PROGRAM = """\
import json, re, sys

def answer(question):
    asked = dict(re.findall(r"\\[(\\w+) ?([^\\]]*)\\]", question["prompt"]["text"]))
    if "down" in asked or "refused" in asked:
        return {"error": {"message": "down"}}
    if "empty" in asked or "cut" in asked or "filtered" in asked:
        return {"output": "", "empty_reason": "truncated" if "cut" in asked else "content_filter"}
    return {"output": asked.get("say", "words"), "cost_usd": 0.001}

if "once" in sys.argv:
    print(json.dumps(answer(json.load(sys.stdin))))
else:
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps({"id": question["domarinn"]["id"], **answer(question)}), flush=True)
"""

CHECKER = """\
import json, sys
found = json.load(sys.stdin)
good = found["config"]["word"] in str(found["output"])
print(json.dumps({"pass": good, "score": 0.75 if good else 0.25, "reason": "looked"}))
"""

PYTHON = [sys.executable, "-SE"]
WORDS = ("blue", "red sky", "12")


def chat(name: str, url: str, **fields: Any) -> dict[str, Any]:
    """A model at the machinery's server."""
    return {
        "id": name, "type": "openai", "model": name, "base_url": f"{url}/v1", "request": {"auth": "none"},
        "pricing": PRICING, **fields,
    }  # fmt: skip


def providers(url: str) -> dict[str, dict[str, Any]]:
    """One of each kind that a suite may ask."""
    return {
        "parrot": {"id": "parrot", "type": "echo"},
        "model": chat("model", url),
        "backed": chat("backed", url, fallback=["spare"]),
        "endpoint": {
            "id": "endpoint", "type": "http", "url": f"{url}/ask", "body": {"question": "{{ prompt }}"},
            "output_expr": "response.json.answer", "stop_reason_expr": "response.json.stop",
            "cost_expr": "response.json.cost",
        },
        "function": {"id": "function", "type": "python", "target": "file://app.py:answer", "cache": True},
        "program": {"id": "program", "type": "exec", "command": [*PYTHON, "program.py", "once"]},
        "server": {"id": "server", "type": "exec", "command": [*PYTHON, "program.py"], "persistent": True},
        "shaped": chat("shaped", url, transform={"type": "jinja", "value": "output | upper"}),
        "unkept": chat("unkept", url, cache=False),
    }  # fmt: skip


QUICK = ("parrot", "model", "backed", "endpoint", "function", "shaped", "unkept")


LOWER = {"type": "jinja", "value": "output | lower"}
SHAPE = "({pass: true, score: 0.6, reason: 'so', namedScores: {shape: output.length}})"


def local_checks() -> st.SearchStrategy[dict[str, Any]]:
    """Assertions that need nobody."""
    words = st.sampled_from(WORDS)
    return st.one_of(
        st.builds(lambda w: {"type": "contains", "value": w}, words),
        st.builds(lambda w: {"type": "not-contains", "value": w}, words),
        st.builds(lambda w: {"type": "equals", "value": w}, words),
        st.builds(lambda n: {"type": "length", "max": n}, st.sampled_from([3, 400])),
        st.builds(lambda w: {"type": "jinja", "value": f"'{w}' in output"}, words),
        st.builds(lambda w: {"type": "contains", "value": w, "transform": LOWER}, words),
        st.sampled_from(
            [
                {"type": "cost", "max": 0.0015}, {"type": "cost", "max": 0.0001}, {"type": "is-json"},
                {"type": "not-cost", "max": 0.0001}, {"type": "tokens", "max": 40}, {"type": "latency", "max": 60_000},
                {"type": "not-contains", "value": "zzz"}, {"type": "cost", "max": 0.0015, "on_missing": "error"},
            ]
        ),
    )  # fmt: skip


def scripts() -> st.SearchStrategy[dict[str, Any]]:
    """Assertions that are code."""
    return st.sampled_from(
        [
            {"type": "javascript", "value": "output.length % 2 === 0"},
            {"type": "javascript", "value": SHAPE},
            {"type": "javascript", "value": "if (output.includes('red')) throw new Error('red'); return true"},
            {"type": "not-javascript", "value": "output.includes('blue')"},
            {"type": "python", "value": "'blue' in output", "metric": "colour"},
        ]
    )  # fmt: skip


def graded_checks() -> st.SearchStrategy[dict[str, Any]]:
    """Assertions that ask somebody."""
    rubric = st.sampled_from(["is polite", "is short", "mumble"])
    several = st.sampled_from(["majority", "all"])
    return st.one_of(
        st.builds(lambda r: {"type": "llm-rubric", "value": r}, rubric),
        st.builds(lambda r: {"type": "not-llm-rubric", "value": r}, rubric),
        st.builds(lambda r: {"type": "llm-rubric", "value": r, "threshold": 0.5}, rubric),
        st.builds(lambda r, v: {"type": "llm-rubric", "value": r, "grader": "JUDGES", "vote": v}, rubric, several),
        st.just({"type": "llm-rubric", "value": "is kind", "grader": "JUDGES", "vote": "mean", "threshold": 0.5}),
        st.builds(lambda t: {"type": "similar", "value": "blue", "threshold": t}, st.sampled_from([0.5, 0.9])),
    )  # fmt: skip


CHECK = {"type": "exec", "command": [*PYTHON, "checker.py"], "config": {"word": "blue"}}


def checks(*, slow: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Assertions of all kinds, groups of them among them, with metrics and weights."""
    leaves = st.one_of(local_checks(), local_checks(), graded_checks(), scripts())
    if slow:
        leaves = st.one_of(leaves, st.just(CHECK))
    groups = grouped(leaves)
    extras = st.fixed_dictionaries(
        {}, optional={"weight": st.sampled_from([0, 1, 2.5]), "metric": st.sampled_from(["tone", "facts"])}
    )
    checks = st.one_of(leaves, leaves, groups, grouped(st.one_of(leaves, groups)))
    return st.builds(lambda check, extra: {**check, **extra}, checks, extras)


def grouped(members: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Groups of such members, of every kind."""
    kinds = [
        {"type": "any-of"}, {"type": "all-of"}, {"type": "none-of"}, {"type": "assert-set"}, {"type": "not-all-of"},
        {"type": "at-least", "n": 1}, {"type": "assert-set", "threshold": 0.4},
    ]  # fmt: skip
    inside = st.lists(members, min_size=1, max_size=3)
    return st.builds(lambda kind, found: {**kind, "assert": found}, st.sampled_from(kinds), inside)


ASKED = st.one_of(
    st.sampled_from(WORDS).map(lambda word: f"[say {word}]"),
    st.sampled_from(WORDS).map(lambda word: f"[say {word}]"),
    st.sampled_from(
        ["[flaky][say blue]", "[down]", "[refused]", "[empty]", "[filtered]", "[cut]", "[say blue][flip]"]
    ),
)


def cases(ids: tuple[str, ...], *, slow: bool) -> st.SearchStrategy[dict[str, Any]]:
    """One test for some of the providers."""
    return st.fixed_dictionaries(
        {"vars": st.builds(lambda q: {"question": q}, ASKED), "assert": st.lists(checks(slow=slow), max_size=3)},
        optional={
            "threshold": st.sampled_from([0.3, 0.7]),
            "expect_fail": st.just("known"),
            "only_providers": st.just([ids[0]]),
            "skip_providers": st.just([ids[-1]]) if len(ids) > 1 else st.just([]),
            "tags": st.just(["smoke"]),
            "cache_salt": st.just("salt"),
            "repeat": st.sampled_from([2, {"max": 6, "until_decided": True, "alpha": 0.4}]),
            "transform": st.just({"type": "jinja", "value": "output | trim"}),
        },
    )  # fmt: skip


RUNNER = st.fixed_dictionaries(
    {"retries": st.sampled_from([{"max": 2, "initial_ms": 1}]), "concurrency": st.sampled_from([1, 4])},
    optional={
        "short_circuit": st.booleans(),
        "fallback": st.booleans(),
        "skip_on_empty_reason": st.sampled_from([["content_filter"], ["blank", "truncated"]]),
        "refusal_patterns": st.just(["^red"]),
        "fallback_on_empty_reason": st.just(["blank", "content_filter", "refusal"]),
        "rate_limit": st.just({"rps": 500}),
        "adaptive_concurrency": st.booleans(),
        "safe_mode": st.just(True),
    },
)  # fmt: skip


def suites(*, slow: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """Documents of suites; addresses stand in them as `URL` until the server is there."""
    kinds = (*QUICK, "program", "server") if slow else QUICK

    @st.composite
    def drawn(draw: st.DrawFn) -> dict[str, Any]:
        ids = tuple(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2, unique=True)))
        tests = draw(st.lists(cases(ids, slow=slow), min_size=1, max_size=4))
        declared = providers("URL")
        chosen = [declared[name] for name in ids]
        others = [{"provider": chat(name, "URL")} for name in ("other", "third")]
        judge = {"provider": chat("judge", "URL"), **draw(st.sampled_from([{}, {"include_prompt": True}]))}
        document: dict[str, Any] = {
            "version": 1,
            "suite": "crossed",
            "providers": [
                *chosen,
                {**chat("vectors", "URL"), "type": "embeddings"},
                chat("spare", "URL", fallback_only=True),
            ],
            "prompts": [{"id": "ask", "template": "{{ question }}"}],
            "grader": draw(st.sampled_from([judge, [judge, *others]])),
            "runner": draw(RUNNER),
            "tests": [{"id": f"t{n}", **test} for n, test in enumerate(tests)],
            "cache": draw(st.sampled_from([{}, {"grader": False}, {"store_empty_outputs": "always"}])),
        }
        if draw(st.integers(0, 3)) == 0:
            document["gate"] = draw(
                st.sampled_from([{"min_pass_rate": 0.1}, {"mode": "budget", "max_regressions": 1}])
            )
        return document  # fmt: skip

    return drawn()


def write(folder: Path, document: Mapping[str, Any], url: str) -> Path:
    """The suite and its programs in a folder that is new."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    judges = [{"provider": chat(name, url)} for name in ("one", "two", "three")]
    text = json.dumps(document).replace('"JUDGES"', json.dumps(judges)).replace("URL/", f"{url}/")
    for name, content in (
        ("evenhand.yaml", text), ("app.py", APP), ("program.py", PROGRAM), ("checker.py", CHECKER),
    ):  # fmt: skip
        (folder / name).write_text(content, encoding="utf-8")
    return folder


class Told(NamedTuple):
    """A run and its cases, in the order of its plan."""

    run: Run
    cases: list[CaseResult]

    @property
    def statuses(self) -> dict[str, str]:
        """How each cell ended."""
        return {case.case_key: case.status.value for case in self.cases}


class Interrupter:
    """Cancels the run, as Ctrl-C does, once so many cells are done."""

    def __init__(self, after: int) -> None:
        self.left = after

    def started(self, run: Run, total: int | None) -> None:
        """Nothing yet."""

    def finished_cell(self, result: CaseResult) -> None:
        """Count, and cancel."""
        self.left -= 1
        if self.left == 0:
            task = next(t for t in asyncio.all_tasks() if t.get_name() == "the run")
            task.cancel()

    def ended(self, run: Run) -> None:
        """Nothing more."""


def executed(folder: Path, *, interrupt_after: int | None = None, **options: Any) -> Told:
    """A run of the suite in a folder."""
    suite = load_suite(folder, environ={})
    observer = None if interrupt_after is None else Interrupter(interrupt_after)

    async def run() -> Run:
        task = asyncio.current_task()
        assert task is not None
        task.set_name("the run")
        return await execute_run(suite, RunOptions(**options), store=store, observer=observer)

    with open_store(store_path(folder / ".evenhand")) as store:
        ended = asyncio.run(run())
        return told(store.find(ended.run_id), store)


def told(run: Run, store: Any) -> Told:
    """A stored run with its cases."""
    return Told(run, sorted(store.results(run.run_id), key=lambda case: case.index))


TIMES = {"latency_ms", "wall_ms", "latency_ms_p50", "latency_ms_p95"}


def plain(value: Any, without: frozenset[str] | set[str] = frozenset()) -> Any:
    """A value as JSON, without what a clock says and further fields."""
    return _without(msgspec.to_builtins(value), TIMES | without)


def _without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {k: _without(v, names) for k, v in value.items() if k not in names}
    if isinstance(value, list | tuple):
        return [_without(v, names) for v in value]
    return value
