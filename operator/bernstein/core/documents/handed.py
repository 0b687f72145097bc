"""How the recorder hands a document to the operator: as lines of its log.

What the operator takes is told apart by its size and its SHA-256, which come with the recorder's
result: whatever else stands in a log, it is not that.
"""

from __future__ import annotations

import base64
import hashlib
import json

_CHARACTERS = 8_000
"""Of base64 in one line: runtimes break lines of 16 KiB."""
_MOST_PARTS = 100
_BEGIN = b'{"document":'


def digest(document: bytes) -> str:
    """Its SHA-256."""
    return hashlib.sha256(document).hexdigest()


def lines(name: str, document: bytes) -> list[str]:
    """The document as JSON in ASCII, a part to a line; at least one line."""
    text = base64.b64encode(document).decode("ascii")
    parts = [text[at : at + _CHARACTERS] for at in range(0, len(text), _CHARACTERS)] or [""]
    rows = (
        {"document": name, "part": part, "of": len(parts), "data": data}
        for part, data in enumerate(parts)
    )
    return [json.dumps(row, separators=(",", ":")) for row in rows]


def found(log: bytes, name: str, size: int, sha256: str) -> bytes | None:
    """The document of that name, size and digest which such lines of the log hold; None: there is
    none. Of a part that is there twice, as of a recorder that was started again, the last counts.
    """
    parts: dict[int, str] = {}
    of = 0
    for row in log.split(b"\n"):
        if row.startswith(_BEGIN) and (told := _part(row, name)) is not None:
            number, of, data = told
            parts[number] = data
    try:
        text = "".join(parts[number] for number in range(of))
        document = base64.b64decode(text, validate=True)
    except (KeyError, ValueError):
        return None
    return document if len(document) == size and digest(document) == sha256 else None


def told(row: str) -> str | None:
    """For people, in place of a line that holds a part: which document it is, with its size, at the
    last part; "" at those before. None: it is no such line."""
    if not row.startswith(_BEGIN.decode()):
        return None
    name = _name(row)
    part = _part(row.encode(errors="replace"), name) if name is not None else None
    if part is None:
        return None
    number, of, data = part
    if number + 1 < of:
        return ""
    size = (number * _CHARACTERS + len(data)) // 4 * 3 - data[-2:].count("=")
    return f"document {name}, {size:,} bytes"


def _name(row: str) -> str | None:
    try:
        name = json.loads(row)["document"]
    except (ValueError, RecursionError, KeyError):
        return None
    return name if isinstance(name, str) else None


def _part(row: bytes, name: str) -> tuple[int, int, str] | None:
    """Its number, of how many, and its text; None: it is no line of that document."""
    try:
        told = json.loads(row)
    except (ValueError, RecursionError):
        return None
    number, of, data = told.get("part"), told.get("of"), told.get("data")
    if told.get("document") != name or type(number) is not int or type(of) is not int:
        return None
    if not isinstance(data, str) or not 0 <= number < of <= _MOST_PARTS:
        return None
    return number, of, data
