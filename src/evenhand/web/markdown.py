"""What a model wrote, as Markdown: without HTML of its own, without pictures, with links to the web alone.

The library escapes HTML (`html: False`) and refuses links that run something (`javascript:` and the like); pictures
would be requests to wherever a model says, so they stay text.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from evenhand.report.visible import readable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_CHARACTERS = 100_000
"""Characters that are rendered."""


def markdown(text: str) -> str:
    """HTML that is safe to put into a page; empty for text without any sign of Markdown."""
    rendered = _renderer().render(readable(text[:MAX_CHARACTERS]))
    return rendered if rendered.count("<") > 2 * rendered.count("<p>") else ""


@functools.cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])
    renderer.disable(["image", "html_block", "html_inline"])
    renderer.validateLink = _leads_to_the_web  # type: ignore[method-assign]
    return renderer


def _leads_to_the_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))
