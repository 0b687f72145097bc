"""What an agent leaves beside its code, for others to read: which documents there are.

A new one is a line below and a parser. All of it is the agent's to write, and may be hostile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bernstein.core.documents import values
from bernstein.core.documents.values import Json, Problem

MOST_BYTES = values.MOST_BYTES
"""Of one document."""


@dataclass(frozen=True, slots=True)
class Document:
    """A kind of document, of which a session may leave one."""

    name: str
    """As statuses and the key in the ConfigMap have it."""
    path: str
    """Of the file in the agent's tree, which is never committed."""
    parsed: Callable[[bytes], Json | Problem]
    """Its value, or what is wrong with it. Raises nothing."""


OUTPUT = Document("output.json", ".bernstein/output.json", values.parsed)
"""Values that others read."""

DOCUMENTS = (OUTPUT,)
