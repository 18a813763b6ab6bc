"""From the path of a suite to a finished `Suite`, or to every problem that it has.

locate → compose → settings → providers, prompts, defaults → one pass over all cases → environment and digests
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from evenhand.config.assertions import AssertionReader
from evenhand.config.case_builder import CaseBuilder
from evenhand.config.case_checks import CaseChecker
from evenhand.config.case_pass import CasePass
from evenhand.config.collection import collection_paused
from evenhand.config.compose import compose
from evenhand.config.defaults import Defaults, read_defaults
from evenhand.config.digests import digest_of
from evenhand.config.document import FREE_KEY_PREFIX, WrittenSuite
from evenhand.config.entries import is_written_case, open_entries
from evenhand.config.environment import NamedVariables
from evenhand.config.files import Files
from evenhand.config.findings import Findings, Place
from evenhand.config.locate_suite import locate_suite
from evenhand.config.prompts import PromptReader
from evenhand.config.providers import read_providers
from evenhand.config.raw_case import CaseSource
from evenhand.config.sandbox import Sandbox, find_repository
from evenhand.config.settings import read_settings
from evenhand.config.suite_files import SuiteFiles
from evenhand.config.template_names import TemplateNames
from evenhand.config.turns import TurnReader
from evenhand.model.provider import Provider
from evenhand.model.suite import Case, Prompt, Suite
from evenhand.template import Engine


def load_suite(
    path: str | os.PathLike[str] = ".",
    *,
    environ: Mapping[str, str] | None = None,
    generators: bool = True,
    confined: bool = False,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
    visible_variables: Collection[str] | None = None,
) -> Suite:
    """The suite at a path: a file, or a folder with an `evenhand.yaml`.

    `environ` replaces the process's environment. Without `generators`, programs that write cases are left out.
    `confined` keeps every file reference, code included, inside the suite's folder; `allow_outside` names folders
    that references may lead to all the same. With `visible_variables`, the suite sees no other environment
    variables than those.

    Raises `SuiteError` with every problem found.
    """
    file = locate_suite(Path(path))
    environ = dict(os.environ if environ is None else environ)
    if visible_variables is not None:
        environ = {name: value for name, value in environ.items() if name in visible_variables}
    repository = None if confined else find_repository(file.parent)
    sandbox = Sandbox(file.parent, repository, tuple(Path(folder) for folder in allow_outside))
    with collection_paused():
        return _Loading(file, sandbox, environ, generators).suite()


class _Loading:
    """One load: what its steps share."""

    def __init__(self, file: Path, sandbox: Sandbox, environ: Mapping[str, str], generators: bool) -> None:
        self.file = file
        self.sandbox = sandbox
        self.environ = environ
        self.generators = generators
        self.findings = Findings()
        self.engine = Engine()
        self.names = TemplateNames(self.engine)
        self.files = Files(SuiteFiles(sandbox), self.engine)
        self.turns = TurnReader(self.files, self.engine)
        self.assertions = AssertionReader(self.engine, self.files)

    def suite(self) -> Suite:
        composed = compose(self.file, str(self.file), self.sandbox, self.findings)
        if composed.value is None:
            self.findings.raise_if_any()
        root = Place(self.findings, composed.origin)
        document = _without_free_keys(composed.value or {})
        written = read_settings(document, root, self.files, self.environ)
        parts = self._parts(written, root)
        reading = self._read_cases(written, parts, root)
        env = self._environment(document, written, parts, reading.written, root)
        self.findings.raise_if_any()
        return Suite(
            path=self.file,
            project=written.project,
            suite=written.suite,
            description=written.description,
            providers=parts.providers,
            prompts=parts.prompts,
            cases=reading.cases,
            tools=written.tools,
            env=env,
            runner=written.runner,
            engine=self.engine,
            warnings=self.findings.warnings(),
            digests=_digests(written, parts, reading, env),
            snapshot=_snapshot(document),
        )

    def _parts(self, written: WrittenSuite, root: Place) -> _Parts:
        prompts = PromptReader(self.engine, self.files, self.turns)
        return _Parts(
            providers=read_providers(written.providers, root.inside("providers"), self.file.parent),
            prompts=prompts.read_all(written.prompts, root.inside("prompts")),
            defaults=read_defaults(
                written.defaults,
                root.inside("defaults"),
                files=self.files,
                assertions=self.assertions,
                turns=self.turns,
            ),
        )

    def _read_cases(self, written: WrittenSuite, parts: _Parts, root: Place) -> CasePass:
        builder = CaseBuilder(
            defaults=parts.defaults,
            engine=self.engine,
            files=self.files,
            assertions=self.assertions,
            turns=self.turns,
        )
        checker = CaseChecker(
            providers=parts.providers,
            prompts=parts.prompts,
            defaults=parts.defaults,
            defaults_place=root.inside("defaults"),
            engine=self.engine,
            names=self.names,
        )
        reading = CasePass(builder, checker, self.findings)
        reading.read(open_entries(written.tests, root.inside("tests"), self.sandbox, self._generator))
        checker.check_together(root)
        return reading

    def _environment(
        self,
        document: dict[str, Any],
        written: WrittenSuite,
        parts: _Parts,
        cases: Iterable[Case],
        root: Place,
    ) -> dict[str, str]:
        named = NamedVariables(self.names, root)
        named.add_list(written.env)
        named.add_document(document)
        named.add_prompts(parts.prompts)
        named.add_expressions(parts.defaults.assertions, ("defaults",))
        for case in cases:
            named.add_expressions(case.assertions, ("tests",))
        return named.values(self.environ)

    def _generator(self, value: Any, place: Place) -> CaseSource | None:
        if not self.generators:
            return None
        raise NotImplementedError


class _Parts(NamedTuple):
    """What the cases are put together with."""

    providers: tuple[Provider, ...]
    prompts: tuple[Prompt, ...]
    defaults: Defaults


def _without_free_keys(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if not key.startswith(FREE_KEY_PREFIX)}


def _digests(written: WrittenSuite, parts: _Parts, reading: CasePass, env: dict[str, str]) -> dict[str, str]:
    prompts = [structs.replace(prompt, location=None) for prompt in parts.prompts]
    defaults = written.defaults
    return {
        "prompts": digest_of(prompts, written.tools),
        "providers": digest_of(parts.providers),
        "tests": digest_of(reading.tests.hexdigest(), defaults.vars, defaults.history),
        "asserts": digest_of(reading.asserts.hexdigest(), defaults.asserts),
        "env": digest_of(env),
    }


def _snapshot(document: dict[str, Any]) -> dict[str, Any]:
    """The document without the cases that stand in it, which are stored with their results."""
    entries = document.get("tests")
    if not isinstance(entries, list):
        return document
    return {**document, "tests": [entry for entry in entries if not is_written_case(entry)]}
