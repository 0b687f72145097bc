"""`bernstein retry` before it asks a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.cli import calls


@pytest.mark.parametrize("reason", [" ", "x" * 301, "two\nlines"])
def test_a_wrong_reason_ends_with_2(runner: CliRunner, reason: str) -> None:
    calls.ends_with_2(runner, "retry", "x", "--reason", reason)


@pytest.mark.parametrize("name", ["", "task/", "plan/", "task/..", "task/mine/status"])
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, name: str, tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "retry", name)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "retry", "x")
