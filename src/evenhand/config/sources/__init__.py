"""Where cases come from: files of tests in every format, and programs that write them."""

from __future__ import annotations

from evenhand.config.sandbox import FoundFile, Sandbox
from evenhand.config.sources.delimited import DelimitedSource
from evenhand.config.sources.json_lines import JsonLinesSource
from evenhand.config.sources.parquet import ParquetSource
from evenhand.config.sources.source import FileSource, settle_ids
from evenhand.config.sources.whole_file import WholeFileSource
from evenhand.errors import Location, Problem, SuiteError
from evenhand.io.target import FILE_PREFIX

__all__ = ["FileSource", "open_sources", "settle_ids"]

_READERS: dict[str, type[FileSource]] = {
    ".yaml": WholeFileSource,
    ".yml": WholeFileSource,
    ".json": WholeFileSource,
    ".jsonl": JsonLinesSource,
    ".ndjson": JsonLinesSource,
    ".csv": DelimitedSource,
    ".tsv": DelimitedSource,
    ".parquet": ParquetSource,
}
_TEMPLATES = (".yaml", ".yml")


def open_sources(reference: str, *, sandbox: Sandbox, template: bool = False) -> list[FileSource]:
    """The sources that a `file://` reference or pattern names, sorted by path. Nothing is read yet.

    With `template`, var values of data files are templates; those of YAML files always are. Ids of sources from
    several references are told apart by `settle_ids`. Raises `SuiteError`.
    """
    if not reference.startswith(FILE_PREFIX):
        found = f"a source of tests must be a file:// reference, found {reference!r}"
        raise SuiteError([Problem(found, hint=f"write `{FILE_PREFIX}{reference}`")])
    sources = []
    problems = []
    for file in sandbox.data_files(reference):
        try:
            sources.append(_open(file, template=template))
        except SuiteError as error:
            problems += error.problems
    if problems:
        raise SuiteError(problems)
    settle_ids(sources)
    return sources


def _open(file: FoundFile, *, template: bool) -> FileSource:
    reader = _READERS.get(file.extension)
    if reader is None:
        message = f"unsupported test file extension {file.extension!r}"
        hint = f"use one of {', '.join(_READERS)}"
        raise SuiteError([Problem(message, (), hint, Location(file.name))])
    return reader(file, is_data=not template and file.extension not in _TEMPLATES)
