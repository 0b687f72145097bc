"""Words in a drawing, which were written by others."""

from __future__ import annotations

from bernstein.core.drawing.model import Node
from bernstein.core.sanitise import line

_LONGEST = 300
"""Characters: what a title of a plan may have."""
_NOTHING = "(no words)"


def shown(words: str) -> str:
    """On one line, without what nobody sees; never empty."""
    return line(words, _LONGEST) or _NOTHING


def below(node: Node) -> str:
    """What stands below its title; "" for nothing."""
    parts = (node.role, node.time, node.state)
    return " · ".join(shown(part) for part in parts if part)
