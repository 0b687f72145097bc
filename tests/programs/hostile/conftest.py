"""Where the attacks of this room happen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs.plugins.conftest import gates
from tests.programs.pods.agent_pod import Volumes
from tests.programs.pods.conftest import git_server, new_origin, origin
from tests.programs.pods.programs.test_judge import run, scripted

__all__ = ("gates", "git_server", "new_origin", "origin", "run", "scripted")


@pytest.fixture
def volumes(tmp_path: Path) -> Volumes:
    """Those of an agent's pod, with a small tree in them."""
    volumes = Volumes(tmp_path / "pod")
    volumes.start_from({"a.py": "a = 1\n"})
    return volumes
