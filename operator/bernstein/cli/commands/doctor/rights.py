"""What the operator may do in the namespace, and what the caller may: asked of the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from bernstein.api.meta import GROUP
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor.finding import Finding, Outcome, unreadable
from bernstein.kube.client import Client
from bernstein.kube.errors import ApiError, Forbidden
from bernstein.kube.resource import SELF_SUBJECT_ACCESS_REVIEWS, Resource

ACCESS_REVIEWS = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False
)
OPERATOR: Final[tuple[tuple[str, str, str], ...]] = (
    (GROUP, "projects plans agentroles", "list watch"),
    (GROUP, "plans", "get create"),
    (
        GROUP,
        "projects/status plans/status tasks/status agentsessions/status approvals/status "
        "agentroles/status",
        "patch",
    ),
    (GROUP, "approvals", "get list watch create"),
    (GROUP, "tasks agentsessions", "get list watch create patch delete"),
    (GROUP, "plans/finalizers tasks/finalizers agentsessions/finalizers", "update"),
    ("batch", "jobs", "get list watch create delete"),
    ("networking.k8s.io", "networkpolicies", "get list watch create patch delete"),
    ("", "pods", "get list watch patch"),
    ("", "pods/log", "get"),
    ("", "configmaps", "get create patch"),
    ("", "events", "list create patch"),
)
"""Group, resources and verbs, as the chart's role of the operator has them."""
_SHOWN = 5


class Right(NamedTuple):
    group: str
    resource: str
    verb: str

    @property
    def words(self) -> str:
        return f"{self.verb} {self.resource}"

    def attributes(self, namespace: str) -> dict[str, Any]:
        resource, _, sub = self.resource.partition("/")
        found = {"group": self.group, "resource": resource, "verb": self.verb}
        return {**found, "namespace": namespace, **({"subresource": sub} if sub else {})}


def of_operator() -> Iterator[Right]:
    for group, resources, verbs in OPERATOR:
        for resource in resources.split():
            yield from (Right(group, resource, verb) for verb in verbs.split())


_RUN = Right(GROUP, "plans", "create")
_DECIDE = Right(GROUP, "approvals", "patch")


async def look(cluster: Cluster, lease: tuple[str, str]) -> list[Finding]:
    """`lease`: namespace and name of the operator's Lease; its account has the same name."""
    return [
        await operator(cluster.client, cluster.namespace, *lease),
        await caller(cluster.client, cluster.namespace),
    ]


async def operator(client: Client, namespace: str, of: str, account: str) -> Finding:
    """Whether the operator has the rights that its work in the namespace takes."""
    check, user = "rights", f"system:serviceaccount:{of}:{account}"
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{of}", "system:authenticated"]
    rights = [*of_operator()]
    try:
        allowed = await asyncio.gather(
            *(_may(client, right, namespace, user=user, groups=groups) for right in rights)
        )
    except Forbidden:
        return unreadable(check, f"what the operator's account '{of}/{account}' may do", account)
    lacks = [right.words for right, may in zip(rights, allowed, strict=True) if not may]
    if lacks:
        more = f" and {len(lacks) - _SHOWN} more" if len(lacks) > _SHOWN else ""
        text = f"the operator's account '{of}/{account}' may not in namespace '{namespace}': "
        remedy = (
            "install the chart again, whose role allows it; where it watches some namespaces "
            "only, name this one, too. An account of another name is named with --lease"
        )
        said = f"{text}{', '.join(lacks[:_SHOWN])}{more}"
        return Finding(check, Outcome.BAD, said, remedy, account)
    text = f"the operator's account '{of}/{account}' may do its work in namespace '{namespace}'"
    return Finding(check, Outcome.GOOD, text, subject=account)


async def caller(client: Client, namespace: str) -> Finding:
    """What the caller may do there: less than all is no fault."""
    check, where = "rights", f"in namespace '{namespace}'"
    try:
        run, decide = await asyncio.gather(
            _may(client, _RUN, namespace), _may(client, _DECIDE, namespace)
        )
    except ApiError:
        return unreadable(check, f"what you may do {where}")
    if not run:
        text = f"you may look at what runs {where}, and run no Plan yourself"
        remedy = "to run Plans, ask for Kubernetes' role `edit` in the namespace"
        return Finding(check, Outcome.WARNING, text, remedy)
    asked = "decide about them" if decide else "are no approver"
    return Finding(check, Outcome.GOOD, f"you may run Plans {where}, and {asked}")


async def _may(
    client: Client, right: Right, namespace: str, *, user: str = "", groups: Sequence[str] = ()
) -> bool:
    """Of the caller, unless a user is named. Nothing is stored by asking."""
    kind = ACCESS_REVIEWS if user else SELF_SUBJECT_ACCESS_REVIEWS
    spec: dict[str, Any] = {"resourceAttributes": right.attributes(namespace)}
    if user:
        spec |= {"user": user, "groups": [*groups]}
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "spec": spec}
    answer = await client.create(kind, body)
    return bool((answer.get("status") or {}).get("allowed"))
