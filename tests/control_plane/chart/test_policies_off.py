"""What each admission policy keeps from happening is seen to happen while it only watches.

That of connections is not among them: a pod that is nobody's of ours shows what it would let
through.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from bernstein.core.owners import owner_reference
from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import CONFIG_MAPS, JOBS, PODS, Object, Resource
from tests.control_plane.conftest import eventually
from tests.control_plane.objects import AGENT_SESSIONS, APPROVALS, OURS, PLANS, TASKS, job, valid

BINDINGS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    namespaced=False,
)


@dataclass
class Attacker:
    """Somebody who may do anything in the cluster, and somebody with the operator's own token."""

    admin: Client
    operator: Client
    namespace: str
    tries: int = field(default=0)

    def name(self) -> str:
        """Another one for each try."""
        self.tries += 1
        return f"try-{self.tries}"


Attack = Callable[[Attacker], Awaitable[object]]


async def job_on_the_node(by: Attacker) -> object:
    """It reads and writes the files of its node, as root."""
    made = job(by.namespace, by.name())
    pod = made["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": "node", "hostPath": {"path": "/"}}]
    pod["containers"][0]["securityContext"] = {"runAsUser": 0}
    return await by.operator.create(JOBS, made)


async def forged_verdict(by: Attacker) -> object:
    return await by.admin.create(JOBS, job(by.namespace, by.name()))


async def forged_prompt(by: Attacker) -> object:
    """With what the session says that owns it."""
    meta = {"name": by.name(), "namespace": by.namespace, "labels": OURS}
    return await by.admin.create(CONFIG_MAPS, {"metadata": meta, "data": {"head.md": "Send it"}})


async def guest_task(by: Attacker) -> object:
    """In the Plan of somebody else."""
    plan = await by.admin.create(PLANS, valid("Plan", by.namespace, by.name()))
    owner = owner_reference("Plan", plan["metadata"]["name"], plan["metadata"]["uid"])
    made = valid("Task", by.namespace, by.name())
    made["metadata"] |= {"ownerReferences": [owner], "labels": OURS}
    return await by.admin.create(TASKS, made)


async def session_of_ones_own(by: Attacker) -> object:
    return await by.admin.create(AGENT_SESSIONS, valid("AgentSession", by.namespace, by.name()))


async def forged_state(by: Attacker) -> object:
    task = await by.admin.create(TASKS, valid("Task", by.namespace, by.name()))
    status = {"status": {"state": "Open", "observedGeneration": 1}}
    name = task["metadata"]["name"]
    return await by.admin.patch(TASKS, name, by.namespace, status, subresource="status")


async def forged_pod(by: Attacker) -> object:
    template = copy.deepcopy(job(by.namespace)["spec"]["template"])
    meta = {"name": by.name(), "namespace": by.namespace, "labels": template["metadata"]["labels"]}
    return await by.admin.create(PODS, {"metadata": meta, "spec": template["spec"]})


async def orphaning_plan(by: Attacker) -> object:
    made = valid("Plan", by.namespace, by.name())
    made["metadata"]["finalizers"] = ["orphan"]
    return await by.admin.create(PLANS, made)


async def anothers_name(by: Attacker) -> object:
    plan = valid("Plan", by.namespace, by.name(), author="somebody-else")
    return await by.admin.create(PLANS, plan)


async def anothers_request(by: Attacker) -> object:
    asked = {"id": "r-1", "verb": "Retry", "by": "somebody-else", "reason": "once more"}
    return await by.admin.create(TASKS, valid("Task", by.namespace, by.name(), requests=[asked]))


async def approval_of_ones_own(by: Attacker) -> object:
    return await by.admin.create(APPROVALS, valid("Approval", by.namespace, by.name()))


ATTACKS: list[tuple[str, Attack]] = [
    ("operator", job_on_the_node),
    ("objects", forged_verdict),
    ("objects", forged_prompt),
    ("tasks", guest_task),
    ("sessions", session_of_ones_own),
    ("status", forged_state),
    ("pods", forged_pod),
    ("orphans", orphaning_plan),
    ("authors", anothers_name),
    ("requests", anothers_request),
    ("approvals", approval_of_ones_own),
]


@contextlib.asynccontextmanager
async def only_watching(admin: Client, policy: str) -> AsyncIterator[None]:
    """The policy denies nothing meanwhile."""

    async def act(action: str) -> Object:
        change = {"spec": {"validationActions": [action]}}
        return await admin.patch(BINDINGS, f"bernstein-{policy}", None, change)

    await act("Audit")
    try:
        yield
    finally:
        await act("Deny")


@pytest.mark.parametrize(
    ("policy", "attack"), ATTACKS, ids=[attack.__name__ for _, attack in ATTACKS]
)
async def test_each_attack_works_while_its_policy_is_off_and_not_before_or_after(
    admin: Client, operator: Client, namespace: str, policy: str, attack: Attack
) -> None:
    by = Attacker(admin, operator, namespace)

    async def is_refused() -> bool:
        try:
            await attack(by)
        except Forbidden as refusal:
            return f"bernstein-{policy}" in str(refusal)
        return False

    assert await is_refused()
    async with only_watching(admin, policy):
        await eventually(lambda: attack(by))
    await eventually(is_refused)
