"""What a played session leaves as its subtasks."""

from __future__ import annotations

import json

from bernstein.api.pod import LeftDocument
from bernstein.core.documents import SUBTASKS, handed
from tests.control_plane.node_logs import NodeLogs


def document(*titles: str, **more: object) -> bytes:
    entries = [{"title": title, **more} for title in titles]
    return json.dumps({"subtasks": entries}, sort_keys=True, separators=(",", ":")).encode()


def leaves(logs: NodeLogs, data: bytes) -> LeftDocument:
    """What the recorder of a session that leaves this tells; its log has the document."""
    rows = handed.lines(SUBTASKS.name, data)
    logs.recorded = "".join(f"{row}\n" for row in rows).encode()
    return LeftDocument(SUBTASKS.name, len(data), handed.digest(data))
