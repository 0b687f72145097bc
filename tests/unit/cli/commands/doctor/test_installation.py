"""What `bernstein doctor` says of CRDs, of the operator's Lease and of the policies."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bernstein.cli.commands.doctor import installation
from bernstein.cli.commands.doctor.finding import Outcome
from bernstein.crds import KINDS, definition
from bernstein.kube.client import Client
from bernstein.kube.resource import LEASES, PODS
from tests.unit.kube.apiserver import ApiServer

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
CHART = Path(__file__).parents[5] / "charts" / "bernstein" / "templates" / "admission"


def install(api: ApiServer, *, without: str = "", change: Any = None) -> None:
    """The CRDs, but for one, and each of them changed."""
    for kind in KINDS:
        crd = copy.deepcopy(definition(kind))
        if kind.plural != without:
            (change or (lambda _: None))(crd)
            api.put(installation.DEFINITIONS, crd["metadata"]["name"], "", spec=crd["spec"])


async def test_kinds_of_the_same_version_are_good(api: ApiServer, client: Client) -> None:
    install(api)

    assert (await installation.definitions(client)).outcome is Outcome.GOOD


async def test_a_kind_that_is_not_installed_is_named(api: ApiServer, client: Client) -> None:
    install(api, without="plans")

    found = await installation.definitions(client)

    assert found.outcome is Outcome.BAD
    assert found.message == "not installed: plans.bernstein.dev"
    assert "chart" in found.remedy


async def test_kinds_of_another_version_are_told_by_a_field(api: ApiServer, client: Client) -> None:
    def older(crd: dict[str, Any]) -> None:
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        schema["properties"]["spec"]["properties"].pop("retention", None)

    install(api, change=older)

    found = await installation.definitions(client)

    assert found.outcome is Outcome.WARNING
    assert "projects.bernstein.dev: spec.retention.podsSeconds" in found.message


async def test_who_may_not_read_learns_nothing_and_is_told_so(
    api: ApiServer, client: Client
) -> None:
    api.fault = lambda _: 403

    for found in (
        await installation.definitions(client),
        await installation.leader(client, "b", "bernstein-operator", NOW),
        await installation.policies(client, "bernstein-operator"),
    ):
        assert found.outcome is Outcome.UNKNOWN
        assert found.message.startswith("you may not read")


@pytest.mark.parametrize(
    ("spec", "outcome", "says"),
    [
        ({"holderIdentity": "pod-1", "renewTime": "2030-01-01T11:59:50.0Z"}, "good", "leads"),
        (
            {"holderIdentity": "pod-1", "renewTime": "2030-01-01T11:50:00.0Z"},
            "bad",
            "has not renewed the Lease b/bernstein-operator for 600 s",
        ),
        ({"holderIdentity": None, "renewTime": "2030-01-01T11:59:50.0Z"}, "bad", "no replica"),
        ({}, "bad", "no replica"),
    ],
)
async def test_a_leader_that_renews_its_lease_is_good(
    api: ApiServer, client: Client, spec: dict[str, Any], outcome: str, says: str
) -> None:
    api.put(LEASES, "bernstein-operator", "b", spec={"leaseDurationSeconds": 15} | spec)

    found = await installation.leader(client, "b", "bernstein-operator", NOW)

    assert found.outcome.value == outcome
    assert says in found.message


async def test_an_operator_that_is_nowhere_is_told(api: ApiServer, client: Client) -> None:
    found = await installation.leader(client, "b", "bernstein-operator", NOW)

    assert found.outcome is Outcome.BAD
    assert "--lease" in found.remedy


def put_policies(api: ApiServer, *names: str, bound: bool = True) -> None:
    for name in names:
        full = f"shop-bernstein-{name}"
        labels = {"app.kubernetes.io/version": "0.0.9"}
        api.put(installation.POLICIES, full, "", spec={}, metadata={"labels": labels})
        if bound:
            api.put(installation.BINDINGS, full, "", spec={"policyName": full})


async def test_policies_that_are_all_in_force_are_good(api: ApiServer, client: Client) -> None:
    put_policies(api, *installation.POLICY_NAMES)

    found = await installation.policies(client, "shop-bernstein-operator")

    assert found.outcome is Outcome.GOOD


async def test_a_policy_that_is_missing_or_not_bound_is_named(
    api: ApiServer, client: Client
) -> None:
    put_policies(api, *installation.POLICY_NAMES[:-2])
    put_policies(api, "tasks", bound=False)

    found = await installation.policies(client, "shop-bernstein-operator")

    assert found.outcome is Outcome.BAD
    assert found.message.endswith(": shop-bernstein-tasks, shop-bernstein-tokens")


async def test_a_chart_that_is_older_than_the_program_is_said_to_be(
    api: ApiServer, client: Client
) -> None:
    put_policies(api, *installation.POLICY_NAMES[:-2])

    found = await installation.policies(client, "shop-bernstein-operator")

    assert "the chart in the cluster (0.0.9) lacks policies that this program" in found.message
    assert found.message.endswith(": shop-bernstein-tasks, shop-bernstein-tokens")
    assert found.remedy.startswith("upgrade the chart")


@pytest.mark.parametrize(
    ("pod", "ended", "outcome"),
    [
        ("bernstein-operator-6d5f", "2030-01-01T11:55:00Z", Outcome.WARNING),
        ("bernstein-operator-6d5f", "2030-01-01T09:00:00Z", Outcome.GOOD),
        ("another-6d5f", "2030-01-01T11:55:00Z", Outcome.GOOD),
    ],
)
async def test_an_operator_that_was_restarted_a_while_ago_is_told(
    api: ApiServer, client: Client, pod: str, ended: str, outcome: Outcome
) -> None:
    leads = {"holderIdentity": "pod-1", "renewTime": "2030-01-01T11:59:50.0Z"}
    api.put(LEASES, "bernstein-operator", "b", spec=leads)
    last = {"terminated": {"finishedAt": ended, "reason": "OOMKilled", "exitCode": 137}}
    api.put(PODS, pod, "b", status={"containerStatuses": [{"restartCount": 3, "lastState": last}]})

    found = await installation.leader(client, "b", "bernstein-operator", NOW)

    told = f"'pod-1' leads; '{pod}': 3 restarts, the last 5 min ago (OOMKilled, exit code 137)"
    assert found.outcome is outcome
    assert (found.message == told) is (outcome is Outcome.WARNING)


async def test_an_installation_without_policies_is_warned_of(
    api: ApiServer, client: Client
) -> None:
    found = await installation.policies(client, "shop-bernstein-operator")

    assert found.outcome is Outcome.WARNING
    assert "admissionPolicies.enabled" in found.remedy


def test_every_policy_of_the_chart_is_looked_for() -> None:
    assert sorted(path.stem for path in CHART.glob("*.yaml")) == list(installation.POLICY_NAMES)
