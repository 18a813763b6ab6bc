"""Filters, searches and orders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.model.result import CaseStatus
from evenhand.web.case_index import CaseIndex
from evenhand.web.queries import (
    FACETS,
    MAX_PAGE_SIZE,
    ORDERS,
    CaseQuery,
    find_cases,
    match_expression,
    neighbours,
)
from support.viewed import RUN_ID, a_case, a_failure


@pytest.fixture
def filled(store, index, add) -> CaseIndex:
    add(
        a_case(0, latency_ms=30.0, tags=("smoke",)),
        a_failure(1, latency_ms=10.0, output="Lyon is a fine city", provider="other"),
        a_case(2, status=CaseStatus.ERROR, score=None, error="no reply", error_class="provider_timeout"),
        a_case(3, latency_ms=20.0, score=0.5, tags=("smoke", "billing")),
    )
    index.bring_up_to_date(store, RUN_ID)
    return index


def found(index: CaseIndex, **parameters: list[str]) -> list[int]:
    return [row.position for row in find_cases(index, RUN_ID, CaseQuery.of(parameters)).rows]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, [0, 1, 2, 3]),
        ({"status": ["fail", "error"]}, [1, 2]),
        ({"provider": ["other"]}, [1]),
        ({"error_class": ["provider_timeout"]}, [2]),
        ({"tag": ["smoke"]}, [0, 3]),
        ({"tag": ["smoke", "billing"]}, [3]),
        ({"tag": ["smok"]}, []),
        ({"q": ["lyon"]}, [1]),
        ({"q": ["ci fin"]}, [1]),
        ({"q": ['"fine city"']}, [1]),
        ({"q": ['"city fine"']}, []),
        ({"q": ["answer"], "status": ["pass"]}, [0, 3]),
        ({"order": ["latency"]}, [1, 3, 0, 2]),
        ({"order": ["-latency"]}, [0, 3, 1, 2]),
        ({"order": ["worst"]}, [2, 1, 3, 0]),
        ({"order": ["no such order"]}, [0, 1, 2, 3]),
        ({"offset": ["2"]}, [2, 3]),
        ({"limit": ["1"], "offset": ["1"]}, [1]),
        ({"offset": ["-1"], "limit": ["x"]}, [0, 1, 2, 3]),
    ],
)
def test_cases_are_found(parameters: dict[str, list[str]], expected: list[int], filled: CaseIndex) -> None:
    assert found(filled, **parameters) == expected


def test_facets_count_the_whole_list_and_not_only_its_page(filled: CaseIndex) -> None:
    page = find_cases(filled, RUN_ID, CaseQuery(limit=1))
    assert page.total == 4
    assert page.facets["status"] == {"pass": 2, "fail": 1, "error": 1}
    assert page.facets["provider"] == {"app": 3, "other": 1}


def test_a_page_is_bounded() -> None:
    assert CaseQuery.of({"limit": ["999999"]}).limit == MAX_PAGE_SIZE


@given(search=st.text(max_size=30))
def test_nothing_that_a_person_types_is_syntax(search: str) -> None:
    index = CaseIndex(None)
    try:
        find_cases(index, RUN_ID, CaseQuery(q=search))
    finally:
        index.close()
    assert match_expression(search).count('"') % 2 == 0


@given(
    parameters=st.dictionaries(
        st.sampled_from([*FACETS, "tag", "q", "order", "offset", "limit", "at", "else"]),
        st.lists(st.text(max_size=8), min_size=1, max_size=2),
    )
)
def test_any_address_is_a_query(parameters: dict[str, list[str]]) -> None:
    assert CaseQuery.of(parameters).order in ORDERS


def test_neighbours_stand_beside_a_case_in_its_list(filled: CaseIndex) -> None:
    keys = [row.case_key for row in find_cases(filled, RUN_ID, CaseQuery(order="latency")).rows]

    def beside(place: int, key: str) -> tuple[object, object]:
        return neighbours(filled, RUN_ID, CaseQuery(order="latency", at=place), key)

    assert beside(1, keys[1]) == ((keys[0], 0), (keys[2], 2))
    assert beside(0, keys[0]) == (None, (keys[1], 1))
    assert beside(3, keys[3]) == ((keys[2], 2), None)
    assert beside(2, keys[0]) == (None, None)
    assert beside(-1, keys[0]) == (None, None)
