"""Where the attacks of this room happen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs.pods.agent_pod import Volumes


@pytest.fixture
def volumes(tmp_path: Path) -> Volumes:
    """Those of an agent's pod, with a small tree in them."""
    volumes = Volumes(tmp_path / "pod")
    volumes.start_from({"a.py": "a = 1\n"})
    return volumes
