"""The environment variables that a suite's templates may see: those that it names, and no others.

A variable is named by the list `env`, or by a literal `env.NAME` in a template or expression of the suite, of what
it extends and imports, or of its prompt files. Test files name none: they may come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.config.findings import Place
from evenhand.config.prompts import templates_of
from evenhand.config.template_names import environment_needed, environment_taken
from evenhand.config.transforms import expressions_of, transform_expressions
from evenhand.errors import DocumentPath
from evenhand.model.assertion import Assertion, walk
from evenhand.model.suite import Prompt
from evenhand.model.transform import WrittenTransform
from evenhand.template.val import templates_in


class NamedVariables:
    """Collects the variables that a suite names, and where it cannot do without one."""

    def __init__(self, root: Place) -> None:
        self._root = root
        self._names: set[str] = set()
        self._needed: dict[str, DocumentPath] = {}

    def add_list(self, listed: Iterable[str]) -> None:
        """Take the names of the list `env`."""
        self._names.update(listed)

    def add_document(self, document: Mapping[str, Any]) -> None:
        """Take the names in every template of a document."""
        for path, template in templates_in(document):
            self._add(template, path)

    def add_prompts(self, prompts: Iterable[Prompt]) -> None:
        """Take the names in prompts, those from files included."""
        for index, prompt in enumerate(prompts):
            for template in templates_of(prompt):
                self._add(template, ("prompts", index))

    def add_expressions(self, assertions: Iterable[Assertion], path: DocumentPath) -> None:
        """Take the names in the expressions of assertions."""
        for assertion in walk(assertions):
            for expression in expressions_of(assertion):
                self._add(expression, path, is_expression=True)

    def add_transforms(self, transforms: Iterable[WrittenTransform], path: DocumentPath) -> None:
        """Take the names in the expressions among transforms."""
        for expression in transform_expressions(*transforms):
            self._add(expression, path, is_expression=True)

    def values(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The named variables that are set, with their values; a missing one that is needed draws a warning."""
        for name, path in self._needed.items():
            if name not in environ:
                self._root.inside(*path).warn(
                    f"the environment variable {name!r} is needed here, but not set"
                )
        return {name: environ[name] for name in sorted(self._names) if name in environ}

    def _add(self, text: str, path: DocumentPath, *, is_expression: bool = False) -> None:
        self._names |= environment_taken(text, is_expression=is_expression)
        for name in environment_needed(text, is_expression=is_expression):
            self._needed.setdefault(name, path)
