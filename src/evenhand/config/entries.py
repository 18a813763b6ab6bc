"""The entries of a suite's `tests`: cases, files with cases, programs that write cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.config.case_stream import WrittenCases, raw_case
from evenhand.config.decode import decode
from evenhand.config.document import GENERATOR, SOURCE, WrittenSource
from evenhand.config.findings import Place
from evenhand.config.raw_case import CaseSource, RawCase
from evenhand.config.sandbox import Sandbox
from evenhand.config.sources import FileSource, open_sources, settle_ids
from evenhand.config.sources.generator import CommandGenerator, FunctionGenerator, read_generator
from evenhand.config.wording import found
from evenhand.errors import GeneratorError, Problem, SuiteError

Generator = CommandGenerator | FunctionGenerator


class Entries(NamedTuple):
    """What a suite's `tests` hold."""

    sources: list[CaseSource]
    """Cases in the suite itself and in files, in their order."""
    generators: list[tuple[Generator, Place]]
    """What makes cases, not run yet; its cases come last."""


def read_entries(values: Sequence[Any], place: Place, sandbox: Sandbox) -> Entries:
    """The entries of a list, without those that were reported. Nothing is read or run yet."""
    entries = Entries([], [])
    written: list[RawCase] = []
    for index, value in enumerate(values):
        at = place.inside(index)
        if is_written_case(value):
            if not written:
                entries.sources.append(WrittenCases(written))
            written.append(raw_case(value, index, place.origin))
            continue
        written = []
        if isinstance(value, dict) and GENERATOR in value:
            generator = read_generator(value, at, sandbox)
            entries.generators.extend([] if generator is None else [(generator, at)])
        else:
            entries.sources.extend(_files(value, at, sandbox))
    return entries


def run_generators(
    generators: Sequence[tuple[Generator, Place]], sandbox: Sandbox, folder: Path
) -> list[FileSource]:
    """Run what makes cases and keep them in `folder`; what is wrong with the cases is reported.

    Raises `GeneratorError` where a program fails and `StoreError` where its cases cannot be kept.
    """
    sources: list[FileSource] = []
    for generator, place in generators:
        try:
            sources.append(generator.run(sandbox, folder))
        except SuiteError as error:
            place.adopt(error)
        except GeneratorError as error:
            raise GeneratorError(str(Problem(str(error), place.path, location=place.location))) from error
    return sources


def settle_all_ids(sources: Sequence[CaseSource]) -> None:
    """Let files whose cases would get the same automatic ids say where they are instead."""
    settle_ids([source for source in sources if isinstance(source, FileSource)])


def is_written_case(entry: Any) -> bool:
    """Whether an entry is a case that stands in the suite itself."""
    return isinstance(entry, dict) and SOURCE not in entry and GENERATOR not in entry


def _files(value: Any, place: Place, sandbox: Sandbox) -> list[FileSource]:
    if isinstance(value, str):
        value, at = {SOURCE: value}, place
    elif isinstance(value, dict):
        at = place.inside(SOURCE)
    else:
        place.report(f"expected a case, or a file:// reference to a file with cases, found {found(value)}")
        return []
    written = decode(WrittenSource, value, place)
    if written is None:
        return []
    try:
        return open_sources(written.source, sandbox=sandbox, template=written.template)
    except SuiteError as error:
        at.adopt(error)
        return []
