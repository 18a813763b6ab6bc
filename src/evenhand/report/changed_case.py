"""One changed cell, ready to be shown: its failed assertions and what its output lost and gained."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from evenhand.analysis.compare import CaseDiff
from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult, CaseResult
from evenhand.report.labels import kind_label, output_text
from evenhand.text.word_diff import Piece, word_diff

AROUND = 40
"""Characters of unchanged text that are kept on either side of a change."""

MAX_PIECE = 400
"""Characters of one removed or added piece that are shown."""

MAX_PIECES = 40
"""Pieces of one output that are shown."""


class ChangedCase(msgspec.Struct, frozen=True):
    """A change with what is shown of it."""

    diff: CaseDiff
    base: CaseResult | None
    head: CaseResult | None

    @property
    def moves(self) -> str:
        """From which status to which; a dash where there was or is none."""
        return f"{self.diff.base_status or '–'} → {self.diff.head_status or '–'}"

    def output_pieces(self, *, whole: bool = False) -> list[Piece]:
        """What the output lost and gained; long parts are cut unless the `whole` is asked for."""
        if self.base is None or self.head is None or not self.diff.output_changed:
            return []
        pieces = word_diff(text_of(self.base), text_of(self.head))
        return pieces if whole else list(shortened(pieces))

    def findings(self) -> list[AssertResult]:
        """The assertions of the head that do not hold."""
        if self.head is None:
            return []
        return [found for found in self.head.asserts if found.status in (Status.FAIL, Status.ERROR)]

    def reasons(self, limit: int = 5) -> list[str]:
        """Why the head does not pass, a line each."""
        found = [f"{kind_label(item)}: {item.reason or item.status}" for item in self.findings()[:limit]]
        if not found and self.head is not None and self.head.error:
            found = [f"{self.head.error_class or 'error'}: {self.head.error}"]
        return found


def text_of(case: CaseResult) -> str:
    """What is compared word by word: the output, and tool calls a line each."""
    calls = "".join(
        f"\n[calls {call.name} {msgspec.json.encode(call.arguments).decode()}]" for call in case.tool_calls
    )
    output = "" if case.output is None else output_text(case)
    return output + calls


def shortened(pieces: list[Piece]) -> Iterator[Piece]:
    """The pieces with long ones cut in the middle and those beyond a number left out."""
    last = len(pieces) - 1
    for place, piece in enumerate(pieces[:MAX_PIECES]):
        text = piece.text
        if piece.kind != "same":
            limit = MAX_PIECE
            yield (
                piece
                if len(text) <= limit
                else Piece(piece.kind, f"{text[:limit]}… {len(text) - limit:,} more")
            )
            continue
        before = text[:AROUND] if place else ""
        after = text[-AROUND:] if place != last else ""
        yield piece if len(text) <= 2 * AROUND + 1 else Piece("same", f"{before}…{after}")
    if len(pieces) > MAX_PIECES:
        yield Piece("same", f"… {len(pieces) - MAX_PIECES:,} more pieces")
