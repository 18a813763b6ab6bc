"""What the answer of a script means as a verdict. Pure: no engine, no process.

A boolean, a finite number or a grading result is a verdict. Anything else that a script returns, and anything that
it throws, fails the assertion; a script that could not run to its end leaves it undecided. Neither is turned round by
`negate`.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import msgspec

from evenhand.errors import ErrorClass, dotted
from evenhand.model.outcome import Outcome, Status, errored, failed_both_ways, meets
from evenhand.scripts.batch import Answer, Thrown

MAX_DEPTH = 32
"""Levels of component results that are taken in."""


class Words(NamedTuple):
    """How values are called in the language of a script."""

    nothing: str = "null"
    true: str = "true"
    false: str = "false"
    needs_return: str = "code of several lines, and a line of several statements, needs an explicit `return`"

    @property
    def wanted(self) -> str:
        """What a script must do to be judged."""
        return f"return {self.true}, {self.false}, a number, or {{pass, score, reason}}"


JAVASCRIPT = Words()
PYTHON = Words("None", "True", "False", "code of several lines needs an explicit `return`")


class Terms(NamedTuple):
    """What an assertion asks of a script's answer."""

    threshold: float | None = None
    negate: bool = False
    timeout_ms: float = 5_000
    remedy: str = ""
    """What to do about a feature that the engine lacks."""
    words: Words = JAVASCRIPT


class WrongShape(Exception):
    """A returned value that is no verdict: what is wrong, and the value, if it is one that has to be told."""

    def __init__(self, what: str, *found: Any, hint: str = "", names_wanted: bool = False) -> None:
        super().__init__(what)
        self._what = what
        self._found = found
        self._hint = hint
        self._names_wanted = names_wanted

    def told(self, words: Words) -> str:
        """The reason of the failure."""
        what = self._what.format(*(_in_words(value, words) for value in self._found))
        return what + (f"; {words.wanted}" if self._names_wanted else "") + self._hint


def verdict(answer: Answer, terms: Terms) -> Outcome:
    """The outcome of an assertion whose script answered this, `negate` applied."""
    details = {"console": list(answer.console)} if answer.console else None
    if answer.threw is not None:
        return failed_both_ways(f"the script threw {thrown_in_words(answer.threw)}", details=details)
    broken = broken_reason(answer, timeout_ms=terms.timeout_ms, remedy=terms.remedy)
    if broken is not None:
        return errored(broken, ErrorClass.CHECKER_FAILED, details=details)
    try:
        outcome = _judged(answer.returned, terms)
    except WrongShape as wrong:
        return failed_both_ways(wrong.told(terms.words), details=details)
    if details is None:
        return outcome
    return msgspec.structs.replace(outcome, details={**(outcome.details or {}), **details})


def broken_reason(answer: Answer, *, timeout_ms: float, remedy: str) -> str | None:
    """Why a script could not be run to its end, or None."""
    if answer.uncompiled is not None:
        return f"the code does not compile: {answer.uncompiled.error}"
    if answer.lacks:
        return f"the code uses `{answer.lacks}`, which the embedded engine does not have; {remedy}"
    if answer.timed_out:
        return f"the script did not end within {timeout_ms:g} ms and was stopped"
    if answer.memory:
        return "the script took more memory than it may have"
    if answer.too_large:
        return "the script returned more than 16 MiB"
    if answer.crowded:
        return "the scripts of the case returned more than 64 MiB together"
    if answer.unsettled:
        return "the script returned a promise that can never settle: nothing is left that could settle it"
    if answer.broken or answer.returned is msgspec.UNSET:
        return answer.broken or "the worker gave no answer"
    return None


STACK_READ = 2_000
"""Characters of a stack that are looked through."""
_IN_A_FILE = re.compile(
    r"(?<![^/\\\s(])(?!node_worker\.mjs:)([^/\\\s(]{1,100}\.(?:js|cjs|mjs|ts|py))(?:\?[^:\s]*)?:(\d+)"
)
"""The innermost place of a stack that is a file of the suite: inline code has no such name, the worker's is ours."""


def thrown_in_words(threw: Thrown) -> str:
    """What a script threw, as it follows in a sentence."""
    message = threw.message
    said = f"{threw.name}: {message}" if threw.name and threw.name != message else message or "an empty value"
    place = _IN_A_FILE.search(threw.stack[:STACK_READ])
    return f"{said} ({place[1]}:{place[2]})" if place else said


def _judged(returned: Any, terms: Terms) -> Outcome:
    if returned is True or returned is False:
        return _of_boolean(returned, terms)
    if isinstance(returned, (int, float)):
        return _of_number(_finite(returned, ()), terms)
    if isinstance(returned, dict) and returned.get("$") == "object":
        return _of_result(returned, terms)
    raise _no_verdict(returned, terms.words)


def _no_verdict(returned: Any, words: Words) -> WrongShape:
    kind = returned.get("$") if isinstance(returned, dict) else None
    if kind == "number":
        return WrongShape("the script returned {}, which is not a finite number", returned)
    # In Python, None is what a function returns that says nothing.
    is_silent = kind == "undefined" or (returned is None and words is PYTHON)
    return WrongShape(
        "the script returned {}, which is not a verdict",
        returned,
        hint=f" ({words.needs_return})" if is_silent else "",
        names_wanted=True,
    )


def _of_boolean(value: bool, terms: Terms) -> Outcome:
    held = value and (terms.threshold is None or meets(1.0, terms.threshold))
    passes = held is not terms.negate
    reason = f"Custom function returned {str(value).lower()}"
    if value and not held:
        reason += f": its score 1 < threshold {_plain(terms.threshold)}"
    return _outcome(passes, 1.0 if passes else 0.0, reason)


def _of_number(number: float, terms: Terms) -> Outcome:
    threshold = terms.threshold
    held = number > 0 if threshold is None else meets(number, threshold)
    passes = held is not terms.negate
    if threshold is None:
        compared = f"{_plain(number)} is {'' if held else 'not '}above 0"
    else:
        compared = f"{_plain(number)} {'>=' if held else '<'} threshold {_plain(threshold)}"
    if passes:
        return _outcome(True, number, f"Custom function returned {_plain(number)}: {compared}")
    return _outcome(False, number, f"Custom function returned {str(held).lower()}: {compared}")


def _of_result(returned: dict[str, Any], terms: Terms) -> Outcome:
    fields = returned["fields"]
    if "pass" not in fields:
        raise WrongShape("the script returned {} without `pass`", returned, names_wanted=True)
    result = _result(fields, (), is_component=False)
    score = result.score or 0.0
    held = result.passed and (terms.threshold is None or meets(score, terms.threshold))
    passes = held is not terms.negate
    return msgspec.structs.replace(result, status=Status.PASS if passes else Status.FAIL)


def _result(fields: dict[str, Any], path: tuple[str | int, ...], *, is_component: bool) -> Outcome:
    """A grading result as an outcome. Components may leave out their score and reason."""
    if len(path) > 2 * MAX_DEPTH:
        raise WrongShape(f"{_at(path)} is nested too deeply")
    passes = fields.get("pass")
    if not isinstance(passes, bool):
        raise _wrong((*path, "pass"), "true or false", fields, "pass")
    is_left_out = is_component and "score" not in fields
    score = float(passes) if is_left_out else _number(fields, "score", path)
    reason = fields.get("reason", "" if is_component else None)
    if not isinstance(reason, str):
        raise _wrong((*path, "reason"), "text", fields, "reason")
    metadata = fields.get("metadata")
    return Outcome(
        status=Status.PASS if passes else Status.FAIL,
        score=score,
        reason=reason,
        details={"metadata": _plain_value(metadata)} if metadata is not None else None,
        parts=_components(fields, path),
        named_scores=_named(fields, "namedScores", path),
        named_score_weights=_named(fields, "namedScoreWeights", path),
    )


def _components(fields: dict[str, Any], path: tuple[str | int, ...]) -> tuple[Outcome, ...]:
    value = fields.get("componentResults")
    if value is None:
        return ()
    if not isinstance(value, dict) or value.get("$") != "array":
        raise _wrong((*path, "componentResults"), "a list of grading results", fields, "componentResults")
    parts = []
    for index, item in enumerate(value["items"]):
        at = (*path, "componentResults", index)
        if not isinstance(item, dict) or item.get("$") != "object":
            raise WrongShape(f"{_at(at)} must be a grading result, found {{}}", item)
        parts.append(_result(item["fields"], at, is_component=True))
    return tuple(parts)


def _named(fields: dict[str, Any], name: str, path: tuple[str | int, ...]) -> dict[str, float]:
    value = fields.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict) or value.get("$") != "object":
        raise _wrong((*path, name), "a mapping of numbers", fields, name)
    scores = {}
    for key, item in value["fields"].items():
        if not (isinstance(item, dict) and item.get("$") == "undefined"):
            scores[key] = _as_number(item, (*path, name, key))
    return scores


_SPACE = " \t\n\v\f\r\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What JavaScript takes for white space around a number."""
_NUMERIC = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WITH_BASE = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")


def _number_in(text: str) -> float | None:
    """The number that a text is in JavaScript's eyes (`StringNumericLiteral` of ECMA-262), infinity aside."""
    text = text.strip(_SPACE)
    if _NUMERIC.fullmatch(text):
        return float(text)
    # Longer ones are beyond a float.
    return float(int(text, 0)) if len(text) < 250 and _WITH_BASE.fullmatch(text) else None


def _as_number(value: Any, path: tuple[str | int, ...]) -> float:
    """A named score: numbers, and what is recorded as one."""
    if value is None:
        return 0.0
    if isinstance(value, str):
        number = _number_in(value)
        if number is not None:
            return _finite(number, path)
    elif isinstance(value, (bool, int, float)):
        return _finite(value, path)
    raise WrongShape(f"{_at(path)} must be a finite number, found {{}}", value)


def _number(fields: dict[str, Any], name: str, path: tuple[str | int, ...]) -> float:
    value = fields.get(name)
    if isinstance(value, dict) and value.get("$") == "number":
        raise WrongShape(f"{_at((*path, name))} must be a finite number, found {{}}", value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong((*path, name), "a number", fields, name)
    return _finite(float(value), (*path, name))


def _finite(number: float, path: tuple[str | int, ...]) -> float:
    try:
        number = float(number)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        what = _at(path) if path else "the score"
        raise WrongShape(f"{what} must be a finite number, found {number!r}")
    return number


def _wrong(path: tuple[str | int, ...], wanted: str, fields: dict[str, Any], name: str) -> WrongShape:
    what = f"{_at(path)} must be {wanted}, found "
    if name in fields:
        return WrongShape(what + "{}", fields[name], names_wanted=True)
    return WrongShape(what + "nothing", names_wanted=True)


def _at(path: tuple[str | int, ...]) -> str:
    """A place as it stands in the pattern of a sentence."""
    return f"`{dotted(path)}`".replace("{", "{{").replace("}", "}}")


def _in_words(value: Any, words: Words) -> str:
    if value is None:
        return words.nothing
    if isinstance(value, bool):
        return words.true if value else words.false
    if isinstance(value, str):
        return f"the text {value[:100]!r}"
    if isinstance(value, (int, float)):
        return f"the number {_plain(value)}"
    return _typed_in_words(value)


def _typed_in_words(value: dict[str, Any]) -> str:
    kind = value.get("$")
    if kind == "undefined":
        return "undefined"
    if kind == "number":
        return str(value["text"])
    if kind == "bigint":
        return f"the BigInt {value['text'][:40]}n"
    if kind == "array":
        return f"a list of {len(value['items'])}"
    if kind == "long":
        return f"something with {value['text']} items"
    if kind == "hole":
        return "a hole"
    if kind == "cycle":
        return "a reference to what holds it"
    if kind == "deep":
        return "something nested too deeply"
    if kind == "object":
        name = value.get("class") or "Object"
        return "an object" if name in ("Object", "dict") else f"a value of type {name}"
    return f"a {kind}"


def _plain_value(value: Any) -> Any:
    """A described value as plain JSON, for what is only kept and shown."""
    if not isinstance(value, dict):
        return value
    if value.get("$") == "object":
        return {key: _plain_value(item) for key, item in value["fields"].items()}
    if value.get("$") == "array":
        return [_plain_value(item) for item in value["items"]]
    return value.get("text") or value.get("$")


def _outcome(passes: bool, score: float, reason: str) -> Outcome:
    return Outcome(status=Status.PASS if passes else Status.FAIL, score=score, reason=reason)


def _plain(number: float | None) -> str:
    if number is None:
        return ""
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))
