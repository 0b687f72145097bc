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


def _as_it_is(document: bytes) -> bytes | Problem:
    value = values.parsed(document)
    return value if isinstance(value, Problem) else document


def _canonical(document: bytes) -> bytes | Problem:
    # Imported here because a reader of YAML takes a moment to load, and most agents leave none.
    from bernstein.core.documents.canonical import canonical

    return canonical(document)


@dataclass(frozen=True, slots=True)
class Document:
    """A kind of document, of which a session may leave one."""

    name: str
    """As statuses and the key in the ConfigMap have it."""
    path: str
    """Of the file in the agent's tree, which is never committed."""
    taken: Callable[[bytes], bytes | Problem]
    """The JSON that is handed over for what is in the file, beside the agent; or what is wrong with
    that. Raises nothing."""

    def parsed(self, handed_over: bytes) -> Json | Problem:
        """Its value, by whoever reads it later: of every kind it is JSON. Raises nothing."""
        return values.parsed(handed_over)


OUTPUT = Document("output.json", ".bernstein/output.json", _as_it_is)
"""Values that others read. Every session may leave them."""
SUBTASKS = Document("subtasks.yaml", ".bernstein/subtasks.yaml", _canonical)
"""Tasks into which a Task is split."""
PLAN = Document("plan.yaml", ".bernstein/plan.yaml", _canonical)
"""A plan file that a Task is to make."""

DOCUMENTS = (OUTPUT, SUBTASKS, PLAN)


def named(names: tuple[str, ...]) -> tuple[Document, ...]:
    """Those that every session may leave, and those of these names."""
    return tuple(each for each in DOCUMENTS if each is OUTPUT or each.name in names)
