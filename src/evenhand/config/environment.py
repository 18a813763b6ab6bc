"""The environment variables that a suite's templates may see: those that it names, and no others.

A variable is named by the list `env`, or by a literal `env.NAME` in a template or expression of the suite, of what
it extends and imports, or of its prompt files. Test files name none: they may come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evenhand.config.findings import Place
from evenhand.config.prompts import templates_of
from evenhand.config.template_names import ENVIRONMENT, TemplateNames, as_template
from evenhand.errors import DocumentPath
from evenhand.model.assertion import Assertion
from evenhand.model.suite import Prompt
from evenhand.template.engine import is_template
from evenhand.template.val import is_raw

_PREFIX = f"{ENVIRONMENT}."


class NamedVariables:
    """Collects the variables that a suite names, with the first place of each."""

    def __init__(self, names: TemplateNames, root: Place) -> None:
        self._names = names
        self._root = root
        self._places: dict[str, DocumentPath] = {}

    def add_list(self, listed: Iterable[str]) -> None:
        """Take the names of the list `env`."""
        for index, name in enumerate(listed):
            self._places.setdefault(name, ("env", index))

    def add_document(self, document: Mapping[str, Any]) -> None:
        """Take the names in every template of a document."""
        for path, template in _templates(document, ()):
            self._add(template, path)

    def add_prompts(self, prompts: Iterable[Prompt]) -> None:
        """Take the names in prompts, those from files included."""
        for index, prompt in enumerate(prompts):
            for template in templates_of(prompt):
                self._add(template, ("prompts", index))

    def add_expressions(self, assertions: Iterable[Assertion], path: DocumentPath) -> None:
        """Take the names in the expressions of assertions."""
        for assertion in assertions:
            for _, expression in assertion.expressions():
                self._add(as_template(expression), path)

    def values(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The named variables that are set, with their values; one that is not draws a warning."""
        for name, path in self._places.items():
            if name not in environ:
                self._root.inside(*path).warn(f"the environment variable {name!r} is named here, but not set")
        return {name: environ[name] for name in sorted(self._places) if name in environ}

    def _add(self, template: str, path: DocumentPath) -> None:
        for name in self._names.all_in(template):
            if name.startswith(_PREFIX):
                self._places.setdefault(name[len(_PREFIX) :].partition(".")[0], path)


def _templates(value: Any, path: DocumentPath) -> Iterator[tuple[DocumentPath, str]]:
    if isinstance(value, str):
        if is_template(value):
            yield path, value
    elif isinstance(value, dict):
        if not is_raw(value):
            for key, item in value.items():
                yield from _templates(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _templates(item, (*path, index))
