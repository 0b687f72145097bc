"""What webhooks of the platform add to the operator's Jobs: refused by name, or allowed by a value.

They change an object before policies look at it: a Job that is asked for with such a field is what
the policy sees after such a webhook.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import JOBS, Object
from tests.control_plane.conftest import CHART, RELEASE_NAMESPACE, Tools, eventually
from tests.control_plane.objects import job

ADDED: dict[str, Any] = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "team", "operator": "In", "values": ["a"]}]}
                ]
            }
        }
    },
    "nodeSelector": {"team": "a"},
    "preemptionPolicy": "Never",
    "priorityClassName": "batch",
    "schedulerName": "theirs",
    "tolerations": [{"key": "team", "operator": "Exists", "effect": "NoSchedule"}],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"team": "a"}},
        }
    ],
}
"""One of each field that the value may name."""


def changed(namespace: str, name: str, **fields: Any) -> Object:
    made = job(namespace, name)
    made["spec"]["template"]["spec"] |= fields
    return made


async def refusal(operator: Client, made: Object) -> str:
    with pytest.raises(Forbidden, match="bernstein-operator") as refused:
        await operator.create(JOBS, made)
    return str(refused.value)


async def test_the_refusal_names_each_field_and_the_value_that_allows_it(
    operator: Client, namespace: str
) -> None:
    fields = {name: ADDED[name] for name in ("nodeSelector", "tolerations")}

    told = await refusal(operator, changed(namespace, "one", **fields))

    named = told.partition("not with: ")[2].partition(".")[0]
    assert sorted(named.split(", ")) == sorted(fields)
    assert "admissionPolicies.podFields" in told


async def test_the_refusal_names_the_container_and_its_field(
    operator: Client, namespace: str
) -> None:
    made = job(namespace)
    (container,) = made["spec"]["template"]["spec"]["containers"]
    container["stdin"] = True

    told = await refusal(operator, made)

    assert f"not with: {container['name']}: stdin." in told


@pytest.fixture
async def allowing(tools: Tools, operator: Client, namespace: str) -> AsyncIterator[None]:
    """The chart lets webhooks add all fields that may be named."""

    names = (f"probe-{number}" for number in itertools.count())

    def upgrade(*arguments: str) -> None:
        tools.helm("upgrade", "bernstein", str(CHART), "-n", RELEASE_NAMESPACE, *arguments)

    async def is_refused() -> bool:
        try:
            made = changed(namespace, next(names), tolerations=ADDED["tolerations"])
            await operator.create(JOBS, made)
        except Forbidden:
            return True
        return False

    async def is_allowed() -> bool:
        return not await is_refused()

    upgrade("--set", f"admissionPolicies.podFields={{{','.join(ADDED)}}}")
    try:
        await eventually(is_allowed)
        yield
    finally:
        upgrade()
        await eventually(is_refused)


async def test_what_the_value_names_is_allowed_and_nothing_else(
    operator: Client, namespace: str, allowing: None
) -> None:
    for field, value in ADDED.items():
        made = changed(namespace, field.lower(), **{field: value})
        stored = await operator.create(JOBS, made)
        assert stored["spec"]["template"]["spec"][field] == value

    for field, value in {
        "nodeName": "control-plane",
        "hostAliases": [{"ip": "192.0.2.1", "hostnames": ["git.example"]}],
        "shareProcessNamespace": True,
        "priorityClassName": "system-node-critical",
        "hostNetwork": True,
        "serviceAccountName": "cluster-admin",
        "dnsPolicy": "Default",
    }.items():
        await refusal(operator, changed(namespace, "refused", **{field: value}))
