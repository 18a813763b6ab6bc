"""Builds assertions and evidence as a run does, without a suite around them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evenhand.errors import BrokenAssertion, Problem
from evenhand.model.assertion import ASSERTIONS, NEGATION_PREFIX, Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Response
from evenhand.model.group import Group
from evenhand.model.outcome import Outcome, Weighed, errored
from evenhand.model.transform import Transform, WrittenTransform
from evenhand.run.evaluate import evaluate_case
from evenhand.run.groups import Grade
from evenhand.run.transform import Untransformed, transformed
from evenhand.template import Engine, Scope, Val
from support.scripts import HERE, changed, judged_script, judged_scripts

ENGINE = Engine()


def build(options: Mapping[str, Any]) -> Assertion | list[Problem]:
    """The assertion that a suite would get from these options, or everything that is wrong with them."""
    document = dict(options)
    kind = str(document.pop("type"))
    if kind.startswith(NEGATION_PREFIX):
        kind = kind.removeprefix(NEGATION_PREFIX)
        document["negate"] = True
    cls = ASSERTIONS.find(kind)
    if cls is None:
        return [Problem(f"unknown assertion type {kind!r}")]
    try:
        assertion = msgspec.convert({"type": kind, **document}, cls, dec_hook=_as_val)
    except msgspec.ValidationError as error:
        return [Problem(str(error))]
    if isinstance(assertion, Group):
        members = [build(member) for member in assertion.members]
        wrong = [problem for member in members if isinstance(member, list) for problem in member]
        if wrong:
            return wrong
        assertion = msgspec.structs.replace(assertion, members=tuple(members))
    return list(assertion.problems(ENGINE)) or assertion


async def refused(assertion: Assertion, seen: Evidence) -> Outcome:
    """A grader for tests in which nobody may be asked."""
    raise AssertionError(f"{assertion.kind} was asked")


def built(options: Mapping[str, Any]) -> Assertion:
    """The assertion of options that are known to be right."""
    assertion = build(options)
    assert isinstance(assertion, Assertion), [str(problem) for problem in assertion]
    return assertion


def is_here(options: Mapping[str, Any]) -> bool:
    """Whether options name a kind that exists and needs nothing but the answer."""
    cls = ASSERTIONS.find(str(options["type"]).removeprefix(NEGATION_PREFIX))
    return cls is not None and cls.tier == "local"


def evidence(
    output: Any = "", *, vars: Mapping[str, Any] | None = None, response: Mapping[str, Any] | None = None
) -> Evidence:
    """What an assertion sees of an answer with this output; `response` has its other fields."""
    return Evidence(
        response=msgspec.convert({"output": output, **(response or {})}, Response),
        vars=vars or {},
        engine=ENGINE,
        scope=Scope(vars or {}),
    )


def judged(assertion: Assertion, seen: Evidence) -> Outcome:
    """The outcome as a result holds it: an assertion that cannot be judged is an error."""
    if isinstance(assertion, Group):
        return judged_group(assertion, seen)
    if assertion.is_script:
        return judged_script(assertion, seen)
    try:
        return assertion.judge(seen)
    except BrokenAssertion as broken:
        return errored(broken.message, broken.error_class, details=broken.details)


def judged_group(
    group: Assertion, seen: Evidence, *, grade: Grade = refused, short_circuit: bool = True, **terms: Any
) -> Outcome:
    """The outcome of a group; `grade` is asked for graded members, `threshold` is that of the case."""
    (found,) = judged_case((group,), seen, grade=grade, short_circuit=short_circuit, **terms)
    return found.outcome


def judged_case(
    assertions: Sequence[Assertion],
    seen: Evidence,
    directory: Path = HERE,
    *,
    grade: Grade = refused,
    short_circuit: bool = True,
    threshold: float | None = None,
    provider: WrittenTransform = None,
    case: WrittenTransform = None,
    safe_mode: bool = False,
) -> list[Weighed]:
    """The outcomes of a case's assertions, judged as a run does it after the transforms of `provider` and `case`."""

    async def scripts(batch: Sequence[Assertion], answer: Evidence) -> Sequence[Outcome]:
        return await asyncio.to_thread(judged_scripts, batch, answer, directory, safe_mode=safe_mode)

    async def transforms(batch: Sequence[Transform], answer: Evidence) -> Sequence[Any]:
        return await asyncio.to_thread(changed, batch, answer, directory, safe_mode=safe_mode)

    async def judged() -> list[Weighed]:
        try:
            evidence = await transformed(seen, provider, case, transforms)
        except Untransformed as broken:
            outcome = errored(broken.failure.message, broken.failure.error_class)
            return [Weighed(outcome, assertion.weight) for assertion in assertions]
        return await evaluate_case(
            assertions,
            evidence,
            threshold=threshold,
            short_circuit=short_circuit,
            judge_scripts=scripts,
            run_transforms=transforms,
            grade=grade,
        )

    return asyncio.run(judged())


def verdict_on(output: Any, /, **options: Any) -> Outcome:
    """The outcome of one assertion over one output."""
    return judged(built(options), evidence(output))


def _as_val(wanted: type, value: Any) -> Any:
    if wanted is Val:
        return Val(value)
    raise NotImplementedError(wanted)
