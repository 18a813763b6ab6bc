"""What an assertion may look at: the answer to one cell and what it was asked with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import msgspec

from evenhand.model.emptiness import is_blank
from evenhand.model.exchange import Json, Request, Response
from evenhand.template import Engine, Scope
from evenhand.text.json_reader import NotJson, compact_json, read_json

if TYPE_CHECKING:
    from evenhand.model.suite import Case

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801  (reads as a decorator)
    """A property computed at its first use and kept in the instance.

    `functools.cached_property` takes a lock on Python 3.11, which costs more than most of these views.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> once[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> once[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


class Evidence:
    """One response with the views of it that assertions share, each made at most once per cell."""

    def __init__(
        self,
        *,
        response: Response,
        vars: Mapping[str, Json],
        engine: Engine,
        scope: Scope,
        provider_reports_tool_calls: bool = True,
        request: Request | None = None,
        case: Case | None = None,
        provider_id: str = "",
        provider_output: Json = None,
        answer: Response | None = None,
    ) -> None:
        self.response = response
        """The response whose output is judged: after all transforms."""
        self.provider_output = response.output if provider_output is None else provider_output
        """The output before the transforms of the case and of the assertion, after the provider's own."""
        self.answer = response if answer is None else answer
        """The response as the case has it: before the transform of the assertion."""
        self.vars = vars
        self.engine = engine
        self.scope = scope
        """The case's rendered vars and the allowed environment, ready for templates."""
        self.provider_reports_tool_calls = provider_reports_tool_calls
        self.request = request
        """What was asked; None where only an answer is judged."""
        self.case = case
        self.provider_id = provider_id

    def changed(self, output: Json, **roles: Any) -> Evidence:
        """The same evidence about another output. `roles` are `answer` or `provider_output` where they stay."""
        return Evidence(
            response=msgspec.structs.replace(self.response, output=output),
            vars=self.vars,
            engine=self.engine,
            scope=self.scope,
            provider_reports_tool_calls=self.provider_reports_tool_calls,
            request=self.request,
            case=self.case,
            provider_id=self.provider_id,
            **roles,
        )

    @once
    def text(self) -> str:
        """The output as text; a structured output as compact JSON."""
        output = self.response.output
        return output if isinstance(output, str) else compact_json(output)

    @once
    def folded_text(self) -> str:
        """The output's text with full Unicode case folding."""
        return self.text.casefold()

    @once
    def json(self) -> Json | NotJson:
        """The output as a JSON value, or why it is none. Numbers are read as int and float."""
        output = self.response.output
        return read_json(output) if isinstance(output, str) else output

    @once
    def exact_json(self) -> Json | NotJson:
        """The output as a JSON value whose fractions are `Decimal`, for comparison at full precision."""
        output = self.response.output
        return read_json(output, exact=True) if isinstance(output, str) else output

    @once
    def is_blank(self) -> bool:
        """Whether the output holds no content at all."""
        return is_blank(self.response.output)

    @once
    def is_silent(self) -> bool:
        """Whether the answer holds nothing to judge: neither content nor tool calls."""
        return self.is_blank and not self.response.tool_calls

    @once
    def text_scope(self) -> Scope:
        """What an expression over the text sees: vars and env, then `output` and `vars`."""
        return self.scope.extended({"output": self.text, "vars": self.vars})

    @once
    def expression_scope(self) -> Scope:
        """What a `jinja` expression sees: the text's scope and, if the output parses, `output_json`."""
        if isinstance(self.json, NotJson):
            return self.text_scope
        return self.text_scope.extended({"output_json": self.json})
