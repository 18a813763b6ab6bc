"""What can be known to be missing before the first call: graders, and credentials."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from evenhand.errors import Problem
from evenhand.model.assertion import walk
from evenhand.model.grading import GradedAssertion
from evenhand.model.provider import Provider
from evenhand.run.plan import Plan

MAX_PROBLEMS = 20


def missing_graders(plan: Plan) -> list[Problem]:
    """Every way in which selected cases need a grader that nobody configures, each once, at its first case."""
    found: dict[str, Problem] = {}
    graders = plan.suite.graders
    for case, assertion in _graded(plan):
        missing = assertion.missing(graders)
        if missing is not None and missing not in found:
            found[missing] = Problem(f"case {case!r}: {missing}")
            if len(found) == MAX_PROBLEMS:
                break
    return list(found.values())


def called_providers(plan: Plan) -> list[Provider]:
    """The providers that the selected cases will call, graders and reachable fallbacks included; equal ones once."""
    called: list[Provider] = [*plan.providers, *plan.fallbacks()]
    seen: set[int] = {id(provider) for provider in called}
    for _, assertion in _graded(plan):
        for provider in assertion.asks(plan.suite.graders):
            if id(provider) not in seen:
                seen.add(id(provider))
                if provider not in called:
                    called.append(provider)
    return called


def missing_packages(providers: Collection[Provider], *, replaced: Collection[str] = ()) -> list[Problem]:
    """The providers that need a package which is not installed. `replaced` ids need none."""
    lacking = {p.lacks: p for p in providers if p.lacks is not None and p.id not in replaced}
    return [Problem(f"provider {provider.id!r}: {lacks}") for lacks, provider in lacking.items()]


def missing_credentials(
    providers: Collection[Provider], environ: Mapping[str, str], *, replaced: Collection[str] = ()
) -> list[Problem]:
    """The providers whose secret is in none of the variables that may hold it. `replaced` ids need none."""
    problems: dict[str, Problem] = {}
    for provider in providers:
        names = provider.credentials
        if provider.id in replaced or not names or any(environ.get(name, "").strip() for name in names):
            continue
        listed = " or ".join(f"`{name}`" for name in names)
        message = f"provider {provider.id!r} has no key: {listed} is not set"
        problems.setdefault(
            message, Problem(message, hint="set it, or name another variable with `api_key_env`")
        )
    return list(problems.values())


def _graded(plan: Plan) -> Iterator[tuple[str, GradedAssertion]]:
    if not plan.suite.has_graded_cases:
        return
    for case in plan.cases():
        for assertion in walk(case.assertions):
            if isinstance(assertion, GradedAssertion):
                yield case.id, assertion
