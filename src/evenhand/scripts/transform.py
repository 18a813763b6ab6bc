"""Transforms that are scripts: which engine runs them, what is wrong with them, what their answers mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from evenhand.errors import Problem
from evenhand.model.transform import Transform, TransformFailed
from evenhand.scripts.assertion import NODE_REMEDY, ScriptFile, parse_reference
from evenhand.scripts.batch import Answer
from evenhand.scripts.verdicts import broken_reason, thrown_in_words
from evenhand.template import Engine
from evenhand.text.json_reader import NotJson, read_json

TYPESCRIPT = (".ts", ".mts", ".cts")
EXTENSIONS = {"javascript": (".js", ".cjs", ".mjs", *TYPESCRIPT), "python": (".py",)}


class TransformScript(NamedTuple):
    """A transform as the engines see it."""

    transform: Transform

    @property
    def value(self) -> str:
        """The code, or a reference to a file."""
        return self.transform.value

    @property
    def timeout_ms(self) -> float:
        """Time for one evaluation."""
        return self.transform.timeout_ms

    @property
    def config(self) -> None:
        """Transforms have none."""
        return

    @property
    def remedy(self) -> str:
        """What to do about a feature that the engine lacks."""
        return NODE_REMEDY

    @property
    def reference(self) -> ScriptFile | None:
        """The file that the script is in; None for inline code."""
        return parse_reference(self.transform.value)

    @property
    def engine_name(self) -> str:
        """The engine that runs the script."""
        transform = self.transform
        if transform.type == "python":
            return "python" if transform.isolate else "in-process"
        reference = self.reference
        if reference is None:
            return transform.engine
        return "node-typescript" if reference.extension in TYPESCRIPT else "node"


def transform_problems(transform: Transform, engine: Engine) -> Iterator[Problem]:
    """What is wrong with a transform beyond its types, as far as no engine must be asked."""
    if not transform.value.strip():
        yield Problem("empty code gives no output", ("value",), "write an expression over `output`")
    elif transform.type == "jinja":
        problem = engine.check_expression(transform.value)
        if problem is not None:
            yield problem.under("value")
    else:
        reference = parse_reference(transform.value)
        known = EXTENSIONS[transform.type]
        if reference is not None and reference.extension not in known:
            yield Problem(
                f"`type: {transform.type}` runs files of the types {', '.join(known)}, found {transform.value!r}",
                ("value",),
                "`type: python` runs `.py` files" if reference.extension == ".py" else "rename the file",
            )


def value_of(answer: Answer, transform: Transform) -> object:
    """The output that a script made. Raises `TransformFailed`."""
    details = {"console": list(answer.console)} if answer.console else None
    if answer.threw is not None:
        raise TransformFailed(f"the transform threw {thrown_in_words(answer.threw)}", details)
    if answer.value is not None:
        value = read_json(answer.value)
        if value is not None and not isinstance(value, NotJson):
            return value
    if answer.unfit or answer.value is not None:
        found = answer.unfit or "null"
        hint = ""
        if found == "undefined":
            hint = " (code of several lines needs an explicit `return`)"
        raise TransformFailed(f"the transform returned {found}; it must return the new output{hint}", details)
    broken = broken_reason(answer, timeout_ms=transform.timeout_ms, remedy=NODE_REMEDY)
    raise TransformFailed(f"the transform: {broken or 'the worker gave no answer'}", details)
