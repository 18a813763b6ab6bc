"""Pages as HTML: templates with every value escaped, and what they share."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import urlencode

import minijinja
import msgspec

from evenhand.report.figures import dollars, duration, percent
from evenhand.report.visible import readable
from evenhand.template import authored
from evenhand.version import __version__
from evenhand.web.queries import PAGE_SIZE

STATIC = importlib.resources.files("evenhand.web").joinpath("static")
_TEMPLATES = importlib.resources.files("evenhand.web").joinpath("templates")


def html(template: str, **data: Any) -> str:
    """A page; `data` are structs and plain values. Text from outside is escaped wherever it stands."""
    values = {name: plain(value) for name, value in data.items()}
    return _environment().render_template(template, **values, version=__version__)


def plain(value: Any) -> Any:
    """A struct as dicts, lists and texts."""
    return msgspec.to_builtins(value, enc_hook=authored)


@functools.cache
def _environment() -> minijinja.Environment:
    return minijinja.Environment(
        loader=_source,
        filters=FILTERS,
        auto_escape_callback=lambda _: "html",
        finalizer=_shown,
        undefined_behavior="chainable",
        debug=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: Any) -> Any:
    """What stands on a page for a value: no character of a text hides, or turns what stands beside it."""
    return readable(value) if type(value) is str else NotImplemented


def exact(value: Any) -> Any:
    """A value as it is, escaped: for fields of forms, which send it back."""
    return minijinja.safe(escape(str(value)))


def _source(name: str) -> str | None:
    file = _TEMPLATES.joinpath(name)
    return file.read_text(encoding="utf-8") if file.is_file() else None


def _or_dash(function: Any) -> Any:
    return lambda value: "–" if value is None else function(value)


def parameters(query: Mapping[str, Any]) -> str:
    """A query as the end of an address: `?q=refund&status=fail`; empty for one that asks for everything."""
    pairs = [
        (name, each)
        for name, value in query.items()
        for each in (value if isinstance(value, (list, tuple)) else [value])
    ]
    return f"?{urlencode(pairs)}" if pairs else ""


def address(page: Mapping[str, Any], pages: int) -> str:
    """The end of the address of a list, so many pages further on."""
    query = dict(page["query"])
    size = query.get("limit", PAGE_SIZE)
    query["offset"] = max(0, page["cases"]["offset"] + pages * size)
    return parameters(query)


def changed(query: Mapping[str, Any], name: str, value: Any = None) -> str:
    """A query as the end of an address, with another value of one parameter, or without it."""
    rest = {each: known for each, known in query.items() if each != name}
    return parameters(rest if value is None else {**rest, name: value})


def at(query: Mapping[str, Any], place: int) -> str:
    """The end of the address of the case at a place of a list."""
    return parameters({**{name: value for name, value in query.items() if name != "offset"}, "at": place})


def around(query: Mapping[str, Any]) -> str:
    """The end of the address of the list in which a case stands."""
    if "at" not in query:
        return parameters(query)
    size = query.get("limit", PAGE_SIZE)
    list_query = {name: value for name, value in query.items() if name != "at"}
    offset = query["at"] // size * size
    return parameters({**list_query, "offset": offset} if offset else list_query)


FILTERS: dict[str, Any] = {
    "duration": _or_dash(duration),
    "dollars": _or_dash(dollars),
    "percent": _or_dash(percent),
    "number": _or_dash(lambda value: f"{value:,}"),
    "parameters": parameters,
    "at": at,
    "changed": changed,
    "exact": exact,
    "around": around,
    "address": address,
    "score": _or_dash(lambda value: f"{value:.3g}"),
}
