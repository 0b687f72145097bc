"""`doctor` against a real API server, with the chart installed."""

from __future__ import annotations

from bernstein.kube.client import Client
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.objects import PROJECTS, valid


async def test_the_charts_kinds_and_policies_are_as_this_version_knows_them(
    bernstein: Bernstein, chart: None
) -> None:
    checks = (await bernstein("doctor", "--json", "--no-refs")).json["checks"]

    outcomes = {each["check"]: (each["outcome"], each["message"]) for each in checks}
    assert outcomes["definitions"][0] == "good", outcomes
    assert outcomes["policies"][0] == "good", outcomes


async def test_the_cluster_and_the_operators_rights_are_as_the_chart_needs_them(
    bernstein: Bernstein, chart: None
) -> None:
    checks = (await bernstein("doctor", "--json", "--no-refs")).json["checks"]

    found = {(each["check"], each["subject"]): each for each in checks}
    assert found["version", ""]["outcome"] == "good"
    assert found["rights", "bernstein-operator"]["outcome"] == "good", found
    assert found["rights", ""]["message"].startswith("you may run Plans")
    assert found["network", ""]["outcome"] == "unknown"  # nothing runs here
    metrics = found["metrics", "bernstein-system/bernstein-operator-metrics"]
    assert metrics["outcome"] == "warning"
    assert metrics["message"].startswith("no pod that is ready stands behind")


async def test_an_account_that_has_no_rights_is_told(bernstein: Bernstein, chart: None) -> None:
    told = await bernstein("doctor", "--no-refs", "--lease", "bernstein-system/other-operator")

    assert "✗ rights: the operator's account 'bernstein-system/other-operator' may not" in told.out


async def test_what_is_wrong_with_a_project_is_told_with_what_helps(
    bernstein: Bernstein, admin: Client, namespace: str
) -> None:
    await admin.create(PROJECTS, valid("Project", namespace, "default"))

    told = await bernstein("doctor", "--no-refs")

    assert told.code == 1
    assert "✗ project: 'default' has not been looked at" in told.out
    assert "✗ objects: Secret 'git-read' of 'default' does not exist" in told.out
    assert "problems found." in told.out
