"""Filters, searches and orders over the cases of a run, as the viewer's addresses name them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any

import msgspec

from evenhand.web.case_index import CaseIndex

PAGE_SIZE = 100
"""Cases in one answer."""
MAX_PAGE_SIZE = 500

MIN_BEGINNING = 2
"""Letters from which a word is also searched as a beginning; every text has words that begin with any one letter."""

MAX_SEARCH = 200
"""Characters of a search that are looked at."""

ORDERS: dict[str, str] = {
    "plan": "position",
    "worst": "CASE status WHEN 'error' THEN 0 WHEN 'fail' THEN 1 WHEN 'xpass' THEN 2 ELSE 3 END, score, position",
    "score": "score IS NULL, score, position",
    "-score": "score IS NULL, score DESC, position",
    "latency": "latency_ms IS NULL, latency_ms, position",
    "-latency": "latency_ms IS NULL, latency_ms DESC, position",
    "cost": "cost_usd IS NULL, cost_usd, position",
    "-cost": "cost_usd IS NULL, cost_usd DESC, position",
    "test": "test_id, position",
}
"""Orders by the name that an address gives them."""

FACETS = ("status", "provider", "prompt", "error_class")
"""Columns whose values are counted, each also a filter."""


Neighbour = tuple[str, int] | None
"""The key of a case and its place in the list."""


class CaseQuery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which cases of a run are shown, in which order; every field is a parameter of the address."""

    status: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ()
    error_class: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    q: str = ""
    """Words that the output, the reasons or the name hold; the last letters of a word may be missing."""
    order: str = "plan"
    at: int = -1
    """The place in the list of the case that is looked at."""
    offset: int = 0
    limit: int = PAGE_SIZE

    @classmethod
    def of(cls, parameters: Mapping[str, list[str]]) -> CaseQuery:
        """The query of an address. What makes no sense in it is left out: an address is typed by hand, too."""
        several = {
            name: tuple(v for v in parameters.get(name, ()) if v)
            for name in (*FACETS, "tag")
            if name in parameters
        }
        order = parameters.get("order", ["plan"])[-1]
        return cls(
            **several,
            q=parameters.get("q", [""])[-1][:MAX_SEARCH],
            order=order if order in ORDERS else "plan",
            offset=_number(parameters.get("offset"), 0, 1 << 40),
            at=_number(parameters.get("at"), -1, 1 << 40),
            limit=_number(parameters.get("limit"), PAGE_SIZE, MAX_PAGE_SIZE),
        )


class CaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """One case in a list."""

    position: int
    case_key: str
    test_id: str
    name: str
    provider: str
    prompt: str
    repeat: int
    tags: tuple[str, ...]
    status: str
    score: float | None
    latency_ms: float | None
    cost_usd: float | None
    error_class: str | None
    cached: bool
    unchecked: bool
    reason: str
    excerpt: str


class CasePage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a list: `total` counts the whole, `facets` the values of each facet over the whole."""

    rows: tuple[CaseRow, ...]
    total: int
    offset: int
    facets: dict[str, dict[str, int]]


def find_cases(index: CaseIndex, run_id: str, query: CaseQuery) -> CasePage:
    """The cases that a query names, as far as they are in the index."""
    where, values = _condition(index.number(run_id), query)
    rows = index.rows(
        f"SELECT * FROM cases WHERE {where} ORDER BY {ORDERS[query.order]} LIMIT ? OFFSET ?",  # noqa: S608
        (*values, query.limit, query.offset),
    )
    total, facets = index.remembered(run_id, (where, values), lambda: _counted(index, where, values))
    return CasePage(rows=tuple(map(_case_row, rows)), total=total, offset=query.offset, facets=facets)


def _counted(
    index: CaseIndex, where: str, values: tuple[object, ...]
) -> tuple[int, dict[str, dict[str, int]]]:
    """How many cases there are, in all and by the values of each facet."""
    counted = index.rows(
        f"SELECT {', '.join(FACETS)}, count(*) AS n FROM cases WHERE {where} GROUP BY {', '.join(FACETS)}",  # noqa: S608
        values,
    )
    facets: dict[str, dict[str, int]] = {name: {} for name in FACETS}
    for row in counted:
        for name in FACETS:
            value = row[name]
            if value:
                facets[name][value] = facets[name].get(value, 0) + row["n"]
    return sum(row["n"] for row in counted), facets


def neighbours(index: CaseIndex, run_id: str, query: CaseQuery, case_key: str) -> tuple[Neighbour, Neighbour]:
    """The cases before and behind the one at the place `query.at` of a list.

    None at the ends of the list, and where another case has that place by now.
    """
    if query.at < 0:
        return None, None
    where, values = _condition(index.number(run_id), query)
    first = max(0, query.at - 1)
    rows = index.rows(
        f"SELECT case_key FROM cases WHERE {where} ORDER BY {ORDERS[query.order]} LIMIT 3 OFFSET ?",  # noqa: S608
        (*values, first),
    )
    found = {first + place: str(row["case_key"]) for place, row in enumerate(rows)}
    if found.get(query.at) != case_key:
        return None, None
    before, behind = query.at - 1, query.at + 1
    return (
        (found[before], before) if before in found else None,
        (found[behind], behind) if behind in found else None,
    )


def _condition(run: int, query: CaseQuery) -> tuple[str, tuple[object, ...]]:
    conditions, values = ["run = ?"], list[object]([run])
    for name in FACETS:
        wanted = getattr(query, name)
        if wanted:
            conditions.append(f"{name} IN ({', '.join('?' * len(wanted))})")
            values += wanted
    for tag in query.tag:
        conditions.append("instr(tags, ?) > 0")
        values.append(f"\n{tag}\n")
    search = match_expression(query.q)
    if search:
        conditions.append("id IN (SELECT rowid FROM words WHERE words MATCH ?)")
        values.append(search)
    return " AND ".join(conditions), tuple(values)


def match_expression(search: str) -> str:
    """A search as FTS5 reads it: all words, in quotes as a phrase, a word without quotes also as a beginning.

    Nothing that a person types is syntax: every word is quoted. Empty where there is no word.
    """
    parts = []
    for phrase, word in re.findall(r'"([^"]*)"|(\S+)', search.replace("\0", " ")):
        text = (phrase or word).replace('"', " ").strip()
        if re.search(r"\w", text):
            parts.append(f'"{text}"' + ("" if phrase or len(text) < MIN_BEGINNING else "*"))
    return " AND ".join(parts)


def _case_row(row: sqlite3.Row) -> CaseRow:
    fields: dict[str, Any] = {name: row[name] for name in CaseRow.__struct_fields__}
    fields["tags"] = tuple(str(fields["tags"]).strip("\n").split("\n")) if fields["tags"] else ()
    fields["cached"], fields["unchecked"] = bool(fields["cached"]), bool(fields["unchecked"])
    return CaseRow(**fields)


def _number(values: list[str] | None, default: int, most: int) -> int:
    text = values[-1] if values else ""
    return min(int(text), most) if re.fullmatch(r"[0-9]{1,12}", text) else default
