"""What is said when there is no cluster."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from bernstein.cli.main import app
from tests.unit.cli.calls import unreachable


def test_with_json_errors_are_the_answer_and_told_on_standard_error(
    runner: CliRunner, tmp_path: Path
) -> None:
    result = runner.invoke(app, ["--json", "--kubeconfig", str(tmp_path / "none"), "status"])

    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["reason"] == "KubeConfigInvalid"
    assert result.stderr == f"Error: {error['message']}\n  {error['remedy']}\n"


def test_a_cluster_that_does_not_answer_is_named(runner: CliRunner, tmp_path: Path) -> None:
    result = runner.invoke(app, ["status", "--kubeconfig", unreachable(tmp_path)])

    assert result.exit_code == 1
    first, second = result.stderr.splitlines()
    assert first.startswith("Error: the API server https://127.0.0.1:1 cannot be reached: ")
    assert "refused" in first
    assert second == ("  check that the cluster runs, or choose another --context or --kubeconfig")


def test_a_certificate_that_is_missing_is_named(runner: CliRunner, tmp_path: Path) -> None:
    broken = unreachable(tmp_path, **{"certificate-authority": "/nowhere/ca.crt"})

    result = runner.invoke(app, ["status", "--kubeconfig", broken])

    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert "/nowhere/ca.crt" in result.stderr


def test_the_namespace_of_a_kubeconfig_is_looked_at_too(runner: CliRunner, tmp_path: Path) -> None:
    path = Path(unreachable(tmp_path))
    path.write_text(
        path.read_text().replace('"cluster": "c", ', '"cluster": "c", "namespace": "A", ')
    )

    result = runner.invoke(app, ["status", "--kubeconfig", str(path)])

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: 'A' is no name of a namespace\n")
