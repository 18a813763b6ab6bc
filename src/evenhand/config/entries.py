"""The entries of a suite's `tests`: cases, files with cases, programs that write cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evenhand.config.case_stream import WrittenCases, raw_case
from evenhand.config.decode import decode
from evenhand.config.document import GENERATOR, SOURCE, WrittenSource
from evenhand.config.findings import Place
from evenhand.config.raw_case import CaseSource, RawCase
from evenhand.config.sandbox import Sandbox
from evenhand.config.sources import FileSource, open_sources, settle_ids
from evenhand.config.wording import found
from evenhand.errors import SuiteError

OpenGenerator = Callable[[Any, Place], CaseSource | None]
"""Makes a source of a written generator; None after reporting what is wrong with it."""


def open_entries(
    values: Sequence[Any], place: Place, sandbox: Sandbox, open_generator: OpenGenerator
) -> list[CaseSource]:
    """The sources of all cases in their order, generators last."""
    sources: list[CaseSource] = []
    generators: list[CaseSource] = []
    written: list[RawCase] = []
    for index, value in enumerate(values):
        at = place.inside(index)
        if is_written_case(value):
            if not written:
                sources.append(WrittenCases(written))
            written.append(raw_case(value, index, place.origin))
            continue
        written = []
        if isinstance(value, dict) and GENERATOR in value:
            generator = open_generator(value, at)
            generators += [] if generator is None else [generator]
        else:
            sources += _files(value, at, sandbox)
    settle_ids([source for source in sources if isinstance(source, FileSource)])
    return sources + generators


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
