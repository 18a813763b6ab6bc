"""Where a place in a case-folded text lies in the original: folding can lengthen a text (`ß` becomes `ss`)."""

from __future__ import annotations

import re

_LENGTHENED = re.compile(
    "[\u00df\u0130\u0149\u01f0\u0390\u03b0\u0587\u1e96-\u1e9a\u1e9e\u1f50-\u1fff\ufb00-\ufb17]"
)
"""The characters that full case folding can turn into more than one; none disappears."""


def original_span(text: str, folded_start: int, folded_end: int) -> tuple[int, int]:
    """The slice of `text` whose case folding covers the slice `folded_start:folded_end` of `text.casefold()`."""
    start = _original_position(text, folded_start)
    return start, max(start, _original_position(text, folded_end - 1) + 1)


def _original_position(text: str, folded_position: int) -> int:
    """The position of the character whose folding covers a position of the folded text."""
    surplus = 0
    for match in _LENGTHENED.finditer(text, 0, folded_position):
        folded_at = match.start() + surplus
        if folded_at >= folded_position:
            break
        added = len(match[0].casefold()) - 1
        surplus += min(added, folded_position - folded_at)
    return folded_position - surplus
