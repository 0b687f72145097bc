"""What several tests of the programs begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.prompts.given import Prompts


@pytest.fixture
def config(tmp_path: Path, origin: Origin) -> dict[str, Any]:
    return {
        "remote": origin.remote(),
        "ref": "refs/heads/main",
        "git_dir": str(tmp_path / "base" / "repo.git"),
        "worktree": str(tmp_path / "workspace"),
    }


@pytest.fixture
def prompts(origin: Origin, config: dict[str, Any], tmp_path: Path) -> Prompts:
    return Prompts(origin, config, tmp_path)
