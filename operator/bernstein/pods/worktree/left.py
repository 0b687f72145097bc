"""Whether a document that an agent has left is taken: it is read by others than the repository."""

from __future__ import annotations

import json

from bernstein.checks.content.rules import ADDED_BYTES, Findings, findings
from bernstein.checks.reading import ChangedFile
from bernstein.core.documents import Document


def taken(document: Document, data: bytes) -> bytes:
    """What is handed over for it. Raises ValueError: what is wrong with it, in our words and none
    of its own."""
    made = document.taken(data)
    if isinstance(made, bytes):
        _refuse_secrets(document, data, made)
        return made
    raise ValueError(made.text)


def _refuse_secrets(document: Document, data: bytes, made: bytes) -> None:
    """Looks for secrets in it as it is written, and as those see it who have read it."""
    # Imported here because the detectors take a moment to load, and most agents leave nothing.
    from bernstein.checks.content import secrets

    value = document.parsed(made)
    read = json.dumps(value, ensure_ascii=False, indent=0).encode()
    files = [ChangedFile(document.path, b"", each) for each in dict.fromkeys((data, read))]
    found = Findings()
    for each in findings(files, secrets.credentials(), secrets.mask, ADDED_BYTES):
        found.add(each)
    if kinds := dict.fromkeys(each.kind for each in found.shown):
        raise ValueError(f"it holds a secret: {', '.join(kinds)}")
