r"""Reading YAML that writes characters as JSON does, in two escapes for one character.

`"\ud83d\ude00"` is what a JSON writer makes of an emoji. YAML 1.2 means to hold all of JSON, and the C parser
refuses it. The parser in Python reads it, some fifty times slower, so it is asked only where the other gave up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yaml import MarkedYAMLError
from yaml.composer import Composer
from yaml.nodes import ScalarNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

if TYPE_CHECKING:
    from yaml.nodes import Node

BAD_ESCAPE = "found invalid Unicode character escape code"
MAX_CHARACTERS = 2_000_000
"""Characters of a text that is read again; a longer one keeps the C parser's message."""


class EscapeComposer(Reader, Scanner, Parser, Composer):
    """Nodes of a text, tagged by its subclass, with two halves of a surrogate pair as the character they mean."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)

    def compose_scalar_node(self, anchor: dict[Any, Node]) -> ScalarNode:
        node = super().compose_scalar_node(anchor)
        try:
            node.value = node.value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            raise MarkedYAMLError(problem=BAD_ESCAPE, problem_mark=node.start_mark) from None
        return node
