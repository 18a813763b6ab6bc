"""Transforms between an answer and its judgement: those of the provider and the case, then those of assertions.

What a provider answered stays in the result as `raw_output`, so that transforms can be applied to it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from evenhand.errors import TemplateError
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Json
from evenhand.model.outcome import Outcome, errored
from evenhand.model.transform import Transform, TransformFailed, WrittenTransform, transform_of

RunScripts = Callable[[Sequence[Transform], Evidence], Awaitable[Sequence[Json | TransformFailed]]]
"""How transforms that are scripts are run over one output, together."""

MAX_CHARACTERS = 64 * 1024 * 1024
"""Length of the texts that expressions make of one answer, after which no further one is made: all are kept at once."""

_CROWDED = f"the transforms of the case made more than {MAX_CHARACTERS:,} characters together"


class Untransformed(Exception):
    """A transform of the provider or the case that broke: why, and the evidence as far as it came."""

    def __init__(self, failure: TransformFailed, evidence: Evidence) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.evidence = evidence


async def transformed(
    evidence: Evidence, provider: WrittenTransform, case: WrittenTransform, run_scripts: RunScripts
) -> Evidence:
    """The evidence after the transforms of the provider and then of the case. Raises `Untransformed`.

    An answer without output stays as it is.
    """
    if evidence.response.output is None:
        return evidence
    if provider is not None:
        evidence = evidence.changed(await _changed("provider", provider, evidence, run_scripts))
    if case is not None:
        output = await _changed("case", case, evidence, run_scripts)
        evidence = evidence.changed(output, provider_output=evidence.response.output)
    return evidence


async def views(
    assertions: Sequence[Assertion], evidence: Evidence, run_scripts: RunScripts
) -> Sequence[Evidence | Outcome]:
    """What each assertion sees; an error for one whose transform broke. Equal transforms run once, together."""
    wanted = {
        transform_of(assertion.transform): None for assertion in assertions if assertion.transform is not None
    }
    if not wanted or evidence.response.output is None:
        return [evidence] * len(assertions)
    transforms = list(wanted)
    outputs = await _applied(transforms, evidence, run_scripts)
    seen = {
        transform: errored(output.message, output.error_class, details=output.details)
        if isinstance(output, TransformFailed)
        else evidence.changed(output, answer=evidence.answer, provider_output=evidence.provider_output)
        for transform, output in zip(transforms, outputs, strict=True)
    }
    return [
        evidence if assertion.transform is None else seen[transform_of(assertion.transform)]
        for assertion in assertions
    ]


async def _changed(whose: str, written: str | Transform, evidence: Evidence, run_scripts: RunScripts) -> Json:
    (output,) = await _applied([transform_of(written)], evidence, run_scripts)
    if isinstance(output, TransformFailed):
        failure = TransformFailed(f"transform of the {whose}: {output.message}", output.details)
        raise Untransformed(failure, evidence)
    return output


async def _applied(
    transforms: Sequence[Transform], evidence: Evidence, run_scripts: RunScripts
) -> list[Json | TransformFailed]:
    found: dict[int, Json | TransformFailed] = {}
    scripts = []
    room = MAX_CHARACTERS
    for index, transform in enumerate(transforms):
        if transform.type == "jinja":
            value = _evaluated(transform, evidence) if room > 0 else TransformFailed(_CROWDED)
            room -= len(value) if isinstance(value, str) else 0
            found[index] = value
        else:
            scripts.append(index)
    if scripts:
        outputs = await run_scripts([transforms[index] for index in scripts], evidence)
        found.update(zip(scripts, outputs, strict=True))
    return [found[index] for index in range(len(transforms))]


def _evaluated(transform: Transform, evidence: Evidence) -> Json | TransformFailed:
    try:
        value = evidence.engine.evaluate(transform.value, evidence.expression_scope)
    except TemplateError as error:
        return TransformFailed(f"the transform does not fit the output: {error.message}")
    if value is None:
        return TransformFailed("the transform gave null; it must give the new output")
    return value
