"""Reading the API server's audit log: who wrote what, in the order in which writes finished.

What a write does can be seen before its line is there: the API server stores first, and answers
the writer and notes the end of the write after it. `under_way` tells what is still to come.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

RECEIVED = "RequestReceived"
"""The stage in which nothing has happened yet."""
BLOCK = 2**16
"""Bytes that are looked at in one go: a log is long, and its last lines are at its end."""


@dataclass(frozen=True)
class Write:
    """One write; `body` is the request's object for kinds of group bernstein.dev."""

    id: str
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    code: int
    body: Any = None
    at: datetime | None = None
    """When it came to this stage; None: the log does not say."""


def position(log: Path) -> int:
    """Offset in bytes after all writes so far, to be given to `writes`.

    A line that is being written is after it as a whole.
    """
    with log.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - BLOCK)
            file.seek(start)
            if (line_end := file.read(end - start).rfind(b"\n")) >= 0:
                return start + line_end + 1
            end = start
    return 0


def writes(log: Path, since: int = 0) -> Iterator[Write]:
    """What finished after an offset of `position`. Refused writes are among them: see `code`."""
    for event in _events(log, since):
        if event["stage"] != RECEIVED:
            yield _write(event)


def under_way(log: Path, since: int = 0) -> list[Write]:
    """What began after an offset of `position` and has not finished: neither code nor body yet."""
    begun: dict[str, Write] = {}
    for event in _events(log, since):
        if event["stage"] == RECEIVED:
            begun[event["auditID"]] = _write(event)
        else:
            begun.pop(event["auditID"], None)
    return list(begun.values())


def _events(log: Path, since: int) -> Iterator[dict[str, Any]]:
    with log.open("rb") as file:
        file.seek(since)
        for line in file:
            if line.endswith(b"\n"):  # the last line may be half written
                yield json.loads(line)


def _write(event: dict[str, Any]) -> Write:
    target = event.get("objectRef", {})
    return Write(
        id=event["auditID"],
        verb=event["verb"],
        group=target.get("apiGroup", ""),
        resource=target.get("resource", ""),
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        user=event["user"].get("username", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        body=event.get("requestObject"),
        at=datetime.fromisoformat(said) if (said := event.get("stageTimestamp")) else None,
    )
