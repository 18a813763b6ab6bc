"""From the path of a suite to a finished `Suite`, or to every problem that it has.

locate → compose → settings → providers, prompts, defaults → one pass over all cases → environment and digests
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from evenhand.config.assertions import AssertionReader
from evenhand.config.case_builder import CaseBuilder
from evenhand.config.case_checks import CaseChecker
from evenhand.config.case_pass import CasePass
from evenhand.config.collection import collection_paused
from evenhand.config.compose import compose, compose_document
from evenhand.config.defaults import Defaults, read_defaults
from evenhand.config.document import FREE_KEY_PREFIX, WrittenSuite
from evenhand.config.entries import Entries, is_written_case, read_entries, run_generators, settle_all_ids
from evenhand.config.environment import NamedVariables
from evenhand.config.fallbacks import check_fallbacks
from evenhand.config.files import Files
from evenhand.config.findings import Findings, Place
from evenhand.config.given_suite import NAME as GIVEN_NAME
from evenhand.config.given_suite import GivenDocument, given_document
from evenhand.config.graders import GraderReader
from evenhand.config.locate_suite import locate_suite
from evenhand.config.prompts import PromptReader
from evenhand.config.providers import id_of, read_providers
from evenhand.config.question_digest import digest_of
from evenhand.config.sandbox import Sandbox
from evenhand.config.sandbox_rules import report_folder, report_hosts
from evenhand.config.script_checks import ScriptChecks
from evenhand.config.settings import read_settings
from evenhand.config.sources import FileSource
from evenhand.config.suite_files import SuiteFiles
from evenhand.config.turns import TurnReader
from evenhand.io.repository import find_repository
from evenhand.model.confinement import Confinement
from evenhand.model.grading import Graders
from evenhand.model.provider import Provider
from evenhand.model.suite import Case, Prompt, Suite
from evenhand.template import Engine


def load_suite(
    path: str | os.PathLike[str] | Mapping[str, Any] = ".",
    *,
    directory: str | os.PathLike[str] = ".",
    environ: Mapping[str, str] | None = None,
    generators: bool = True,
    confined: bool = False,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
    visible_variables: Collection[str] | None = None,
    allow_scripts: bool = False,
    allow_hosts: Iterable[str] = (),
    spool_folder: Callable[[], Path] | None = None,
) -> Suite:
    """The suite at a path: a file, or a folder with an `evenhand.yaml`; or a mapping with the keys of such a file.

    In a mapping, functions may stand where files name code: as an entry of `assert` or as its `value`, called with
    `(output, context)` or with the output alone (as text), as a `transform`, and as the `target` of a `python`
    provider. They run in this process. `directory` is the folder that the mapping's references and programs start
    from.

    `environ` replaces the process's environment. Without `generators`, what makes cases is not run and its cases
    are left out. What is run keeps its cases in the folder that `spool_folder` makes, by default in a temporary one
    that lives as long as the suite. `allow_outside` names folders outside that references may lead to. With
    `visible_variables`, the suite sees no other environment variables than those.

    `confined` is for a suite from a stranger: references stay inside its folder, it sees no variables but the visible
    ones, no program and no Python is run, and providers call the vendors' own hosts and those of `allow_hosts` only,
    when it is loaded and when it is run. `allow_scripts` lets it run scripts in files under Node's permissions.

    Raises `SuiteError` with every problem found, `GeneratorError` where a program that makes cases fails.
    """
    given = given_document(path) if isinstance(path, Mapping) else None
    file = Path(directory) / GIVEN_NAME if isinstance(path, Mapping) else locate_suite(Path(path))
    if confined and visible_variables is None:
        visible_variables = ()
    variables = _visible(os.environ if environ is None else environ, visible_variables)
    repository = None if confined else find_repository(file.parent)
    outside = tuple(Path(folder) for folder in allow_outside)
    sandbox = Sandbox(file.parent, repository, outside)
    confinement = Confinement(
        directory=file.parent,
        code_roots=sandbox.code_roots,
        is_sandbox=confined,
        scripts=allow_scripts,
        hosts=tuple(allow_hosts),
        variables=tuple(visible_variables or ()),
    )
    with collection_paused():
        loading = _Loading(file, sandbox, confinement, variables, _Running(generators, spool_folder))
        return loading.suite(given)


def _visible(environ: Mapping[str, str], names: Collection[str] | None) -> dict[str, str]:
    """The variables that a suite sees; None is all."""
    return {name: value for name, value in environ.items() if names is None or name in names}


class _Running(NamedTuple):
    """Which code of the suite may be run, and where cases that are made are kept."""

    generators: bool
    spool_folder: Callable[[], Path] | None


class _Loading:
    """One load: what its steps share."""

    def __init__(
        self,
        file: Path,
        sandbox: Sandbox,
        confinement: Confinement,
        environ: Mapping[str, str],
        running: _Running,
    ) -> None:
        self.file = file
        self.sandbox = sandbox
        self.confinement = confinement
        self.environ = environ
        self.running = running
        self.findings = Findings()
        self.generators_left = 0
        self.engine = Engine()
        self.files = Files(SuiteFiles(sandbox), self.engine)
        self.turns = TurnReader(self.files, self.engine)
        self.graders = GraderReader(self.files, confinement, environ)
        self.scripts = ScriptChecks(self.files, confinement)
        self.assertions = AssertionReader(self.engine, self.files, self.graders, self.scripts, confinement)

    def suite(self, given: GivenDocument | None) -> Suite:
        if given is None:
            composed = compose(self.file, str(self.file), self.sandbox, self.findings)
        else:
            composed = compose_document(self.file, given, self.sandbox, self.findings)
        if composed.value is None:
            self.findings.raise_if_any()
        root = Place(self.findings, composed.origin)
        document = _without_free_keys(composed.value or {})
        written = read_settings(document, root, self.files, self.environ)
        if self.confinement.is_sandbox:
            self._refuse_programs(written, root)
        parts = self._parts(written, root)
        reading = self._read_cases(written, parts, root)
        self.scripts.report()
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
            tracing=written.tracing,
            servers=written.servers,
            env=env,
            runner=written.runner,
            confinement=self.confinement,
            cache=written.cache,
            gate=written.gate,
            baseline=written.baseline,
            engine=self.engine,
            graders=parts.graders,
            generators_left=self.generators_left,
            has_repeats=reading.has_repeats,
            has_graded_cases=reading.has_graded_cases,
            warnings=self.findings.warnings(),
            digests={**_digests(written, parts, reading, env), "files": self.files.digest()},
            snapshot=_snapshot(document),
            functions=() if given is None else given.functions,
        )

    def _refuse_programs(self, written: WrittenSuite, root: Place) -> None:
        """Report what a suite from a stranger may not run, and what would lead its scripts outside."""
        if written.servers:
            root.inside("servers").report("servers are programs, which a suite in a sandbox may not run")
        for name in ("http", "s3"):
            if getattr(written.cache, name) is not None:
                root.inside("cache", name).report(
                    "a suite in a sandbox may not send answers and credentials to a storage of its own",
                    "remove it",
                )
        report_hosts(self.confinement, root)
        if self.confinement.scripts:
            report_folder(self.confinement, root)
        if written.cache.backend != "disk":
            root.inside("cache", "backend").report(
                "a suite in a sandbox may not share answers", "write `backend: disk`, or leave it out"
            )

    def _parts(self, written: WrittenSuite, root: Place) -> _Parts:
        prompts = PromptReader(self.engine, self.files, self.turns)
        declared = read_providers(
            written.providers,
            root.inside("providers"),
            self.confinement,
            self.assertions.transforms,
        )
        check_fallbacks(declared, written.providers, root.inside("providers"))
        declared = tuple(self._salted(provider, written.providers, root) for provider in declared)
        under_test = tuple(provider for provider in declared if not provider.embeds)
        if declared and not under_test and len(declared) == len(written.providers):
            root.inside("providers").report(
                "every provider makes embeddings, so there is no system under test", "name one"
            )
        return _Parts(
            providers=under_test,
            graders=self.graders.suite_graders(written.grader, written.vote, root.inside("grader"), declared),
            prompts=prompts.read_all(written.prompts, root.inside("prompts")),
            defaults=read_defaults(
                written.defaults,
                root.inside("defaults"),
                files=self.files,
                assertions=self.assertions,
                turns=self.turns,
            ),
        )

    def _salted(self, provider: Provider, values: Sequence[Any], root: Place) -> Provider:
        """The provider with the digest of the files that its salt names."""
        if provider.cache_salt is None:
            return provider
        index = next(number for number, value in enumerate(values) if id_of(value) == provider.id)
        place = root.inside("providers", index, "cache_salt")
        return structs.replace(provider, cache_salt=self.files.salt(provider.cache_salt, {}, place))

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
            graders=parts.graders,
            prompts=parts.prompts,
            defaults=parts.defaults,
            defaults_place=root.inside("defaults"),
            engine=self.engine,
            traces=written.tracing.enabled,
        )
        reading = CasePass(builder, checker, self.findings)
        entries = read_entries(written.tests, root.inside("tests"), self.sandbox)
        generated = self._generated(entries)
        settle_all_ids([*entries.sources, *generated])
        reading.read([*entries.sources, *generated])
        checker.check_together(root)
        return reading

    def _generated(self, entries: Entries) -> list[FileSource]:
        """The cases that are made now. Nothing is run for a suite that is known to be wrong."""
        if self.confinement.is_sandbox:
            for _, place in entries.generators:
                place.report("generators run code, which a suite in a sandbox may not")
        if not (entries.generators and self.running.generators) or self.findings.problem_count:
            self.generators_left = len(entries.generators)
            return []
        return run_generators(entries.generators, self.sandbox, self._spool_folder())

    def _spool_folder(self) -> Path:
        if self.running.spool_folder is not None:
            return self.running.spool_folder()
        folder = Path(tempfile.mkdtemp(prefix="evenhand-"))
        weakref.finalize(self.files, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def _environment(
        self,
        document: dict[str, Any],
        written: WrittenSuite,
        parts: _Parts,
        cases: Iterable[Case],
        root: Place,
    ) -> dict[str, str]:
        named = NamedVariables(root)
        named.add_list(written.env)
        named.add_document(document)
        named.add_prompts(parts.prompts)
        named.add_expressions(parts.defaults.assertions, ("defaults",))
        named.add_transforms([provider.transform for provider in parts.providers], ("providers",))
        named.add_transforms([parts.defaults.transform], ("defaults",))
        for case in cases:
            named.add_expressions(case.assertions, ("tests",))
            named.add_transforms([case.transform], ("tests",))
        return named.values(self.environ)


class _Parts(NamedTuple):
    """What the cases are put together with."""

    providers: tuple[Provider, ...]
    """The systems under test."""
    graders: Graders
    prompts: tuple[Prompt, ...]
    defaults: Defaults


def _without_free_keys(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if not key.startswith(FREE_KEY_PREFIX)}


def _digests(written: WrittenSuite, parts: _Parts, reading: CasePass, env: dict[str, str]) -> dict[str, str]:
    prompts = [structs.replace(prompt, location=None) for prompt in parts.prompts]
    defaults = written.defaults
    return {
        "prompts": digest_of(prompts, written.tools),
        "providers": digest_of(parts.providers, *written.servers),
        "tests": digest_of(reading.tests.hexdigest(), defaults.vars, defaults.history),
        "asserts": digest_of(
            reading.asserts.hexdigest(), defaults.asserts, defaults.threshold, defaults.transform
        ),
        "tools": digest_of(written.tools),
        "grader": digest_of(parts.graders),
        "env": digest_of(env),
    }


def _snapshot(document: dict[str, Any]) -> dict[str, Any]:
    """The document without the cases that stand in it, which are stored with their results."""
    entries = document.get("tests")
    if not isinstance(entries, list):
        return document
    return {**document, "tests": [entry for entry in entries if not is_written_case(entry)]}
