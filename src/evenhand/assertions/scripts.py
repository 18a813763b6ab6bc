"""The kinds that ask code of the suite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta

from evenhand.errors import Problem
from evenhand.io.given_functions import function_of, is_reference
from evenhand.model.assertion import ASSERTIONS, Example
from evenhand.scripts.assertion import ScriptAssertion
from evenhand.scripts.verdicts import PYTHON
from evenhand.template import Engine

TYPESCRIPT = (".ts", ".mts", ".cts")


@ASSERTIONS.register
class JavaScript(ScriptAssertion, frozen=True, kw_only=True, tag="javascript"):
    """The JavaScript in `value` says so: it returns true, a number above 0, or a result with `pass: true`.

    Inline code sees `output` and `context`. One line is an expression, or declarations and a final expression; code of
    several lines is a function body and returns its verdict. It runs in an embedded engine without files, network and
    modules, where nothing is left from one evaluation to the next. `file://checks.js:name` calls an exported function
    of a script (`.js`, `.cjs`, `.mjs`, `.ts`) with `(output, context)` in Node.js.

    A number is compared with `threshold`, else with 0. A result is `{pass, score, reason}` and may have `namedScores`,
    `namedScoreWeights` and `componentResults`. What the code throws, and what is no verdict, fails the assertion,
    negated or not; code that cannot run, or does not end in time, makes it an error. Under `not-javascript`, numbers
    and results keep their score and reason.
    """

    engine: Annotated[
        Literal["quickjs", "node"],
        Meta(
            description="What runs inline code: the embedded engine, or Node.js. Files always run in Node.js."
        ),
    ] = "quickjs"

    extensions = (".js", ".cjs", ".mjs", *TYPESCRIPT)
    examples = (
        Example(options={"value": "output.includes('Oslo')"}, output="In Oslo.", expect="pass"),
        Example(
            options={"value": "const data = JSON.parse(output); data.items.length > 1"},
            output='{"items": [1]}',
            expect="fail",
        ),
        Example(
            options={"value": "output.length / 20", "threshold": 0.5}, output="twelve chars", expect="pass"
        ),
        Example(
            options={
                "value": "const ok = output.length <= context.config.limit;\n"
                "return {pass: ok, score: ok ? 1 : 0.5, reason: `${output.length} characters`};",
                "config": {"limit": 5},
            },
            output="too long",
            expect="fail",
        ),
        Example(options={"value": "fetch('https://example.com')"}, output="x", expect="error"),
    )

    @property
    def engine_name(self) -> str:
        reference = self.reference
        if reference is None:
            return self.engine
        return "node-typescript" if reference.extension in TYPESCRIPT else "node"


@ASSERTIONS.register
class Python(ScriptAssertion, frozen=True, kw_only=True, tag="python"):
    """The Python in `value` says so: it returns True, a number above 0, or a result with `pass: True`.

    `value` is an expression over `output` and `context`, the body of a function that returns its verdict, or
    `file://checks.py:function`, which is called with `(output, context)` and may be async; without a name, it is
    `get_assert` or `check`. A result is a mapping like that of `javascript`, with names in either spelling
    (`named_scores`, `namedScores`), or an `evenhand.Outcome`.

    Checks run in worker processes that are stopped after `timeout_ms`. What a check raises, and what is no verdict,
    fails the assertion, negated or not; one that cannot run makes it an error.
    """

    isolate: Annotated[
        bool,
        Meta(description="False runs the check in the process of the run, where nothing can stop it."),
    ] = True

    extensions = (".py",)
    words = PYTHON
    examples = (
        Example(options={"value": "'Oslo' in output"}, output="In Oslo.", expect="pass"),
        Example(options={"value": "len(output) / 20", "threshold": 0.5}, output="short", expect="fail"),
        Example(
            options={
                "value": "import json\ndata = json.loads(output)\n"
                "return {'pass': data['n'] > 1, 'score': 1.0, 'reason': f\"n is {data['n']}\"}"
            },
            output='{"n": 2}',
            expect="pass",
        ),
        Example(options={"value": "output.undefined_method()"}, output="x", expect="fail"),
    )

    @property
    def engine_name(self) -> str:
        return "python" if self.isolate and not is_reference(self.value) else "in-process"

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if is_reference(self.value) and function_of(self.value) is None:
            yield Problem(f"no function was handed over as {self.value!r}", ("value",), "give it in Python")
        yield from super().problems(engine)
