import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.json_scan import JsonScan, JsonSpan, Select, selected
from evenhand.text.json_syntax import walk_container
from support.json_texts import CONFUSED, containers, damaged, spelled


def spans(text: str) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in JsonScan(text)]


def values(text: str) -> list[Any]:
    return [span.value for span in JsonScan(text)]


def exhausted(text: str) -> JsonScan:
    scan = JsonScan(text)
    list(scan)
    return scan


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no json here", []),
        ("42", []),
        ('prefix {"a":1} suffix', [{"a": 1}]),
        ('```json\n{"a": [1, {"b": 2}]}\n```', [{"a": [1, {"b": 2}]}]),
        ('see {"a":"}"} ok', [{"a": "}"}]),
        ('x {"s": "say \\"}\\" now"} y', [{"s": 'say "}" now'}]),
        ('As noted [see 2], {"v": 3}', [{"v": 3}]),
        ('[1] and {"a": []} and []', [[1], {"a": []}, []]),
        ("{name: value} and {}", [{}]),
        ('x {oops} {"a":1}', [{"a": 1}]),
        ('{"a": NaN, "b": [1, 2]}', [[1, 2]]),
        ('{bad "[1]"', [[1]]),
        ('["[2]" x', [[2]]),
        ('{"a": {"b": 1} x {"c": 2}', [{"b": 1}, {"c": 2}]),
        ("[[1], [2] x", [[1], [2]]),
        ("[1e400] [\ud800]", None),
        ('{"u": "https://example.org/a//b"}', [{"u": "https://example.org/a//b"}]),
        ('{"line": "a\nb"}', []),
    ],
)
def test_finds_the_values_from_left_to_right(text: str, found: list[Any] | None) -> None:
    if found is None:
        assert [str(value[0]) for value in values(text)] == ["1E+400"]
    else:
        assert values(text) == found


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ('cut {"a":1', 4),
        ("[", 0),
        ("see [ ", 4),
        ('{"a": "[1]', 0),
        ('{"a": tru', 0),
        ("x [1, -", 2),
        ('{"a":1} then {"b', 13),
        ("[x [1.", 3),
    ],
)
def test_a_candidate_that_the_end_cuts_off_is_truncated(text: str, start: int) -> None:
    truncated = exhausted(text).truncated
    assert truncated is not None
    assert truncated.start == start
    assert truncated.breach.truncated


def test_prose_after_the_last_value_is_no_truncation() -> None:
    assert exhausted('{"a": 1} and [so on] {').truncated is not None
    assert exhausted('{"a": 1} and [so on]').truncated is None


def test_remembers_the_candidate_that_was_json_for_longest() -> None:
    broken = exhausted("[x] {\"a\": 1, 'b': 2} [1 2]").longest_broken
    assert broken is not None
    assert broken.start == 4
    assert "a key in double quotes" in broken.breach.message


@pytest.mark.parametrize(
    ("select", "found"), [("first", [[1]]), ("last", [[3]]), ("any", [[1], {"a": 2}, [3]])]
)
def test_select_chooses_among_several_values(select: Select, found: list[Any]) -> None:
    scan = JsonScan('[1] then {"a": 2} then [3]')
    assert [span.value for span in selected(scan, select)] == found


def test_the_first_value_is_found_without_reading_on() -> None:
    scan = JsonScan("[1] " + "[2, x] " * 100)
    assert [span.value for span in selected(scan, "first")] == [[1]]
    assert scan.walked_characters == 0


def test_a_hundred_thousand_levels_inside_prose_are_a_value() -> None:
    text = "see " + "[" * 100_000 + "]" * 100_000 + " there"
    assert spans(text) == [(4, 200_004)]


def tried_one_by_one(text: str) -> tuple[list[tuple[int, int]], int | None]:
    """What the definition says, without memory of what earlier walks saw."""
    found = []
    position = 0
    while True:
        starts = [start for start in (text.find("[", position), text.find("{", position)) if start >= 0]
        if not starts:
            return found, None
        start = min(starts)
        walk = walk_container(text, start)
        if walk.breach is None:
            found.append((start, walk.end))
            position = walk.end
        elif walk.breach.truncated:
            return found, start
        else:
            position = start + 1


NOISE = "[0[0[0[0[0"
"""Candidates that use up what the standard library may refuse, so that the walks do the work."""


@given(CONFUSED | damaged(), st.sampled_from(["", NOISE]))
def test_finds_what_trying_every_opener_finds(text: str, before: str) -> None:
    scan = JsonScan(before + text)
    found = [(start, end) for start, end, _ in scan]
    truncated = scan.truncated.start if scan.truncated else None
    assert (found, truncated) == tried_one_by_one(before + text)


@given(spelled(containers()), st.sampled_from(["", "so: ", "[see 2] ", "{x} "]))
def test_finds_any_document_inside_prose(document: str, before: str) -> None:
    span = next(iter(JsonScan(f"{before}{document} and so on")))
    assert (span.start, span.end) == (len(before), len(before) + len(document))
    assert json.dumps(span.value) == json.dumps(json.loads(document))


@given(spelled(containers()), st.data())
def test_any_beginning_of_a_document_is_truncated(document: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(document) - 1))
    scan = exhausted("so: " + document[:cut])
    assert scan.truncated is not None
    assert scan.truncated.start == 4


@given(CONFUSED | damaged())
def test_no_character_is_walked_more_than_twice(text: str) -> None:
    assert exhausted(NOISE + text).walked_characters <= 2 * len(NOISE + text)


HOSTILE = {
    "braces": "{",
    "brackets": "[",
    "brackets and quotes": '",[',
    "quotes and brackets": '["',
    "open arrays": "[1,",
    "open objects": '{"a":',
    "openers in strings": '"[",',
    "strings full of openers": '["[{[{[{",',
    "escaped quotes": '[\\"[',
    "broken strings": '["a\x01',
    "broken arrays": '["a"x',
    "closed arrays": "[],",
    "mixed": '{"a":["[1,",{"b":"[',
    "prose": "see [note] for {name} ",
    "white space": "[ \n\t ",
    "digits": "[111111111",
    "values": "[1] ",
}


@pytest.mark.parametrize("before", ["", "[", '["', "[1[1[1[1[1"])
@pytest.mark.parametrize("after", ["", "x", '"x', "]"])
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_work_grows_with_the_text_and_no_faster(piece: str, before: str, after: str) -> None:
    for times in (50, 400):
        text = before + piece * times + after
        assert exhausted(text).walked_characters <= 2 * len(text)


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_a_large_hostile_text_is_searched_to_its_end(piece: str) -> None:
    text = (piece * (50_000 // len(piece)) + "x") * 4
    assert exhausted(text).walked_characters <= 2 * len(text)


def test_a_megabyte_of_openers_and_two_hundred_thousand_braces_are_searched() -> None:
    brackets, braces = exhausted("[" * 1_048_576), exhausted("{" * 200_000)
    assert brackets.truncated is not None
    assert brackets.truncated.start == 0
    assert braces.truncated is not None
    assert braces.truncated.start == 199_999


def test_a_span_is_the_text_of_its_value() -> None:
    text = 'so {"a": [1]} there'
    assert list(JsonScan(text)) == [JsonSpan(3, 13, {"a": [1]})]
