"""`bernstein doctor` as a whole: what it looks at, in which order, and how it ends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.cli.cluster import Cluster
from bernstein.cli.commands import doctor as command
from bernstein.cli.commands.doctor.finding import Finding, Outcome
from bernstein.cli.main import app
from bernstein.kube.client import Client
from tests.unit.cli import calls
from tests.unit.cli.commands.doctor.test_installation import install
from tests.unit.cli.commands.doctor.test_rights import allow
from tests.unit.core.objects import NAMESPACE
from tests.unit.kube.apiserver import ApiServer

GOOD = Finding("operator", Outcome.GOOD, "'pod-1' leads")
BAD = Finding("project", Outcome.BAD, "'default' is not ready", "put it right", "default")
UNKNOWN = Finding("objects", Outcome.UNKNOWN, "you may not read the Secrets", "ask", "default")
LEFT = Finding(
    "refs", Outcome.WARNING, "1 ref", details=("refs/bernstein/0/: 1 ref",), refs=("refs/x",)
)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """What a look at the cluster finds."""
    findings: list[Finding] = []

    @asynccontextmanager
    async def connected(_: object) -> AsyncIterator[None]:
        yield

    async def look(*_: object) -> list[Finding]:
        return findings

    monkeypatch.setattr(command, "connected", connected)
    monkeypatch.setattr(command, "_look", look)
    return findings


def test_what_is_wrong_is_told_with_what_helps_and_ends_with_1(
    runner: CliRunner, found: list[Finding]
) -> None:
    found += [GOOD, BAD, UNKNOWN, LEFT]

    result = runner.invoke(app, ["doctor"])

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "✓ operator: 'pod-1' leads",
        "✗ project: 'default' is not ready",
        "  → put it right",
        "? objects: you may not read the Secrets",
        "  → ask",
        "! refs: 1 ref",
        "    refs/bernstein/0/: 1 ref",
        "1 problem found. 1 check could not be made.",
    ]


def test_what_is_unknown_or_a_warning_is_no_fault(runner: CliRunner, found: list[Finding]) -> None:
    found += [GOOD, UNKNOWN, LEFT]

    result = runner.invoke(app, ["doctor"])

    assert result.exit_code == 0
    assert result.stdout.endswith(
        "Nothing wrong in what could be looked at. 1 check could not be made.\n"
    )


def test_a_command_that_helps_reaches_the_same_namespace(
    runner: CliRunner, found: list[Finding]
) -> None:
    found += [Finding("work", Outcome.WARNING, "it waits", "decide with `bernstein approve work`")]

    told = runner.invoke(app, ["doctor", "-n", "team"]).stdout

    assert "  → decide with `bernstein approve work -n team`\n" in told


def test_only_where_all_was_looked_at_nothing_is_said_to_be_wrong(
    runner: CliRunner, found: list[Finding]
) -> None:
    found += [GOOD, LEFT]

    assert runner.invoke(app, ["doctor"]).stdout.endswith("Nothing is wrong.\n")


def test_scripts_get_every_check_and_all_refs(runner: CliRunner, found: list[Finding]) -> None:
    found += [BAD, LEFT]

    result = runner.invoke(app, ["doctor", "--json"])

    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["healthy"] is False
    assert told["checks"][0] == {
        "check": "project",
        "subject": "default",
        "outcome": "bad",
        "message": "'default' is not ready",
        "remedy": "put it right",
    }
    assert told["checks"][1]["refs"] == ["refs/x"]


async def test_without_the_kinds_nothing_else_is_asked_for(api: ApiServer, client: Client) -> None:
    found = await command._look(Cluster(client, NAMESPACE), ("b", "bernstein-operator"), True)

    assert [each.check for each in found] == [
        *("version", "definitions", "operator", "metrics", "policies", "network"),
    ]


async def test_a_namespace_is_looked_at_where_the_kinds_are(api: ApiServer, client: Client) -> None:
    install(api)
    allow(api, lambda _: True)

    found = await command._look(Cluster(client, NAMESPACE), ("b", "bernstein-operator"), True)

    checks = ["rights", "rights", "project", "images", "work"]
    assert [each.check for each in found][6:] == checks
    assert found[0].outcome is Outcome.GOOD


async def test_who_has_no_rights_at_all_is_told_of_every_check_that_it_could_not_be_made(
    api: ApiServer, client: Client
) -> None:
    api.fault = lambda _: 403

    found = await command._look(Cluster(client, NAMESPACE), ("b", "bernstein-operator"), True)

    version, *others = found
    assert version.outcome is Outcome.GOOD  # which anybody may read
    assert {each.outcome for each in others} == {Outcome.UNKNOWN}
    assert [each.check for each in others] == [
        *("definitions", "operator", "metrics", "policies", "network", "rights", "rights"),
        *("project", "work", "work"),
    ]
    assert found[8].message == f"you may not read Projects in namespace '{NAMESPACE}'"


@pytest.mark.parametrize("lease", ["bernstein-operator", "/x", "a/", "a/b/c"])
def test_what_names_no_lease_ends_with_2(runner: CliRunner, lease: str) -> None:
    calls.ends_with_2(runner, "doctor", "--lease", lease)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "doctor")
