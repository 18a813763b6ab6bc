"""What a suite is told about the fallbacks that it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.written import load, messages, warnings

CASE = {"tests": [{"id": "c", "assert": [{"type": "is-json"}]}]}
VECTORS = {"id": "vec", "type": "embeddings", "model": "m"}


def of(*providers: dict[str, Any]) -> dict[str, Any]:
    return {"providers": list(providers), **CASE}


def echo(name: str, **options: Any) -> dict[str, Any]:
    return {"id": name, "type": "echo", **options}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            of(echo("alpha"), echo("b", fallback=["alhpa"])),
            "providers[1].fallback[0]: no provider has the id 'alhpa'; did you mean 'alpha'?",
        ),
        (
            of(echo("a", fallback=["a"])),
            "providers[0].fallback[0]: provider 'a' is its own fallback; name another provider",
        ),
        (of(echo("a", fallback=["vec"]), VECTORS), "providers[0].fallback[0]: 'vec' makes embeddings"),
        (of(echo("a"), {**VECTORS, "fallback": ["a"]}), "providers[1].fallback: an embeddings provider is"),
        (of(echo("a"), {**VECTORS, "fallback_only": True}), "providers[1].fallback_only: an embeddings"),
        (
            of(echo("a", fallback_only=True, fallback=["b"]), echo("b", fallback_only=True, fallback=["a"])),
            "providers: every provider is `fallback_only`",
        ),
        (
            {
                **of(echo("a")),
                "grader": {
                    "provider": {"id": "j", "type": "openai", "model": "m", "fallback": ["a"]},
                },
            },
            "grader.provider.fallback: a grader has no fallback",
        ),
        (of(echo("a", fallback="b"), echo("b")), "providers[0].fallback: "),
    ],
)
def test_wrong_fallback_is_refused(tmp_path: Path, document: dict[str, Any], message: str) -> None:
    assert any(message in line for line in messages(tmp_path, document)), messages(tmp_path, document)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            of(echo("a", fallback=["b", "b"]), echo("b")),
            ["providers[0].fallback[1]: the fallback 'b' is listed twice; it is asked once"],
        ),
        (
            of(echo("a", fallback=["b"]), echo("b", fallback=["c"]), echo("c")),
            ["providers[0].fallback[0]: 'b' has fallbacks of its own, which are not followed from here"],
        ),
        (
            of(echo("a"), echo("b", fallback_only=True)),
            ["providers[1].fallback_only: no provider has 'b' as `fallback`, so that it is never asked"],
        ),
        (of(echo("a", fallback=["b"]), echo("b", fallback_only=True)), []),
    ],
)
def test_suspicious_fallback_draws_a_warning(
    tmp_path: Path, document: dict[str, Any], expected: list[str]
) -> None:
    found = warnings(tmp_path, document)
    assert len(found) == len(expected)
    assert all(line in full for line, full in zip(expected, found, strict=True))


def test_a_fallback_with_a_fault_of_its_own_is_not_called_unknown(tmp_path: Path) -> None:
    document = of(echo("a", fallback=["b"]), {"id": "b", "type": "openai"})
    assert not any("no provider has the id" in line for line in messages(tmp_path, document))


def test_a_fallback_that_cannot_report_tool_calls_is_found_for_the_cases_that_reach_it(
    tmp_path: Path,
) -> None:
    ears = {"id": "ears", "type": "exec", "command": ["true"], "fallback": ["deaf"]}
    case = {"id": "c", "assert": [{"type": "not-tool-call", "name": "x"}]}
    document = {"providers": [ears, echo("deaf", fallback_only=True)], "tests": [case]}
    assert any("provider 'deaf' cannot report tool calls" in line for line in messages(tmp_path, document))
    document["tests"] = [{**case, "only_providers": ["ears"]}]
    load(tmp_path, document)
