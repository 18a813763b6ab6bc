"""The kind that asks a template expression about the answer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated

from msgspec import Meta

from evenhand.errors import BrokenAssertion, Problem, TemplateError
from evenhand.model.assertion import ASSERTIONS, Assertion, Example
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome, failed, failed_both_ways, passed
from evenhand.template import Engine
from evenhand.text.excerpt import clipped, quoted

_ABOUT_THE_ANSWER = frozenset({"output", "output_json"})


@ASSERTIONS.register
class Jinja(Assertion, frozen=True, kw_only=True, dict=True, tag="jinja"):
    """The expression `value`, in the language of templates, is true.

    It sees `output` (text), `output_json` (only if the output is JSON), `vars`, and every var by its own name. What
    goes wrong because of the data (a name or key that is not there, a wrong type) fails the assertion, negated or
    not.
    """

    value: Annotated[str, Meta(description="The expression, without `{{ }}`.")]

    examples = (
        Example(options={"value": "output | length < 20"}, output="short", expect="pass"),
        Example(
            options={"value": "output_json.status == 'ok' and output_json.items | length > 0"},
            output='{"status": "ok", "items": [1]}',
            expect="pass",
        ),
        Example(options={"value": "city in output"}, vars={"city": "Oslo"}, output="In Oslo.", expect="pass"),
        Example(options={"value": "output_json.n > 3"}, output='{"n": 3}', expect="fail"),
        Example(options={"value": "output_json.n > 3"}, output="no JSON", expect="fail"),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if not self.value.strip():
            yield Problem("an empty expression says nothing", ("value",), "write what must be true")
        elif problem := engine.check_expression(self.value):
            written = self.value.strip()
            if written.startswith("{{") and written.endswith("}}"):
                hint = f"write `{written[2:-2].strip()}`"
                yield Problem("an expression stands without the braces of a template", ("value",), hint)
            else:
                yield problem.under("value")

    def warnings(self, engine: Engine) -> Iterator[Problem]:
        names = engine.names_in("{{ (" + self.value + ") }}")
        if not any(name.split(".")[0] in _ABOUT_THE_ANSWER for name in names):
            yield Problem(
                "the expression never looks at the answer", ("value",), "use `output` or `output_json` in it"
            )

    def expressions(self) -> Iterator[tuple[str, str]]:
        yield "value", self.value

    def evaluate(self, evidence: Evidence) -> Outcome:
        # Most expressions are about the text: those need not wait for it to be read as JSON.
        scope = evidence.expression_scope if "output_json" in self.value else evidence.text_scope
        try:
            holds = evidence.engine.test(self.value, scope)
        except TemplateError as error:
            message = f"expression cannot be evaluated: {error.message}: {clipped(self.value)}"
            if not error.depends_on_data:
                raise BrokenAssertion(message) from error
            return failed_both_ways(
                f"{message}, over {quoted(evidence.text)}", details={"error": error.message}
            )
        if holds:
            return self._held
        return failed(f"expression is false: {clipped(self.value)}, over {quoted(evidence.text)}")

    @cached_property
    def _held(self) -> Outcome:
        return passed(f"expression is true: {clipped(self.value)}")
