"""Files that hold what evenhand printed when somebody last looked at it and found it right."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent.parent / "golden"
UPDATE = "EVENHAND_UPDATE_GOLDEN"


def assert_golden(name: str, text: str) -> None:
    """Compare a text with `tests/golden/<name>`, byte for byte; with the variable set, write it there instead."""
    path = GOLDEN / name
    if os.environ.get(UPDATE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    expected = path.read_bytes().decode()
    hint = f"differs from tests/golden/{name}; if the new text is right: {UPDATE}=1 python -m pytest tests/report"
    assert text == expected, hint
