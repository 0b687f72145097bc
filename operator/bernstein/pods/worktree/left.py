"""Whether a document that an agent has left is taken: it is read by others than the repository."""

from __future__ import annotations

import json

from bernstein.checks.content.rules import ADDED_BYTES, Findings, findings
from bernstein.checks.reading import ChangedFile
from bernstein.core.documents import Document
from bernstein.core.documents.values import Json, Problem


def problem(document: Document, data: bytes) -> str:
    """What is wrong with it, in our words and none of its own; "": nothing is."""
    value = document.parsed(data)
    return value.text if isinstance(value, Problem) else _secret(document, data, value)


def _secret(document: Document, data: bytes, value: Json) -> str:
    """What secret is in it, as it is written and as those see it who have read it."""
    # Imported here because the detectors take a moment to load, and most agents leave nothing.
    from bernstein.checks.content import secrets

    read = json.dumps(value, ensure_ascii=False, indent=0).encode()
    files = [ChangedFile(document.path, b"", each) for each in dict.fromkeys((data, read))]
    found = Findings()
    for each in findings(files, secrets.credentials(), secrets.mask, ADDED_BYTES):
        found.add(each)
    kinds = dict.fromkeys(each.kind for each in found.shown)
    return f"it holds a secret: {', '.join(kinds)}" if kinds else ""
