"""Assertions from what a person wrote, in whichever source they stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import structs

from evenhand.config.decode import decode, struct_type
from evenhand.config.expected_type import holds, holds_val
from evenhand.config.files import Files
from evenhand.config.findings import Place
from evenhand.config.graders import GraderReader
from evenhand.config.sandbox_rules import assertion_refusal
from evenhand.config.script_checks import ScriptChecks
from evenhand.config.transforms import TransformReader
from evenhand.config.typed_entry import TypedEntry, find_type
from evenhand.config.values import check_templates
from evenhand.config.wording import found
from evenhand.io.program import command_warnings
from evenhand.model.assertion import ASSERTIONS, MEMBERS, Assertion
from evenhand.model.confinement import Confinement
from evenhand.model.grading import Grader
from evenhand.model.group import Group
from evenhand.scripts.assertion import ScriptAssertion
from evenhand.template import Engine

SALT = "cache_salt"
"""Field of kinds whose verdicts are kept: text that separates them."""
MAX_NESTING = 10
"""Levels of groups inside groups."""


class AssertionReader:
    """Makes assertions of written ones and checks what can be known before any answer is there."""

    def __init__(
        self,
        engine: Engine,
        files: Files,
        graders: GraderReader,
        scripts: ScriptChecks | None = None,
        confinement: Confinement | None = None,
    ) -> None:
        """`scripts` collects the assertions whose code is looked at once all are read."""
        self._scripts = scripts
        self._confinement = confinement or Confinement(directory=Path())
        self._commands: set[tuple[str, ...]] = set()
        self.transforms = TransformReader(engine, scripts)
        self._engine = engine
        self._files = files
        self._graders = graders

    def read_all(self, values: Sequence[Any], place: Place, *, check: bool) -> tuple[Assertion, ...]:
        """The assertions of a list, without those that were reported."""
        read = (self.read(value, place.inside(index), check=check) for index, value in enumerate(values))
        return tuple(assertion for assertion in read if assertion is not None)

    def read(self, value: Any, place: Place, *, check: bool) -> Assertion | None:
        """One assertion; None after reporting what is wrong with it.

        Without `check` only what keeps it from being read is found: the way for what was checked before.
        """
        entry = find_type(value, ASSERTIONS, place, negatable=True)
        if entry is None:
            return None
        options = self._with_files(entry, place)
        assertion: Assertion | None = decode(entry.cls, options, place)
        if assertion is not None:
            assertion = self._with_graders(self._with_salt(assertion, place), place)
        if isinstance(assertion, Group):
            return self._group(assertion, place, check=check)
        if assertion is not None and check:
            self._check(assertion, place)
        return assertion

    def _group(self, group: Group, place: Place, *, check: bool) -> Group | None:
        """The group with its members finished; one that lacks some of them is only there to find more problems."""
        at = place.inside(MEMBERS)
        if place.path.count(MEMBERS) > MAX_NESTING:
            at.report(f"groups are nested more than {MAX_NESTING} deep", "take a group apart")
            return None
        members = self.read_all(group.members, at, check=check)
        is_whole = len(members) == len(group.members)
        group = structs.replace(group, members=members)
        if check and is_whole:
            self._check(group, place)
        return group if members else None

    def _with_files(self, entry: TypedEntry, place: Place) -> dict[str, Any]:
        options = entry.options
        for name in _fields_with_files(entry.cls):
            if isinstance(options.get(name), (dict, list)):
                options = {**options, name: self._files.resolved(options[name], place.inside(name))}
        return options

    def _with_salt(self, assertion: Assertion, place: Place) -> Assertion:
        """The assertion with the digest of the files that its salt names."""
        salt = getattr(assertion, SALT, None)
        if salt is None:
            return assertion
        return structs.replace(assertion, **{SALT: self._files.salt(salt, {}, place.inside(SALT))})

    def _with_graders(self, assertion: Assertion, place: Place) -> Assertion | None:
        """The assertion with the graders of its own finished; None where one was reported."""
        for name in _fields_with_graders(type(assertion)):
            grader = getattr(assertion, name)
            if grader is None:
                continue
            at = place.inside(name)
            if isinstance(grader, tuple):
                finished: Any = self._graders.several([(g, n) for n, g in enumerate(grader)], at)
                is_whole = len(finished) == len(grader)
            else:
                finished = self._graders.finished(grader, at)
                is_whole = finished is not None
            if not is_whole:
                return None
            assertion = structs.replace(assertion, **{name: finished})
        return assertion

    def _check(self, assertion: Assertion, place: Place) -> None:
        if not (math.isfinite(assertion.weight) and assertion.weight >= 0):
            place.inside("weight").report(
                f"a weight is a number of 0 or more, found {found(assertion.weight)}"
            )
        is_sound = True
        for problem in assertion.problems(self._engine):
            place.add(problem)
            is_sound = False
        if isinstance(assertion, ScriptAssertion) and is_sound and self._scripts is not None:
            self._scripts.add(assertion, place.inside("value"))
        if assertion.members and assertion.transform is not None:
            place.inside("transform").report("a group reads no output", "put it on the members that need it")
        else:
            self.transforms.checked(assertion.transform, place.inside("transform"))
        refusal = assertion_refusal(assertion, self._confinement)
        if refusal is not None:
            place.add(refusal)
        elif assertion.runs_programs:
            self._warn_of_command(getattr(assertion, "command", ()), place)
        for warning in assertion.warnings(self._engine):
            place.add_warning(warning)
        for name, value in assertion.templates():
            check_templates(self._engine, value, place.inside(name))

    def _warn_of_command(self, command: tuple[str, ...], place: Place) -> None:
        """Say what of a command is not there, once for each command of the suite."""
        if command and command not in self._commands:
            self._commands.add(command)
            for warning in command_warnings(command, self._confinement.directory):
                place.add_warning(warning)


@cache
def _fields_with_graders(cls: type[Assertion]) -> tuple[str, ...]:
    return tuple(field.encode_name for field in struct_type(cls).fields if holds(field.type, Grader))


@cache
def _fields_with_files(cls: type[Assertion]) -> tuple[str, ...]:
    """The options that may hold `{$file: …}`: those with templates, and schemas."""
    fields = struct_type(cls).fields
    return tuple(field.encode_name for field in fields if field.name == "schema" or holds_val(field.type))
