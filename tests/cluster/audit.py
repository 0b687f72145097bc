"""Reading the API server's audit log: who wrote what, in the order in which writes finished."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Write:
    """One finished write; `body` is the request's object for kinds of group bernstein.dev."""

    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    code: int
    body: Any = None


def position(log: Path) -> int:
    """Offset in bytes after all writes so far, to be given to `writes`."""
    return log.stat().st_size


def writes(log: Path, since: int = 0) -> Iterator[Write]:
    """The writes after an offset of `position`. Refused ones are among them: see `code`."""
    with log.open("rb") as file:
        file.seek(since)
        for line in file:
            if line.endswith(b"\n"):  # the last line may be half written
                yield _write(json.loads(line))


def _write(event: dict[str, Any]) -> Write:
    target = event.get("objectRef", {})
    return Write(
        verb=event["verb"],
        group=target.get("apiGroup", ""),
        resource=target.get("resource", ""),
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        user=event["user"].get("username", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        body=event.get("requestObject"),
    )
