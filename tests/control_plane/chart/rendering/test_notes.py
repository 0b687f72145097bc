"""What is said after an install: three commands, about what there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from bernstein.cli.main import app
from tests.control_plane.conftest import CHART, RELEASE_NAMESPACE, Tools


def notes(tools: Tools, *arguments: str) -> str:
    return tools.helm(
        *("upgrade", "--install", "bernstein", str(CHART), "-n", RELEASE_NAMESPACE),
        *("--dry-run=server", *arguments),
    ).partition("\nNOTES:\n")[2]


def commands(tools: Tools, *arguments: str) -> list[list[str]]:
    """Every command of the notes, as its words."""
    said = notes(tools, *arguments)
    return [shlex.split(line) for line in re.findall(r"^  (\w.*)$", said, re.MULTILINE)]


def test_three_commands_come_next(tools: Tools, chart: None) -> None:
    waits, begins, shows = commands(tools)

    assert [waits[0], begins[0], shows[0]] == ["kubectl", "bernstein", "kubectl"]
    assert begins[1:] == ["init", "-n", "team-a"]
    found = tools.kubectl(
        *("get", "deployment", "-o", "name", "-n", RELEASE_NAMESPACE), *waits[-2:]
    )
    assert set(found.split()) == {
        f"deployment.apps/bernstein-{name}" for name in ("operator", "server", "certificates")
    }
    assert tools.run(*shows).returncode == 0


def test_a_folder_is_begun_by_the_command_that_is_named(
    tools: Tools, chart: None, tmp_path: Path
) -> None:
    _, (_, *arguments), _ = commands(tools)

    repository = "--repository=https://git.example.com/team-a/app.git"  # this is no clone of one
    folder = f"--workdir={tmp_path}"

    done = CliRunner().invoke(app, [*arguments, "--dry-run", folder, repository])

    assert done.exit_code == 0, done.output
    assert "namespace: team-a" in done.output


def test_they_are_about_a_namespace_that_is_watched(tools: Tools, chart: None) -> None:
    for number, said in enumerate(commands(tools, "--set", "watch.namespaces={only-here}")):
        assert ("only-here" in said) == (number > 0)


def test_they_say_that_nobody_reads_metrics_only_while_that_is_so(
    tools: Tools, chart: None, monitoring_kinds: None
) -> None:
    said = "Nobody reads metrics yet"
    assert said in notes(tools)
    for read in (
        "networkPolicy.enabled=false",
        "networkPolicy.ingressFrom[0].podSelector.matchLabels.app=prometheus",
        "monitoring.serviceMonitors.enabled=true",
        "monitoring.podMonitors.enabled=true",
    ):
        assert said not in notes(tools, "--set", read), read
