"""A suite put together from its own file, the one it extends and the parts it imports.

Mappings merge key by key. The lists under a key `assert` are appended, the weaker layer first; every other value
of the stronger layer replaces the weaker one. From weak to strong: `extends`, `imports` in their order, the file
itself. Each value keeps the place that it was written at.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.config.document import CASE_ASSERT
from evenhand.config.findings import Findings, Place
from evenhand.config.regular_file import read_bounded_text
from evenhand.config.sandbox import Sandbox
from evenhand.config.wording import found
from evenhand.config.yaml_reader import Document, read_yaml
from evenhand.errors import DocumentPath, Location, SuiteError

EXTENDS = "extends"
IMPORTS = "imports"

MAX_FILES = 200
"""Files that one suite may be put together from."""


class Layer:
    """A value, where it was written, and its parts where those come from different places."""

    __slots__ = ("document", "parts", "path", "value")

    def __init__(self, value: Any, document: Document, path: DocumentPath, parts: Any = None) -> None:
        self.value = value
        self.document = document
        self.path = path
        self.parts: dict[str | int, Layer] = parts or {}

    def locate(self, path: DocumentPath) -> Location:
        """The place of the value at `path`, or of its nearest ancestor that exists."""
        layer, rest = self._follow(path)
        return layer.document.locate((*layer.path, *rest))

    def locate_key(self, path: DocumentPath) -> Location:
        """The place of the key that `path` ends in."""
        layer, rest = self._follow(path)
        return layer.document.locate_key((*layer.path, *rest))

    def _follow(self, path: DocumentPath) -> tuple[Layer, DocumentPath]:
        layer = self
        for index, step in enumerate(path):
            if step not in layer.parts:
                return layer, path[index:]
            layer = layer.parts[step]
        return layer, ()

    def part(self, step: str | int) -> Layer:
        """The layer of a value inside this one."""
        return self.parts.get(step) or Layer(self.value[step], self.document, (*self.path, step))


class Composition(NamedTuple):
    """A suite's document and where its values stand; `value` is None where it is no mapping."""

    value: dict[str, Any] | None
    origin: Layer


def compose(path: Path, file: str, sandbox: Sandbox, findings: Findings) -> Composition:
    """The suite at `path` with everything that it extends and imports. Raises `SuiteError` where it is no YAML."""
    return compose_document(path, read_yaml(read_bounded_text(path, file), file), sandbox, findings)


def compose_document(path: Path, document: Document, sandbox: Sandbox, findings: Findings) -> Composition:
    """The same for a document that was read already; `path` is where it stands, or would."""
    layer = _Composer(sandbox, findings).file(path, document, ())
    value = layer.value
    if isinstance(value, dict):
        return Composition({key: item for key, item in value.items() if key not in (EXTENDS, IMPORTS)}, layer)
    Place(findings, layer).report(f"expected a mapping with the keys of a suite, found {found(value)}")
    return Composition(None, layer)


def merged(weak: Layer, strong: Layer, key: str | int | None = None) -> Layer:
    """The two layers as one; `key` is the key that they stand under."""
    if isinstance(weak.value, dict) and isinstance(strong.value, dict):
        parts = {name: weak.part(name) for name in weak.value}
        for name in strong.value:
            part = strong.part(name)
            parts[name] = merged(parts[name], part, name) if name in parts else part
        value: Any = {name: part.value for name, part in parts.items()}
    elif key == CASE_ASSERT and isinstance(weak.value, list) and isinstance(strong.value, list):
        items = [layer.part(index) for layer in (weak, strong) for index in range(len(layer.value))]
        parts = dict(enumerate(items))
        value = [item.value for item in items]
    else:
        return strong
    return Layer(value, strong.document, strong.path, parts)


class _Composer:
    """Follows `extends` and `imports` through files, each problem at the entry that causes it."""

    def __init__(self, sandbox: Sandbox, findings: Findings) -> None:
        self._sandbox = sandbox
        self._findings = findings
        self._known: dict[Path, Layer | None] = {}
        self._read = 0

    def file(self, path: Path, document: Document, chain: Sequence[Path]) -> Layer:
        own = Layer(document.value, document, ())
        place = Place(self._findings, own)
        result: Layer | None = None
        for reference, at in _references(document.value, place):
            part = self._part(reference, at, path, (*chain, path.resolve()))
            if part is not None:
                result = part if result is None else merged(result, part)
        return own if result is None else merged(result, own)

    def _part(self, reference: str, at: Place, declaring: Path, chain: Sequence[Path]) -> Layer | None:
        try:
            part = self._sandbox.code_file(reference, beside=declaring.parent)
        except SuiteError as error:
            at.adopt(error)
            return None
        real = part.path
        if real in chain:
            cycle = " → ".join(_shown(step) for step in (*chain[chain.index(real) :], real))
            at.report(f"the files refer to each other in a cycle: {cycle}", "remove one of the references")
            return None
        if real not in self._known:
            self._known[real] = self._load(real, part.name, at, chain)
        return self._known[real]

    def _load(self, path: Path, name: str, at: Place, chain: Sequence[Path]) -> Layer | None:
        self._read += 1
        if self._read > MAX_FILES:
            at.report(f"the suite is put together from more than {MAX_FILES} files")
            return None
        try:
            document = read_yaml(read_bounded_text(path, name), name)
        except SuiteError as error:
            at.adopt(error)
            return None
        if not isinstance(document.value, dict):
            at.report(f"expected a file with the keys of a suite, found {found(document.value)} in {name!r}")
            return None
        return self.file(path, document, chain)


def _references(value: Any, place: Place) -> list[tuple[str, Place]]:
    """What a document extends and imports, from weak to strong."""
    if not isinstance(value, dict):
        return []
    references: list[tuple[str, Place]] = []
    extends = value.get(EXTENDS)
    if isinstance(extends, str):
        references.append((extends, place.inside(EXTENDS)))
    elif extends is not None:
        place.inside(EXTENDS).report(
            f"expected the path of one file, found {found(extends)}", "list parts under `imports`"
        )
    imports = value.get(IMPORTS)
    if imports is not None and not isinstance(imports, list):
        place.inside(IMPORTS).report(f"expected a list of paths, found {found(imports)}")
        return references
    for index, entry in enumerate(imports or []):
        at = place.inside(IMPORTS, index)
        if isinstance(entry, str):
            references.append((entry, at))
        else:
            at.report(f"expected the path of a file, found {found(entry)}")
    return references


def _shown(path: Path) -> str:
    return path.name
