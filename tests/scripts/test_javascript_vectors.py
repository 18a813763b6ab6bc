"""The right answers of javascript.jsonl in tests/data/vectors; `native` goes before `per_doc` before `expected`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from evenhand.analysis.scoring import ScoreOverflow, case_passes, case_score
from evenhand.model.assertion import Assertion, walk
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Request, Response, TestInfo, Usage
from evenhand.model.named_scores import named_means
from evenhand.model.outcome import Outcome, Status, Weighed
from evenhand.model.suite import Case
from evenhand.model.trace import Trace
from evenhand.run.groups import result_of
from evenhand.template import Scope, Val
from evenhand.traces.collector import Collector
from evenhand.traces.otlp_json import spans_of
from support.assertions import ENGINE, build, judged_case
from support.scripts import loaded, loaded_transform
from support.vectors import row_id, rows

WAITING = {
    "function-value": "functions of JavaScript's library: those of Python are tried in tests/test_given_suite.py",
    "csv": "columns of the other dialect",
    "scoring-function": "a key of the other dialect",
}
"""Topics whose rows are about parts that are no script assertions, each with what they wait for."""

ENGINE_GATE = "the embedded engine refuses what it lacks, even where the other host would say `undefined`"
SYNTAX = "the single-line rule asks the engine what compiles, and is more lenient or stricter here"
AT_LOAD = "what cannot be run is refused at load"
DIALECT = "the row shows names or values of the other dialect"
ELSEWHERE = "about the system around assertions: a provider's answer, vars, options of the other tool"
TRACE = "roots, and spans right under the call, have no parent"
SAFE = "safe mode holds wherever it is switched on, and weight 0 still gates"
SHAPE = "a value of the wrong shape fails, with its place"

DIFFERENT = {
    "nodecl-two-statements-num": SYNTAX,
    "nodecl-assign-first": SYNTAX,
    "decl-shadow-process": SYNTAX,
    "ml-top-await": AT_LOAD,
    "metric-number": AT_LOAD,
    "m-template-empty": "a metric over a name that the case does not define is a load error",
    "ns-proto-key": "a name is a name, whatever the language of the host calls so",
    "config-number": AT_LOAD,
    "config-zero": AT_LOAD,
    "file-colon-name": "a name follows the first colon after an extension, so a folder or file may have one",
    "file-py": "`type: python` runs Python files",
    "file-py-gr": "`type: python` runs Python files",
    "file-py-fn": "`type: python` runs Python files",
    "err-type": "the embedded engine words the message of this TypeError its own way",
    "ctx-vars-array-expands": ELSEWHERE,
    "ctx-vars-json-file": ELSEWHERE,
    "ctx-test-vars-vs-vars": ELSEWHERE,
    "out-null": ELSEWHERE,
    "tf-provider-null-output": ELSEWHERE,
    "tf-vars": ELSEWHERE,
    "safe-cfg-txt-file": AT_LOAD,
    "safe-cfgenv-txt-file": AT_LOAD,
    "safe-cfg-weight0": SAFE,
    "safe-off-weight0": SAFE,
    "py-none": ELSEWHERE,
    "out-error-and-output": ELSEWHERE,
    "proc-slow-timeout-env": ELSEWHERE,
    "ctx-test-keys": DIALECT,
    "ctx-presp": DIALECT,
    "echo-context": DIALECT,
    "ctx-provider-call": "`context.provider.callApi` is not available",
    "rel-cwd": ENGINE_GATE,
    "proc-chdir": ENGINE_GATE,
    "env-dynamic-import": ENGINE_GATE,
    "env-wasm": ENGINE_GATE,
    "env-overwrite-json": "nothing leaks from one evaluation into another",
    "env-proto-pollution": "nothing leaks from one evaluation into another",
    "ns-emptystring": SHAPE,
    "nf-ns-named-text": SHAPE,
    "nf-ns-named-array": SHAPE,
    "cr-circular-real": SHAPE,
    "gr-comment-number": "a field that grading results do not have is ignored",
    "gr-assertion-string": "a field that grading results do not have is ignored",
    "gr-frozen-template": "inline code is never a template",
    "nf-overflow-sum": "a mean that overflows is an error of the case",
    "out-error": ELSEWHERE,
    "trace-depth": TRACE,
    "trace-parents": TRACE,
    "nf-weight0": "a number that is not finite fails, and weight 0 still gates",
}
"""Rows that end otherwise here, each with the reason."""


def waits(row: dict[str, Any]) -> bool:
    asserts = row.get("asserts") or [row.get("assert")]
    return (
        row.get("door") == "promptfoo"
        or row["topic"] in WAITING
        or any(not isinstance(a, dict) for a in asserts)
    )


ROWS = [pytest.param(row, id=row_id(row)) for row in rows("javascript") if not waits(row)]


def evidence_of(row: dict[str, Any]) -> Evidence:
    extra = row.get("response_extra") or {}
    usage = extra.get("tokenUsage")
    output = row["output"]
    if isinstance(output, dict) and "$number" in output:
        output = float(output["$number"])
    response = Response(
        output=output,
        cost_usd=extra.get("cost"),
        stop_reason=extra.get("finishReason"),
        metadata=extra.get("metadata"),
        log_probs=extra.get("logProbs"),
        usage=Usage(
            input_tokens=usage.get("prompt", 0), output_tokens=usage.get("total", 0) - usage.get("prompt", 0)
        )
        if usage
        else None,
        trace=trace_of(extra["$spans"]) if "$spans" in extra else None,
    )
    variables = row["vars"]
    return Evidence(
        response=response,
        vars=variables,
        engine=ENGINE,
        scope=Scope(variables),
        request=Request(text="Prompt for Ada", vars=variables, test=TestInfo(id="t")),
        case=Case(id="t", vars={name: Val(value) for name, value in variables.items()}),
        provider_id="table",
    )


def transforms_of(row: dict[str, Any]) -> tuple[str | None, str | None]:
    """The transforms of the provider and of the case."""
    config = row.get("config_extra") or {}
    blocks = [block for block in config.get("providers") or [] if isinstance(block, dict)]
    shared = (config.get("defaultTest") or {}).get("options") or {}
    options = {**shared, **((row.get("test_extra") or {}).get("options") or {})}
    return blocks[0].get("transform") if blocks else None, options.get("transform")


def trace_of(spans: list[dict[str, Any]]) -> Trace:
    """The trace of a provider that reports these spans under one of its own, in milliseconds from now."""
    collector = Collector(wait_ms=0, max_spans=100)
    with collector.watch() as watch:
        named = [{"name": "table", "parent": watch.traceparent.split("-")[2], "end": 60}, *spans]
        began_ns = time.time_ns()
        written = [
            {
                "traceId": watch.trace_id,
                "spanId": f"{number:016x}",
                "parentSpanId": span.get("parent", f"{number - 1 if span.get('child') else 1:016x}"),
                "name": span["name"],
                "kind": 1,
                "startTimeUnixNano": str(began_ns + span.get("start", 0) * 1_000_000),
                "endTimeUnixNano": str(began_ns + span.get("end", 5) * 1_000_000),
                "attributes": [{"key": "k", "value": {"stringValue": "v"}}],
                "status": {"code": span.get("code", 0)},
            }
            for number, span in enumerate(named, start=1)
        ]
        body = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "t"}, "spans": written}]}]}
        collector.add(spans_of(json.dumps(body).encode(), collector.is_wanted))
        return watch.trace()


def laid_out(row: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """The assertions of a row, with the files that they refer to written into a folder."""
    text = json.dumps(row.get("asserts") or [row["assert"]])
    for name, content in (row.get("files") or {}).items():
        file = folder / name.replace("<ABS>", "abs")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    options: list[dict[str, Any]] = json.loads(text.replace("<ABS>", str(folder / "abs")))
    return options


def wanted(row: dict[str, Any]) -> dict[str, Any]:
    documented = (row.get("doc") or {}).get("per_doc") or {}
    if (row.get("doc") or {}).get("status") == "contradicts":
        return dict(documented)
    expected = dict(row["expected"])
    if row["expected"].get("exact_nonfinite") or expected.get("score", 0) is None:
        expected["score"] = 0
    return {**expected, **documented}


@pytest.mark.parametrize("row", ROWS)
def test_javascript_vector(row: dict[str, Any], tmp_path: Path) -> None:
    problem = difference(row, tmp_path)
    if row["id"] in DIFFERENT:
        assert problem is not None, "this row is as it should be: take it off the list"
    else:
        assert problem is None, problem


def difference(row: dict[str, Any], folder: Path) -> str | None:
    """What of a row ends otherwise than it says, or None."""
    native = row.get("native") or {}
    made = [build(options) for options in laid_out(row, folder)]
    assertions = [assertion for assertion in made if isinstance(assertion, Assertion)]
    scripts = [inner for inner in walk(assertions) if inner.is_script]
    is_sound = len(assertions) == len(made) and all(
        script.weight >= 0 and loaded(script, folder).returned is True for script in scripts
    )
    provider, case = transforms_of(row)
    transforms = [provider, case, *(inner.transform for inner in walk(assertions))]
    is_sound = is_sound and all(
        loaded_transform(transform, folder).returned is True
        for transform in transforms
        if transform is not None
    )
    if native.get("status") == "load_error":
        return None if not is_sound else "it loads"
    if not is_sound and "native" not in row and row["expected"].get("failure_kind") == "error":
        return None
    if not is_sound and not (native.get("status") == "error" and len(assertions) == len(made)):
        return f"it does not load: {made}, {[loaded(a, folder) for a in scripts]}"
    seen = evidence_of(row)
    weighed = judged_case(
        assertions, seen, folder, provider=provider, case=case, safe_mode=row["topic"] == "safe-mode"
    )
    outcomes = [item.outcome for item in weighed]
    per_doc = (row.get("doc") or {}).get("per_doc") or {}
    failure_kind = per_doc.get("failure_kind", row["expected"].get("failure_kind"))
    if row["topic"] in ("transform", "safe-mode") and failure_kind == "error":
        return None if all(o.error_class == "transform_failed" for o in outcomes) else f"{outcomes}"
    if "status" in native:
        return None if outcomes[0].status == native["status"] else f"{outcomes[0]}"
    expected = wanted(row)
    found = [
        *_of_case(
            expected, native, outcomes, assertions, (row.get("test_extra") or {}).get("threshold"), seen
        )
    ]
    if "components" in expected and not native:
        for outcome, component in zip(_flattened(outcomes), expected["components"], strict=False):
            found += _of_one(component, outcome)
    elif len(outcomes) == 1:
        found += _of_one(expected, outcomes[0])
    return "; ".join(found) or None


def _flattened(outcomes: list[Outcome]) -> list[Any]:
    """The other host appends the results of a set's members after the set's own."""
    return [item for outcome in outcomes for item in (outcome, *outcome.parts)]


def _of_one(expected: dict[str, Any], outcome: Any) -> list[str]:
    found = []
    if expected.get("pass") is not None and (outcome.status is Status.PASS) is not expected["pass"]:
        found.append(f"pass is {expected['pass']}, got {outcome}")
    if expected.get("score") is not None and (outcome.score or 0) != pytest.approx(
        expected["score"], abs=1e-12
    ):
        found.append(f"score is {expected['score']}, got {outcome}")
    if expected.get("reason_contains", "") not in outcome.reason:
        found.append(f"reason has {expected['reason_contains']!r}, got {outcome.reason!r}")
    reason = expected.get("reason")
    words = ("Assertion passed", "Custom function", "Aggregate score", "All assertions passed")
    verbatim = reason is not None and not reason.startswith(words)
    if verbatim and outcome.reason != reason:
        found.append(f"reason is {reason!r}, got {outcome.reason!r}")
    return found


def _of_case(
    expected: dict[str, Any],
    native: dict[str, Any],
    outcomes: list[Outcome],
    assertions: list[Assertion],
    threshold: float | None,
    seen: Evidence,
) -> list[str]:
    weighed = [Weighed(o, a.weight) for o, a in zip(outcomes, assertions, strict=True)]
    try:
        passes = case_passes(weighed, case_score(weighed), threshold)
    except ScoreOverflow:
        passes = False
    if "case_status" in native:
        return [] if passes is (native["case_status"] == "pass") else ["the case's verdict differs"]
    if native or expected.get("case_pass") is None:
        return []
    if expected["case_pass"] is not passes:
        return [f"the case passes: {expected['case_pass']}, got {outcomes}"]
    results = [result_of(a, o, seen) for o, a in zip(outcomes, assertions, strict=True)]
    named = {name: score or 0 for name, score in (expected.get("case_namedScores") or {}).items()}
    if "case_namedScores" in expected and named_means(results) != pytest.approx(named):
        return [f"named scores are {named}, got {named_means(results)}"]
    return []
