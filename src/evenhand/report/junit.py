"""JUnit XML, the dialect that Jenkins, GitLab and GitHub actions read: one test suite, one test case a cell.

Format: https://github.com/testmoapp/junitxml describes what the readers have in common. Characters that XML 1.0
cannot hold at all are written as escapes, so the document is well formed for any output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from evenhand.model.outcome import Status
from evenhand.model.result import NOT_PASSING, AssertResult, CaseResult, CaseStatus, Run
from evenhand.report.comparison import run_lines
from evenhand.report.figures import repeat_lines
from evenhand.report.formats import Cases
from evenhand.report.labels import is_repeated, kind_label, output_text, prompt_text, unique_name
from evenhand.report.members import members

MAX_TEXT = 10_000
"""Characters of a prompt or an output that the document quotes; the run itself holds the whole."""

MAX_MEMBERS = 50
"""Members of one group that are listed."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLAIN = re.compile(r"[A-Za-z0-9 ._:;,/=()\[\]·#-]*")
_LOCATION = re.compile(r"(.+?)(?::(\d+))?(?::\d+)?", re.DOTALL)


def render(run: Run, cases: Cases, out: TextIO) -> None:
    """Write the document, one case at a time; the counts at its head come from the run's summary."""
    name = run.suite or run.project or "evenhand"
    totals = _attributes(_totals(run))
    suite = _attributes({"name": name, "timestamp": run.started_at[:19] or None})
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f"<testsuites{totals}>\n <testsuite{suite}{totals}>\n")
    out.write(_properties(_run_properties(run), "  "))
    repeated = is_repeated(run)
    out.writelines(_test_case(case, name, repeated) for case in cases())
    out.write(" </testsuite>\n</testsuites>\n")


def _totals(run: Run) -> dict[str, object]:
    summary = run.summary
    return {
        "tests": summary.total,
        "failures": summary.failed + summary.xpassed,
        "errors": summary.errored,
        "skipped": summary.skipped + summary.xfailed,
        "time": None if summary.wall_ms is None else _seconds(summary.wall_ms),
    }


def _run_properties(run: Run) -> Iterator[tuple[str, object]]:
    yield "run_id", run.run_id
    yield "run_status", run.status
    yield "exit_code", run.exit_code
    yield "evenhand_version", run.evenhand_version or None
    yield "suite_path", run.suite_path or None
    yield "config_digest", run.config_digest or None
    yield "git_commit", run.git and run.git.commit
    yield "git_branch", run.git and run.git.branch
    yield "unchecked", run.summary.unchecked or None
    yield "cost_usd", run.summary.cost_usd
    yield "baseline", run.baseline
    for line in repeat_lines(run.summary):
        yield "repeats", line
    for line in run_lines(run):
        yield "comparison", line


def _test_case(case: CaseResult, class_name: str, repeated: bool) -> str:
    file, line = _file_and_line(case.location)
    attributes = {
        "classname": class_name,
        "name": unique_name(case.cell, repeated=repeated),
        "time": None if case.wall_ms is None else _seconds(case.wall_ms),
        "file": file,
        "line": line,
    }
    body = _properties(_case_properties(case), "   ") + _verdict(case)
    if case.status in NOT_PASSING:
        body += f"   <system-out>{_text(_transcript(case))}</system-out>\n"
    return f"  <testcase{_attributes(attributes)}>\n{body}  </testcase>\n"


def _case_properties(case: CaseResult) -> Iterator[tuple[str, object]]:
    yield "case_key", case.case_key
    yield "status", case.status
    yield "score", case.score
    for tag in case.tags:
        yield "tag", tag
    yield "model", case.model
    yield "cost_usd", case.cost_usd
    yield "latency_ms", case.latency_ms
    yield "attempts", case.attempts if case.attempts > 1 else None
    yield "unchecked", "true" if case.unchecked else None


def _verdict(case: CaseResult) -> str:
    if case.status is CaseStatus.FAIL:
        failed = [result for result in case.asserts if result.status is Status.FAIL]
        return _element("failure", _headline(case, failed), "assertion", _reasons(case))
    if case.status is CaseStatus.XPASS:
        message = _with_reason("expected to fail, but passed", case.expect_fail_reason)
        return _element("failure", message, "xpass", _reasons(case))
    if case.status is CaseStatus.ERROR:
        return _element("error", case.error or "error", case.error_class or "unknown", _reasons(case))
    if case.status is CaseStatus.SKIP:
        return _element("skipped", _with_reason("skipped, the output is empty", case.empty_reason))
    if case.status is CaseStatus.XFAIL:
        return _element("skipped", _with_reason("failed as expected", case.expect_fail_reason))
    return ""


def _headline(case: CaseResult, failed: list[AssertResult]) -> str:
    if not failed:
        return f"the score {case.score} misses the threshold of the case"
    more = f" (and {len(failed) - 1} more failed)" if len(failed) > 1 else ""
    return f"{kind_label(failed[0])}: {failed[0].reason}{more}"


def _reasons(case: CaseResult) -> str:
    return "\n".join(line for result in case.asserts for line in _reason_lines(result))


def _reason_lines(result: AssertResult) -> Iterator[str]:
    yield _reason(result)
    if result.parts and result.status is not Status.PASS:
        for level, member, left_out in members(result, max_shown=MAX_MEMBERS):
            indent = "  " * level
            yield f"{indent}and {left_out:,} more" if member is None else f"{indent}{_reason(member)}"


def _reason(result: AssertResult) -> str:
    return f"[{result.status}] {kind_label(result)}{_score(result)}: {result.reason}"


def _score(result: AssertResult) -> str:
    return "" if result.score is None else f" (score {result.score:g}, weight {result.weight:g})"


def _transcript(case: CaseResult) -> str:
    parts = []
    if case.prompt is not None:
        parts.append(f"prompt:\n{_cut(prompt_text(case))}")
    if case.output is not None:
        parts.append(f"output:\n{_cut(output_text(case))}")
    return "\n\n".join(parts)


def _cut(text: str) -> str:
    left = len(text) - MAX_TEXT
    return text if left <= 0 else f"{text[:MAX_TEXT]}\n… {left:,} more characters"


def _with_reason(text: str, reason: str | None) -> str:
    return f"{text}: {reason}" if reason else text


def _file_and_line(location: str | None) -> tuple[str | None, str | None]:
    found = _LOCATION.fullmatch(location) if location else None
    return (found[1], found[2]) if found else (location, None)


def _element(tag: str, message: str, type: str | None = None, body: str = "") -> str:
    attributes = _attributes({"message": message, "type": type})
    return f"   <{tag}{attributes}>{_text(body)}</{tag}>\n" if body else f"   <{tag}{attributes}/>\n"


def _properties(properties: Iterator[tuple[str, object]], indent: str) -> str:
    lines = [
        f'{indent} <property name="{name}" value={_quoted(str(value))}/>\n'
        for name, value in properties
        if value is not None
    ]
    return f"{indent}<properties>\n{''.join(lines)}{indent}</properties>\n" if lines else ""


def _attributes(attributes: Mapping[str, object]) -> str:
    return "".join(
        [f" {name}={_quoted(str(value))}" for name, value in attributes.items() if value is not None]
    )


def _quoted(text: str) -> str:
    # Most values are names and numbers, and this is asked some ten times for every cell.
    return f'"{text}"' if _PLAIN.fullmatch(text) else quoteattr(_xml(text))


def _text(text: str) -> str:
    # A bare carriage return would be read back as a line feed.
    return escape(_xml(text), {"\r": "&#13;"})


def _xml(text: str) -> str:
    return _NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1_000:.3f}"
