"""`bernstein deliver` before it asks a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app
from tests.unit.cli import calls


def test_without_partial_it_says_what_it_is_for(runner: CliRunner) -> None:
    result = runner.invoke(app, ["deliver", "web"])

    assert result.exit_code == 2
    assert "all Closed is delivered by itself" in result.output
    assert "bernstein deliver web --partial" in result.output


@pytest.mark.parametrize("reason", [" ", "x" * 301, "two\nlines"])
def test_a_wrong_reason_ends_with_2(runner: CliRunner, reason: str) -> None:
    calls.ends_with_2(runner, "deliver", "x", "--partial", "--reason", reason)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "deliver", "x", "--partial", "--yes")
