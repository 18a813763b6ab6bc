"""Builds assertions and evidence as a run does, without a suite around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from evenhand.errors import BrokenAssertion, Problem
from evenhand.model.assertion import ASSERTIONS, NEGATION_PREFIX, Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Response
from evenhand.model.outcome import Outcome, errored
from evenhand.template import Engine, Scope, Val
from support.scripts import judged_script

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
    return list(assertion.problems(ENGINE)) or assertion


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
    if assertion.is_script:
        return judged_script(assertion, seen)
    try:
        return assertion.judge(seen)
    except BrokenAssertion as broken:
        return errored(broken.message, broken.error_class, details=broken.details)


def verdict_on(output: Any, /, **options: Any) -> Outcome:
    """The outcome of one assertion over one output."""
    return judged(built(options), evidence(output))


def _as_val(wanted: type, value: Any) -> Any:
    if wanted is Val:
        return Val(value)
    raise NotImplementedError(wanted)
