"""A git server, and a room for the gate of one test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs.plugins.gate import Gates
from tests.programs.pods.conftest import Origin, git_server, new_origin, origin

__all__ = ("git_server", "new_origin", "origin")


@pytest.fixture
def gates(origin: Origin, tmp_path: Path) -> Gates:
    return Gates(origin, tmp_path)
