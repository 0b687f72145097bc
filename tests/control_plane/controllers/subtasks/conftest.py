"""A node that tells what containers printed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bernstein.kube.client import Client
from tests.control_plane.node_logs import NodeLogs


@pytest.fixture
async def logs(admin: Client, node: str, tmp_path: Path) -> AsyncIterator[NodeLogs]:
    found = NodeLogs()
    async with found.at(node, admin, tmp_path):
        yield found
