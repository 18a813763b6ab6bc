"""Rubrics that quote the answer which another assertion of the case looks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evenhand.model.assertion import Assertion, placed, walk
from evenhand.text.excerpt import quoted

MIN_LENGTH = 3
"""Characters of an expected text that is worth looking for: `4` or `no` stand in many rubrics by chance."""


def rubrics_that_quote(
    assertions: Sequence[Assertion],
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The paths of rubrics that hold an expected text as words of their own, each with what to say about it.

    A judge that is told the answer compares texts, which the other assertion does for nothing and without error.
    """
    rubrics = [
        (path, criterion)
        for assertion, path, is_turned in placed(assertions)
        if not is_turned and (criterion := assertion.criterion)
    ]
    if not rubrics:
        return
    expected = [(a.kind, text.strip()) for a in walk(assertions) if (text := a.expected_text)]
    for path, rubric in rubrics:
        for kind, text in expected:
            if len(text) >= MIN_LENGTH and _stands_in(text, rubric):
                yield (
                    path,
                    f"the rubric quotes the expected answer {quoted(text)}, which `{kind}` checks already",
                )
                break


def _stands_in(text: str, rubric: str) -> bool:
    folded = rubric.casefold()
    needle = text.casefold()
    start = folded.find(needle)
    while start >= 0:
        end = start + len(needle)
        if not (_joins(folded[start - 1 : start], needle[0]) or _joins(needle[-1], folded[end : end + 1])):
            return True
        start = folded.find(needle, start + 1)
    return False


def _joins(left: str, right: str) -> bool:
    """Whether two characters stand in the same word."""
    return bool(re.fullmatch(r"\w\w", left + right))
