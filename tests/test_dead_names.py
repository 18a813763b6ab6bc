"""Everything in the package is used by the package, by its users, or by somebody named here."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import evenhand

SOURCE = Path(evenhand.__file__).parent

CALLED_FROM_OUTSIDE = {
    "_repr_html_": "notebooks",
    "to_dataframe": "users of the library",
    "list_commands": "click, as a method of a group",
    "get_command": "click, as a method of a group",
    "format_commands": "click, as a method of a group",
    "descend_resolver": "the reader of YAML",
    "ascend_resolver": "the reader of YAML",
    "pipe_data_received": "asyncio, as a protocol of a process",
    "pipe_connection_lost": "asyncio, as a protocol of a process",
    "process_exited": "asyncio, as a protocol of a process",
    "connection_lost": "asyncio, as a protocol of a socket",
    "suppress_debug_info": "the library LiteLLM, as a setting",
    "drop_params": "the library LiteLLM, as a setting",
    "finalizer": "the template engine, as a setting",
    "row_factory": "sqlite3, as a setting",
    "validateLink": "the reader of Markdown",
    "verdict_mode": "nobody: it has one value, which is taken so that suites of another tool load",
}
"""Names that stand once in the source, each with who reads them."""


def defined(path: Path) -> Iterator[tuple[str, int]]:
    """The names that a module defines, without those that a decorator registers."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not node.decorator_list:
                yield node.name, node.lineno
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
                if isinstance(target, ast.Name | ast.Attribute):
                    yield target.id if isinstance(target, ast.Name) else target.attr, node.lineno


def test_every_name_is_used_somewhere() -> None:
    words: Counter[str] = Counter()
    for path in SOURCE.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            words.update(re.findall(r"\w+", path.read_text(encoding="utf-8", errors="replace")))
    unused = [
        f"{path.relative_to(SOURCE)}:{line} {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for name, line in defined(path)
        if words[name] == 1 and not name.startswith("__") and name not in CALLED_FROM_OUTSIDE
    ]
    assert not unused, "remove what nothing uses, or say who does"
