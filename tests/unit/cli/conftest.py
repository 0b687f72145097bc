from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.cli.calls import BROKEN
from tests.unit.core.plans.plan_files import RATE_LIMIT


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner(env={"COLUMNS": "200"})


@pytest.fixture
def broken(tmp_path: Path) -> str:
    path = tmp_path / "broken.yaml"
    path.write_text(BROKEN)
    return str(path)


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.yaml"
    path.write_text(RATE_LIMIT)
    return str(path)
