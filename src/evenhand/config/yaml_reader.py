"""YAML 1.2 text as JSON-like values that know their places.

The C parser composes a tree of nodes; the values are built here, so that booleans, dates and integers follow the
core schema, keys are unique text, and a problem has a line and a column. The tree is kept for locating values;
no index of places is made until someone asks.
"""

from __future__ import annotations

from typing import Any

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from evenhand.config.yaml_escapes import BAD_ESCAPE, MAX_CHARACTERS, EscapeComposer
from evenhand.config.yaml_scalars import BadScalar, plain_scalar
from evenhand.config.yaml_syntax import QUOTE_TEMPLATE, forbidden_character, syntax_problem
from evenhand.errors import DocumentPath, Location, Problem, SuiteError

MAX_DEPTH = 100
"""Levels that values may be nested."""

MAX_VALUES = 2_000_000
"""Values that a document may hold once aliases are followed."""

MAX_PROBLEMS = 100
"""Problems after which reading a document stops."""

_PLAIN = "plain"
_TEXT = "text"
_COLLECTION = "collection"
_STANDARD = "tag:yaml.org,2002:"
_STANDARD_TAGS = {
    _STANDARD + "str": ScalarNode,
    _STANDARD + "seq": SequenceNode,
    _STANDARD + "map": MappingNode,
}
_KEY_TAGS = (_PLAIN, _TEXT, _STANDARD + "str")
_MARKS = {"!raw": "$raw", "!file": "$file"}
_MERGE = "<<"


def read_yaml(text: str, file: str) -> Document:
    """The document that a text holds, `file` being its name in messages. An empty text holds null.

    Raises `SuiteError` with every problem that was found and its place.
    """
    text = text.removeprefix("\ufeff")
    if problem := forbidden_character(text, file):
        raise SuiteError([problem])
    try:
        root = _root(text)
    except yaml.YAMLError as error:
        raise SuiteError([syntax_problem(error, text, file)]) from None
    except RecursionError:
        raise SuiteError([Problem("values are nested too deeply", location=Location(file))]) from None
    builder = _Builder(file, shares="&" in text)
    value = None if root is None else builder.build(root)
    if builder.problems:
        raise SuiteError(builder.problems)
    return Document(value, root, file)


def _root(text: str) -> Node | None:
    try:
        return _Composer(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        if error.problem != BAD_ESCAPE or len(text) > MAX_CHARACTERS:
            raise
        return _PatientComposer(text).get_single_node()


class Document:
    """A value read from YAML, and where in the file each part of it stands."""

    __slots__ = ("_entries", "_root", "file", "value")

    def __init__(self, value: Any, root: Node | None, file: str) -> None:
        self.value = value
        self.file = file
        self._root = root
        self._entries = _Entries()

    def locate(self, path: DocumentPath) -> Location:
        """The place of the value at `path`, or of its nearest ancestor that exists."""
        return self._find(path, key=False)

    def locate_key(self, path: DocumentPath) -> Location:
        """The place of the key that `path` ends in, or of the value's nearest ancestor that exists."""
        return self._find(path, key=True)

    def _find(self, path: DocumentPath, *, key: bool) -> Location:
        node = self._root
        if node is None:
            return Location(self.file)
        place = node
        for step in path:
            found = _child(node, step, self._entries)
            if found is None:
                return _location(node, self.file)
            place, node = found
        return _location(place if key else node, self.file)


class _Tagging:
    """Gives nodes one of three tags where the text gives none; what they mean is decided by the builder."""

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if value is None:
            return _COLLECTION
        return _PLAIN if implicit[0] else _TEXT

    def descend_resolver(self, parent: Node | None, index: Any) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


class _Composer(_Tagging, CParser):
    pass


class _PatientComposer(_Tagging, EscapeComposer):
    pass


class _TooMuch(Exception):
    """Stops building after a problem that would only repeat itself."""


class _Builder:
    """Values from nodes, with every problem on the way."""

    def __init__(self, file: str, *, shares: bool) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._shares = shares
        self._built: dict[int, tuple[Any, int]] = {}
        self._open: set[int] = set()
        self._values = 0

    def build(self, root: Node) -> Any:
        try:
            return self._value(root, ())
        except _TooMuch:
            return None

    def _value(self, node: Node, path: DocumentPath) -> Any:
        if isinstance(node, ScalarNode):
            self._values += 1
            return self._scalar(node, path)
        return self._shared(node, path) if self._shares else self._collection(node, path)

    def _shared(self, node: Node, path: DocumentPath) -> Any:
        """A collection that an alias may refer to again: built once, counted each time."""
        known = self._built.get(id(node))
        if known is not None:
            self._count(known[1], node, path)
            return known[0]
        if id(node) in self._open:
            self._stop("the alias refers to a value that contains it", node, path)
        self._open.add(id(node))
        before = self._values
        value = self._collection(node, path)
        self._open.discard(id(node))
        self._built[id(node)] = (value, self._values - before)
        return value

    def _collection(self, node: Node, path: DocumentPath) -> Any:
        self._count(1, node, path)
        if len(path) > MAX_DEPTH:
            self._stop(f"values are nested too deeply (more than {MAX_DEPTH} levels)", node, path)
        if (mark := _MARKS.get(node.tag)) is not None:
            return {mark: self._bare(node, (*path, mark))}
        if node.tag != _COLLECTION:
            self._check_tag(node, path)
        return self._bare(node, path)

    def _bare(self, node: Node, path: DocumentPath) -> Any:
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        return [self._value(item, (*path, index)) for index, item in enumerate(node.value)]

    def _scalar(self, node: ScalarNode, path: DocumentPath) -> Any:
        if node.tag == _TEXT:
            return node.value
        if (mark := _MARKS.get(node.tag)) is not None:
            return {mark: node.value if node.style else self._plain(node, (*path, mark))}
        if node.tag == _PLAIN:
            return self._plain(node, path)
        self._check_tag(node, path)
        return node.value

    def _plain(self, node: ScalarNode, path: DocumentPath) -> Any:
        try:
            return plain_scalar(node.value)
        except BadScalar as error:
            self._report(Problem(str(error), path, error.hint, _location(node, self.file)))
            return None

    def _check_tag(self, node: Node, path: DocumentPath, hint: str = "use `!raw`, `!file` or no tag") -> None:
        kind = _STANDARD_TAGS.get(node.tag)
        if kind is None or not isinstance(node, kind):
            shown = node.tag.replace(_STANDARD, "!!")
            self._report(Problem(f"unknown tag `{shown}`", path, hint, _location(node, self.file)))

    def _mapping(self, node: MappingNode, path: DocumentPath) -> dict[str, Any]:
        own: dict[str, Any] = {}
        keys: dict[str, Node] = {}
        merged: list[dict[str, Any]] = []
        for key_node, value_node in node.value:
            key = self._key(key_node, path)
            if key is None:
                continue
            inner = (*path, key)
            if key in keys:
                self._report(_duplicate(inner, keys[key], key_node, self.file))
                continue
            keys[key] = key_node
            if key == _MERGE and key_node.tag == _PLAIN:
                merged = self._merged(value_node, inner)
            else:
                own[key] = self._value(value_node, inner)
        for layer in merged:
            own = {**layer, **own}
        return own

    def _key(self, node: Node, path: DocumentPath) -> str | None:
        self._count(1, node, path)
        if isinstance(node, ScalarNode) and node.tag in _KEY_TAGS:
            if isinstance(key := _key_value(node), str):
                return key
            self._report(
                _bad_key(f"{_kind(key)} `{node.value}`", f'quote it: "{node.value}"', path, node, self.file)
            )
        elif isinstance(node, MappingNode) and node.flow_style:
            self._report(
                _bad_key(
                    "a mapping, as a template without quotes makes", QUOTE_TEMPLATE, path, node, self.file
                )
            )
        elif node.tag not in (_PLAIN, _TEXT, _COLLECTION):
            self._check_tag(node, path, "write keys without tags")
        else:
            self._report(_bad_key("a list or a mapping", "", path, node, self.file))
        return None

    def _merged(self, node: Node, path: DocumentPath) -> list[dict[str, Any]]:
        """The mappings of a merge key, the strongest first."""
        value = self._value(node, path)
        layers = value if isinstance(value, list) else [value]
        if all(isinstance(layer, dict) for layer in layers):
            self._count(sum(len(layer) for layer in layers), node, path)
            return layers
        message = "the merge key `<<` takes a mapping or a list of mappings"
        self._report(Problem(message, path, "", _location(node, self.file)))
        return []

    def _count(self, number: int, node: Node, path: DocumentPath) -> None:
        self._values += number
        if self._values > MAX_VALUES:
            message = f"the document holds more than {MAX_VALUES:,} values once aliases are followed"
            self._stop(message, node, path, "keep large data in a JSONL or CSV file")

    def _report(self, problem: Problem) -> None:
        self.problems.append(problem)
        if len(self.problems) >= MAX_PROBLEMS:
            raise _TooMuch

    def _stop(self, message: str, node: Node, path: DocumentPath, hint: str = "") -> None:
        self.problems.append(Problem(message, path[:MAX_DEPTH], hint, _location(node, self.file)))
        raise _TooMuch


def _key_value(node: ScalarNode) -> Any:
    try:
        return plain_scalar(node.value) if node.tag == _PLAIN else node.value
    except BadScalar:
        return 0


def _kind(key: Any) -> str:
    return "null" if key is None else "a boolean" if isinstance(key, bool) else "a number"


def _bad_key(found: str, hint: str, path: DocumentPath, node: Node, file: str) -> Problem:
    return Problem(f"a key must be text, found {found}", path, hint, _location(node, file))


def _duplicate(path: DocumentPath, first: Node, second: Node, file: str) -> Problem:
    mark = first.start_mark
    message = f"key {path[-1]!r} is given twice, first at {mark.line + 1}:{mark.column + 1}"
    return Problem(message, path, "keep one of them", _location(second, file))


def _location(node: Node, file: str) -> Location:
    mark = node.start_mark
    return Location(file, mark.line + 1, mark.column + 1)


def _child(node: Node, step: str | int, entries: _Entries) -> tuple[Node, Node] | None:
    """The key (the item itself in a list) and the value that one step leads to, or None."""
    if isinstance(step, str) and _MARKS.get(node.tag) == step:
        return node, node
    if isinstance(node, SequenceNode):
        if isinstance(step, int) and 0 <= step < len(node.value):
            return node.value[step], node.value[step]
        return None
    return entries.find(node, step) if isinstance(node, MappingNode) else None


class _Entries:
    """Finds entries of mappings; one that was searched once is not read through again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[dict[Any, tuple[Node, Node]], list[Node]]] = {}

    def find(self, node: MappingNode, key: str | int) -> tuple[Node, Node] | None:
        """The key and the value of an entry, also of one that is merged in."""
        own, merged = self._known.get(id(node)) or self._read(node)
        if key in own:
            return own[key]
        for layer in merged:
            found = self.find(layer, key) if isinstance(layer, MappingNode) else None
            if found is not None:
                return found
        return None

    def _read(self, node: MappingNode) -> tuple[dict[Any, tuple[Node, Node]], list[Node]]:
        own: dict[Any, tuple[Node, Node]] = {}
        merged: list[Node] = []
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                continue
            own.setdefault(key_node.value, (key_node, value_node))
            if key_node.value == _MERGE and key_node.tag == _PLAIN:
                merged = value_node.value if isinstance(value_node, SequenceNode) else [value_node]
        self._known[id(node)] = own, merged
        return own, merged
