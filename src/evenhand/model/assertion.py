"""The base class of assertion kinds: each kind is declared once, in one class.

From that class come parsing, the JSON Schema, the reference page, `evenhand list assertions` and a test per
example. The engine runs kinds by the facts stated here and never by their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec

from evenhand.errors import Problem, TemplateError
from evenhand.model.emptiness import empty_reason
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome, Status, failed_both_ways
from evenhand.model.transform import WrittenTransform
from evenhand.registry import Registry
from evenhand.template import Engine, Val
from evenhand.template.engine import is_template


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A small case that documents a kind and is run as a test: options, what the model said, the verdict."""

    options: dict[str, Any]
    output: Any = ""
    expect: Literal["pass", "fail", "error"]
    vars: dict[str, Any] = {}
    response: dict[str, Any] = {}
    """Further fields of the response, such as `tool_calls`, `usage`, `cost_usd`, `latency_ms`."""
    replies: tuple[Any, ...] = ()
    """What graders answer, in turn: for kinds that ask one."""


# Looked up once: reading a member from its enumeration costs more than a comparison.
_PASS, _FAIL = Status.PASS, Status.FAIL

_KINDS: dict[type, str] = {}
"""Names by class: asked for by every result, and slow to look up in a struct's configuration."""


class Assertion(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="type",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """A check of one answer. Options of a kind are the fields of its class."""

    weight: Annotated[
        float, msgspec.Meta(description="Share of this assertion in the case's weighted mean, 0 or more.")
    ] = 1.0
    negate: Annotated[bool, msgspec.Meta(description="Invert the verdict; the score becomes 1 - score.")] = (
        False
    )
    metric: Annotated[
        str | None,
        msgspec.Meta(description="Name under which the score is also collected over the run. A template."),
    ] = None
    transform: Annotated[
        WrittenTransform,
        msgspec.Meta(
            description="Change of the output for this assertion alone, after those of the provider and the case: "
            "inline JavaScript, `file://` with a script, or a mapping."
        ),
    ] = None

    tier: ClassVar[Literal["local", "graded", "members"]] = "local"
    """`local` kinds are free and run first; `graded` kinds may cost money and are skipped once decided.

    A group (`members`) is what its members are: graded if one of them is.
    """
    reads_output: ClassVar[bool] = True
    """Whether the verdict is about the output; the guard against vacuous negation covers only such kinds."""
    needs_fresh_call: ClassVar[bool] = False
    """Whether an answer from the cache would make the verdict meaningless."""
    needs_tool_calls: ClassVar[bool] = False
    """Whether the verdict needs a provider that reports tool calls."""
    needs_trace: ClassVar[bool] = False
    """Whether the verdict is about what the system under test reported of its work."""
    reads_vars: ClassVar[bool] = False
    """Whether the verdict may depend on any of the case's vars, as that of a script."""
    scores_freely: ClassVar[bool] = False
    """Whether scores may lie outside [0, 1], as those of scripts; thresholds then may as well."""
    is_script: ClassVar[bool] = False
    """Whether code of the suite judges, outside this process: such kinds are `evenhand.scripts` assertions."""
    runs_programs: ClassVar[bool] = False
    """Whether judging starts a program that the suite names."""
    examples: ClassVar[tuple[Example, ...]] = ()

    @property
    def expected_text(self) -> str | None:
        """The text, as written, that a right answer holds; None where the kind looks for none, or is negated."""
        return None

    @property
    def criterion(self) -> str | None:
        """The words, as written, by which a model judges the answer; None where no model does."""
        return None

    def problems(self, engine: Engine) -> Iterator[Problem]:
        """What is wrong with the options beyond their types: a bad pattern, a check that cannot fail."""
        return iter(())

    def warnings(self, engine: Engine) -> Iterator[Problem]:
        """What is legal but suspicious."""
        return iter(())

    def evaluate(self, evidence: Evidence) -> Outcome:
        """Judge the answer, before `negate`. Raises `BrokenAssertion` where it cannot be judged.

        Local kinds only; a graded kind says how it judges in its own base class.
        """
        raise NotImplementedError

    def judge(self, evidence: Evidence) -> Outcome:
        """The verdict on the answer, `negate` included. Raises `BrokenAssertion` where it cannot be judged."""
        return self.settle(self.evaluate(evidence), evidence)

    def settle(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        """The verdict that an evaluation comes to: negated where asked for, unless nothing was produced to judge."""
        if not self.negate or outcome.both_ways:
            return outcome
        if outcome.status is not _PASS and outcome.status is not _FAIL:
            return outcome
        return self.guarded(self.negated(outcome, evidence), evidence)

    def guarded(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        """The outcome itself, unless it is a negated pass over an answer that holds nothing."""
        if self.negate and outcome.passed and self.reads_output and evidence.is_silent:
            return failed_both_ways(vacuous(evidence))
        return outcome

    def negated(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        """The opposite of a pass or fail. A kind whose negation means something else says so here."""
        flipped = _FAIL if outcome.passed else _PASS
        score = None if outcome.score is None else 1.0 - outcome.score
        return msgspec.structs.replace(
            outcome, status=flipped, score=score, reason=f"negated: {outcome.reason}"
        )

    def metric_for(self, evidence: Evidence) -> str | None:
        """The name for the score of this answer: None for none, or where the template renders to nothing.

        A template that does not render names the score all the same, by its text.
        """
        metric = self.metric
        if metric is None or not is_template(metric):
            return metric
        try:
            return evidence.engine.render(metric, evidence.scope).strip() or None
        except TemplateError:
            return metric

    @property
    def members(self) -> tuple[Assertion, ...]:
        """The assertions inside this one: those of a group. Whoever looks at all assertions takes `walk`."""
        return ()

    @property
    def turns_members(self) -> bool:
        """Whether a member that holds makes this assertion fail."""
        return self.negate

    @property
    def kind(self) -> str:
        """The name of the kind, without `not-`."""
        cls = self.__class__
        known = _KINDS.get(cls)
        if known is None:
            known = _KINDS[cls] = str(cls.__struct_config__.tag)
        return known

    def templates(self) -> Iterator[tuple[str, Val]]:
        """Every field whose value is rendered for each case, with its name."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, Val):
                yield name, value
        if self.metric is not None and is_template(self.metric):
            yield "metric", Val(self.metric)

    def expressions(self) -> Iterator[tuple[str, str]]:
        """Every field that is an expression over a case's vars and environment, with its name."""
        return iter(())


def vacuous(evidence: Evidence) -> str:
    """Why an inverted check does not hold of an answer that holds nothing."""
    return (
        f"output was empty ({empty_reason(evidence.response)}): a negated assertion cannot pass vacuously; "
        'where silence is what you want, assert it with `equals: ""` or `length: {max: 0}`'
    )


def walk(assertions: Iterable[Assertion]) -> Iterator[Assertion]:
    """Every assertion, each group before its members, at every depth."""
    for assertion in assertions:
        yield assertion
        if assertion.members:
            yield from walk(assertion.members)


class Placed(NamedTuple):
    """An assertion, the way to it from the list that it stands in, and whether it counts the other way round."""

    assertion: Assertion
    path: tuple[str | int, ...]
    is_turned: bool


def placed(assertions: Iterable[Assertion]) -> Iterator[Placed]:
    """Like `walk`, with the path of each (`2, "assert", 0`) and whether its verdict is inverted on the way up."""
    return _placed(assertions, (), is_turned=False)


def _placed(
    assertions: Iterable[Assertion], path: tuple[str | int, ...], *, is_turned: bool
) -> Iterator[Placed]:
    for index, assertion in enumerate(assertions):
        here = Placed(assertion, (*path, index), is_turned is not assertion.turns_members)
        yield here
        yield from _placed(assertion.members, (*here.path, MEMBERS), is_turned=here.is_turned)


def scores_freely(assertion: Assertion) -> bool:
    """Whether the score of an assertion may lie outside [0, 1], as that of scripts and of groups that hold one."""
    return any(inner.scores_freely for inner in walk((assertion,)))


MEMBERS = "assert"
"""The key of a group that holds its members."""


def _load_builtins() -> None:
    import evenhand.assertions  # noqa: F401  (imports upward on purpose: registration on first use)


ASSERTIONS: Registry[type[Assertion]] = Registry("assertion type", _load_builtins)

NEGATION_PREFIX = "not-"
