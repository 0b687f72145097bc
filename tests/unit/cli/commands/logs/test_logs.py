"""`bernstein logs` before it asks a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.cli import calls


@pytest.mark.parametrize(
    "arguments",
    [
        ["x", "--follow", "--json"],
    ],
)
def test_a_wrong_call_ends_with_2(runner: CliRunner, arguments: list[str]) -> None:
    calls.ends_with_2(runner, "logs", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        [""],
        ["."],
        ["plan/"],
        ["x", "-n", ".."],
    ],
)
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, arguments: list[str], tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "logs", *arguments)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "logs", "x")
