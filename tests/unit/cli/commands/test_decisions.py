"""`bernstein approve`, `reject` and `pending` before they ask a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.cli import calls

BOTH = pytest.mark.parametrize("command", ["approve", "reject"])


@BOTH
def test_a_reason_that_is_too_long_ends_with_2(runner: CliRunner, command: str) -> None:
    calls.ends_with_2(runner, command, "x", "--reason", "x" * 1025)


@BOTH
@pytest.mark.parametrize("name", ["", "task/", "plan/", "task/..", "task/mine/status"])
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, command: str, name: str, tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, command, name)


@pytest.mark.parametrize("timeout", ["soon", "-1", "5d", "1.5"])
def test_a_timeout_that_is_none_ends_with_2(runner: CliRunner, timeout: str) -> None:
    calls.ends_with_2(runner, "pending", f"--timeout={timeout}")


@pytest.mark.parametrize("call", [("approve", "x"), ("reject", "x"), ("pending",)])
def test_without_a_kubeconfig_it_says_so(
    runner: CliRunner, tmp_path: Path, call: tuple[str, ...]
) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, *call)
