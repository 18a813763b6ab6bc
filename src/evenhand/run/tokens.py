"""How many tokens a question may have, before anybody counted them."""

from __future__ import annotations

import math
from typing import Any

from evenhand.model.exchange import Request

CHARACTERS_PER_TOKEN = 4
"""Of English text, roughly; code and other languages have fewer to a token."""
TOKENS_PER_IMAGE = 1_000
TOKENS_PER_TURN = 4
"""For the marks that vendors put around each turn."""


def estimated_tokens(request: Request) -> int:
    """Tokens of a question, from its length. A rough figure: vendors count in ways of their own."""
    turns = request.messages
    total = sum(_length(turn.content) for turn in turns)
    total += sum(_length(str(call.arguments)) for turn in turns for call in turn.tool_calls)
    total += sum(len(str(tool.input_schema or "")) + len(tool.description or "") for tool in request.tools)
    return math.ceil(total / CHARACTERS_PER_TOKEN) + TOKENS_PER_TURN * len(turns)


def _length(content: Any) -> int:
    """Characters of a turn; an image counts as the characters that its tokens would have."""
    if isinstance(content, str):
        return len(content)
    if not isinstance(content, list):
        return 0
    blocks = [block for block in content if isinstance(block, dict)]
    images = sum(1 for block in blocks if block.get("type") == "image")
    return sum(len(str(b.get("text", ""))) for b in blocks) + images * TOKENS_PER_IMAGE * CHARACTERS_PER_TOKEN
