"""What `bernstein doctor` says of the cluster's version and network, and of who serves metrics."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.cli.commands.doctor import platform
from bernstein.cli.commands.doctor.finding import Outcome
from bernstein.kube.client import Client
from tests.unit.kube.apiserver import ApiServer

METRICS = ("b", "bernstein-operator")


class Versioned:
    """A client whose API server has this version."""

    def __init__(self, told: object) -> None:
        self._told = told

    async def get(self, *_: object) -> dict[str, Any]:
        return {"gitVersion": self._told}


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ("v1.34.0", Outcome.GOOD),
        ("v1.31.4+k3s1", Outcome.GOOD),
        ("v2.0.0", Outcome.GOOD),
        ("v1.30.14-gke.1", Outcome.BAD),
        ("v1.9.0", Outcome.BAD),
        ("new", Outcome.UNKNOWN),
        (None, Outcome.UNKNOWN),
        ("v" + "1" * 5000, Outcome.UNKNOWN),
    ],
)
async def test_a_cluster_that_is_too_old_is_told(told: object, outcome: Outcome) -> None:
    found = await platform.version(Versioned(told))  # type: ignore[arg-type]

    assert found.outcome is outcome
    assert bool(found.remedy) == (outcome is not Outcome.GOOD)
    assert len(found.message) < 300


async def test_the_version_is_the_api_servers(api: ApiServer, client: Client) -> None:
    assert (await platform.version(client)).message == "Kubernetes v1.34.0"


def daemons(api: ApiServer, *names: str, ready: int = 1) -> None:
    for name in names:
        api.put(platform.DAEMON_SETS, name, "kube-system", status={"numberReady": ready})


@pytest.mark.parametrize(
    ("names", "outcome", "says"),
    [
        (("calico-node", "kube-proxy"), Outcome.GOOD, "by Calico"),
        (("kube-flannel-ds", "kube-network-policies"), Outcome.GOOD, "kube-network-policies"),
        (("kube-flannel-ds",), Outcome.WARNING, "only beside another one"),
        (("kindnet", "kube-proxy"), Outcome.WARNING, "kindnet"),
        (("kube-proxy",), Outcome.UNKNOWN, "no network is known here"),
        ((), Outcome.UNKNOWN, "no network is known here"),
    ],
    ids=str,
)
async def test_what_runs_of_a_network_tells_whether_it_enforces_our_policies(
    api: ApiServer, client: Client, names: tuple[str, ...], outcome: Outcome, says: str
) -> None:
    daemons(api, *names)

    found = await platform.network(client)

    assert (found.outcome, says in found.message) == (outcome, True)
    assert bool(found.remedy) == (outcome is not Outcome.GOOD)


async def test_a_network_that_does_not_run_enforces_nothing(api: ApiServer, client: Client) -> None:
    daemons(api, "cilium", ready=0)

    assert (await platform.network(client)).outcome is Outcome.UNKNOWN


def serve(api: ApiServer, *ready: bool | None) -> None:
    name = f"{METRICS[1]}-metrics"
    api.put(platform.SERVICES, name, METRICS[0])
    api.put(
        platform.ENDPOINT_SLICES,
        f"{name}-x",
        METRICS[0],
        metadata={"labels": {"kubernetes.io/service-name": name}},
        endpoints=[{"conditions": {} if each is None else {"ready": each}} for each in ready],
    )


@pytest.mark.parametrize(
    ("ready", "outcome"),
    [
        ((True,), Outcome.GOOD),
        ((False, None), Outcome.GOOD),
        ((False,), Outcome.WARNING),
        ((), Outcome.WARNING),
    ],
)
async def test_metrics_are_served_where_a_pod_that_is_ready_stands_behind_the_service(
    api: ApiServer, client: Client, ready: tuple[bool | None, ...], outcome: Outcome
) -> None:
    serve(api, *ready)

    assert (await platform.metrics(client, *METRICS)).outcome is outcome


async def test_without_the_service_nobody_scrapes(api: ApiServer, client: Client) -> None:
    found = await platform.metrics(client, *METRICS)

    assert found.outcome is Outcome.WARNING
    assert "there is no Service b/bernstein-operator-metrics" in found.message


async def test_who_may_not_read_learns_nothing_and_is_told_so(
    api: ApiServer, client: Client
) -> None:
    api.fault = lambda _: 403

    for found in (await platform.network(client), await platform.metrics(client, *METRICS)):
        assert found.outcome is Outcome.UNKNOWN
        assert found.message.startswith("you may not read")
        assert json.dumps(found.record())
