"""The engine's environment with the filters and functions of the language, watched by a meter."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import minijinja

from evenhand.template.bounded import CHECKS, bounded_filters, html_safe_json, plain_json
from evenhand.template.faults import MAX_LEVELS, FilterError, Meter, UndefinedValue
from evenhand.template.functions import FILTERS, FUNCTIONS, json_text
from evenhand.template.language import ENGINE_EXTRAS
from evenhand.template.prepare import (
    CHECK,
    COMPARE,
    EXACT,
    FITS,
    KEEP,
    LARGE,
    LOOP,
    MISSING,
    PREFIX,
    STEP,
    WRAPPED,
)
from evenhand.template.values import FrozenList, FrozenMapping, LargeInteger, order_of, plain, wrap

FUEL = 1_000_000
"""Instructions that one rendering may take, a few tenths of a second."""


ORDERS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""What each comparison asks of the order of two values, held against 0."""

ITEM_COST = 50
"""Characters that looking at one item of a list or mapping weighs as much as."""


class Runtime:
    """One environment of the engine and what its callbacks know about the rendering that runs."""

    def __init__(self, *, is_watched: bool) -> None:
        self.meter = Meter()
        """The meter of the rendering that runs."""
        self.kept: Any = None
        """The value of the expression that was evaluated last."""
        environment = minijinja.Environment(
            undefined_behavior="strict", debug=False, pycompat=False, keep_trailing_newline=True, fuel=FUEL
        )
        self._add_language(environment)
        self._add_guards(environment)
        if is_watched:
            environment.finalizer = self._print
        self.environment = environment

    def _add_language(self, environment: minijinja.Environment) -> None:
        for name in ENGINE_EXTRAS:
            environment.remove_filter(name)
        for name in ("debug", "cycler", "joiner"):
            environment.remove_global(name)
        for name, function in {**FILTERS, **bounded_filters(lambda: self.meter)}.items():
            environment.add_filter(name, self._adapted(name, function))
        for name, function in FUNCTIONS.items():
            environment.add_global(name, self._adapted(name, function))

    def _add_guards(self, environment: minijinja.Environment) -> None:
        for name, check in CHECKS.items():
            environment.add_global(CHECK + name, self._adapted(name, check))
        environment.add_test(
            WRAPPED, lambda value: isinstance(value, (FrozenMapping, FrozenList, LargeInteger))
        )
        environment.add_filter(PREFIX + "tojson", self._adapted("tojson", html_safe_json))
        environment.add_filter(PREFIX + "json", self._adapted("to_json", json_text))
        environment.add_filter(EXACT + "tojson", self._exact_tojson)
        environment.add_filter(EXACT + "json", self._exact_json)
        environment.add_global(FITS, self._fits)
        environment.add_global(STEP, self._step)
        environment.add_global(LOOP, self._loop)
        environment.add_global(MISSING, self._missing)
        environment.add_global(KEEP, self._keep)
        environment.add_global(COMPARE, self._compare)
        environment.add_global(LARGE, lambda digits: LargeInteger(int(Decimal(str(digits)))))

    def _exact_tojson(self, text: str, value: Any, indent: Any = None) -> Any:
        """The engine's JSON of its own value, unless there is an integer in it that the engine writes as text."""
        if self.meter.has_large_integer:
            return html_safe_json(plain(value), plain(indent))
        return text

    def _exact_json(self, text: str, value: Any) -> str:
        return json_text(plain(value)) if self.meter.has_large_integer else plain_json(text)

    def _adapted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A filter or function over plain values as the engine can call it."""
        signature = inspect.signature(function)

        def call(*arguments: Any, **options: Any) -> Any:
            try:
                given = [plain(argument) for argument in arguments]
                result = function(*given, **{key: plain(value) for key, value in options.items()})
            except FilterError as error:
                error.name = name
                self.meter.raised = error
                raise
            except (TypeError, ValueError, ArithmeticError, RecursionError, MemoryError):
                raise self._failure(name, signature, arguments, options) from None
            return wrap(result, self.meter)

        return call

    def _failure(
        self, name: str, signature: inspect.Signature, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> FilterError:
        try:
            signature.bind(*arguments, **options)
        except TypeError:
            wanted = ", ".join(signature.parameters)
            error = FilterError(f"takes other arguments: ({wanted})", depends_on_data=False)
        else:
            error = FilterError("cannot work with these values")
        error.name = name
        self.meter.raised = error
        return error

    def _fits(self, *factors: Any) -> int:
        """1, a factor that changes nothing, where the product of all factors is a text or list of bounded size."""
        times = 1
        for factor in factors:
            if isinstance(factor, int) and factor >= 0:
                times *= factor
        for factor in factors:
            if isinstance(factor, str):
                self.meter.build(len(factor) * times)
            elif isinstance(factor, (list, FrozenList)):
                self.meter.collect(len(factor) * times)
        return 1

    def _loop(self, printed: int, iterated: Any, *used: Any) -> None:
        """A plain loop that is about to begin, with what each pass uses."""
        passes = len(iterated) if isinstance(iterated, (str, list, dict, FrozenMapping, FrozenList)) else 0
        each = printed
        for value in used:
            if isinstance(value, str):
                each += len(value)
            elif isinstance(value, (list, dict, FrozenMapping, FrozenList)):
                each += len(value) * ITEM_COST
        self.meter.write(passes * each)

    def _step(self, printed: int, *kept: Any) -> None:
        """One pass through a loop or macro, or one assignment, with what it keeps."""
        meter = self.meter
        meter.step()
        meter.write(printed)
        for value in kept:
            if isinstance(value, str):
                meter.build(len(value))
            elif isinstance(value, (list, dict)):
                self._collect(value)

    def _collect(self, value: list[Any] | dict[Any, Any]) -> None:
        waiting = [(value, 1)]
        while waiting:
            current, level = waiting.pop()
            if level > MAX_LEVELS:
                raise self.meter.exceeded(f"builds a value that nests more than {MAX_LEVELS} levels")
            self.meter.collect(len(current))
            items = current.values() if isinstance(current, dict) else current
            for item in items:
                if isinstance(item, (list, dict)):
                    waiting.append((item, level + 1))
                elif isinstance(item, str):
                    self.meter.build(len(item))

    def _missing(self, offset: int) -> None:
        self.meter.raised = error = UndefinedValue(offset)
        raise error

    def _keep(self, value: Any) -> str:
        self.kept = value
        return ""

    def _compare(self, left: Any, asked: str, right: Any) -> bool:
        try:
            order = order_of(plain(left), plain(right))
        except RecursionError:
            self.meter.raised = error = FilterError("compares values that nest too deeply")
            raise error from None
        return ORDERS[str(asked)](order, 0)

    def _print(self, value: Any) -> Any:
        """Count what is printed and leave the printing to the engine."""
        kind = value.__class__
        if kind is str:
            self.meter.write(len(value))
        elif kind is list or kind is dict:
            self._collect(value)
        return NotImplemented
