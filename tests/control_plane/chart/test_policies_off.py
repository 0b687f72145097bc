"""What each admission policy keeps from happening is seen to happen while it only watches.

That of connections has its own test, beside what it refuses.
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import pytest

from bernstein.api.pod import AUDIENCE
from bernstein.api.project import Project
from bernstein.controllers.gate_caches import config_map
from bernstein.core.owners import owner_reference
from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import CONFIG_MAPS, JOBS, PODS, Object, Resource
from tests.control_plane.chart.test_approvals import yes
from tests.control_plane.chart.test_known_verdicts import VERDICT
from tests.control_plane.chart.test_operators_account import CHANGED, UNRESTRICTED, pod_of_a_job
from tests.control_plane.conftest import Tools, eventually
from tests.control_plane.objects import (
    AGENT_SESSIONS,
    APPROVALS,
    OURS,
    PLANS,
    PROJECTS,
    TASKS,
    job,
    valid,
)

BINDINGS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    namespaced=False,
)

TOKENS = Resource("", "v1", "serviceaccounts/default/token", "TokenRequest")

KIND = "validatingadmissionpolicy"


@dataclass
class Attacker:
    """Somebody who may do anything in the cluster, and somebody with the operator's own token."""

    admin: Client
    operator: Client
    namespace: str
    user: str
    """What the first one is called."""
    tries: int = field(default=0)

    def name(self) -> str:
        """Another one for each try."""
        self.tries += 1
        return f"try-{self.tries}"


Attack = Callable[[Attacker], Awaitable[object]]


def unrestricted(what: str) -> Attack:
    """A Job by which whoever has the operator's token gets at its node, or at another account."""

    async def attack(by: Attacker) -> object:
        made = job(by.namespace, by.name())
        UNRESTRICTED[what](made["spec"]["template"])
        return await by.operator.create(JOBS, made)

    return attack


def changed(what: str) -> Attack:
    """A pod of ours that is given what is not in its Job."""

    async def attack(by: Attacker) -> object:
        pod = await pod_of_a_job(by.operator, by.namespace, by.name())
        name = pod["metadata"]["name"]
        return await by.operator.patch(PODS, name, by.namespace, CHANGED[what])

    return attack


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


async def answer_of_a_plan(by: Attacker) -> object:
    """To what the Plan is asked: it hands on each request under such an id."""
    asked = {"id": "plan-r-1", "verb": "Retry", "by": by.user, "reason": "once more"}
    return await by.admin.create(TASKS, valid("Task", by.namespace, by.name(), requests=[asked]))


async def approval_of_ones_own(by: Attacker) -> object:
    return await by.admin.create(APPROVALS, valid("Approval", by.namespace, by.name()))


async def second_owner(by: Attacker) -> object:
    """With which somebody else's Plan does not take its Task along."""
    task = await _of_a_plan(by)
    other = {"metadata": {"name": by.name(), "namespace": by.namespace}}
    made = await by.admin.create(CONFIG_MAPS, other)
    second = {"apiVersion": "v1", "kind": "ConfigMap", "name": made["metadata"]["name"]}
    second["uid"] = made["metadata"]["uid"]
    owners = [*task["metadata"]["ownerReferences"], second]
    change = {"metadata": {"ownerReferences": owners}}
    return await by.admin.patch(TASKS, task["metadata"]["name"], by.namespace, change)


async def _of_a_plan(by: Attacker) -> Object:
    """A Task as the operator makes it of somebody else's Plan."""
    plan = (await by.admin.create(PLANS, valid("Plan", by.namespace, by.name())))["metadata"]
    made = valid("Task", by.namespace, by.name())
    owner = owner_reference("Plan", plan["name"], plan["uid"])
    made["metadata"] |= {"ownerReferences": [owner], "labels": OURS}
    return await by.operator.create(TASKS, made)


def done_to_a_pod(change: Callable[[Object], Object]) -> Attack:
    """To one of a Job of ours, by somebody else; `change` is a patch of its metadata."""

    async def attack(by: Attacker) -> object:
        meta = (await pod_of_a_job(by.operator, by.namespace, by.name()))["metadata"]
        return await by.admin.patch(PODS, meta["name"], by.namespace, {"metadata": change(meta)})

    return attack


def _taken_over(_: Object) -> Object:
    """By a controller that makes no more of it than one pod of its own."""
    owner = {"apiVersion": "v1", "kind": "ReplicationController", "name": "taker"}
    uid = "00000000-0000-0000-0000-000000000000"
    return {"ownerReferences": [owner | {"uid": uid, "controller": True}]}


def _not_counted(meta: Object) -> Object:
    tracks = "batch.kubernetes.io/job-tracking"
    return {"finalizers": [each for each in meta["finalizers"] if each != tracks]}


DONE_TO_A_POD: dict[str, Callable[[Object], Object]] = {
    "taken-over": _taken_over,
    "let-go": lambda _: {"labels": {"batch.kubernetes.io/controller-uid": "mine"}},
    "not-counted": _not_counted,
}


async def container_of_ones_own(by: Attacker) -> object:
    """In a pod of ours, where it may mount what the others do."""
    pod = await pod_of_a_job(by.operator, by.namespace, by.name())
    change = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "busybox"}]}}
    where = {"subresource": "ephemeralcontainers"}
    return await by.admin.patch(PODS, pod["metadata"]["name"], by.namespace, change, **where)


async def verdict_taken_away(by: Attacker) -> object:
    """With the Job of a check, before it was read."""
    made = await by.operator.create(JOBS, job(by.namespace, by.name()))
    name = made["metadata"]["name"]
    await by.admin.delete(JOBS, name, by.namespace, propagation="Background")
    return made


async def forged_known_verdicts(by: Attacker) -> object:
    """Of all gates of a Project, with our label and the Project as its owner."""
    project = await by.admin.create(PROJECTS, valid("Project", by.namespace, by.name()))
    forged = config_map(Project.model_validate(project), VERDICT)
    return await by.admin.create(CONFIG_MAPS, forged)


async def anothers_decision(by: Attacker) -> object:
    approval = await by.operator.create(APPROVALS, valid("Approval", by.namespace, by.name()))
    name = approval["metadata"]["name"]
    return await by.admin.patch(APPROVALS, name, by.namespace, yes("somebody-else"))


async def plan_of_an_agent(by: Attacker) -> object:
    """That begins without a person, by the operator's account, which makes what agents plan."""
    plan = valid("Plan", by.namespace, by.name(), approval={"plan": "Never"})
    plan["metadata"]["labels"] = OURS
    return await by.operator.create(PLANS, plan)


async def left_behind(by: Attacker) -> object:
    """A pod that works on, by the deletion of its Job."""
    made = await by.operator.create(JOBS, job(by.namespace, by.name()))
    name = made["metadata"]["name"]
    await by.operator.delete(JOBS, name, by.namespace, propagation="Orphan")
    return made


async def token_of_a_session(by: Attacker) -> object:
    """By which the server takes whoever has it for the recorder in that pod."""
    pod = (await pod_of_a_job(by.operator, by.namespace, by.name()))["metadata"]
    bound = {"apiVersion": "v1", "kind": "Pod", "name": pod["name"], "uid": pod["uid"]}
    asked = {"spec": {"audiences": [AUDIENCE], "boundObjectRef": bound}}
    return await by.admin.create(TOKENS, asked, namespace=by.namespace)


ATTACKS: list[tuple[str, Attack]] = [
    ("objects", forged_verdict),
    ("objects", forged_prompt),
    ("tasks", guest_task),
    ("sessions", session_of_ones_own),
    ("status", forged_state),
    ("pods", forged_pod),
    ("orphans", orphaning_plan),
    ("authors", anothers_name),
    ("requests", anothers_request),
    ("requests", answer_of_a_plan),
    ("approvals", approval_of_ones_own),
    ("approvals", anothers_decision),
    ("tasks", second_owner),
    ("objects", verdict_taken_away),
    ("objects", forged_known_verdicts),
    ("orphans", left_behind),
    ("pods", container_of_ones_own),
    ("tokens", token_of_a_session),
    ("operator", plan_of_an_agent),
]
CASES = {attack.__name__: (policy, attack) for policy, attack in ATTACKS}
CASES |= {f"job-{what}": ("operator", unrestricted(what)) for what in UNRESTRICTED}
CASES |= {f"pod-{what}": ("operator", changed(what)) for what in CHANGED}
CASES |= {what: ("pods", done_to_a_pod(change)) for what, change in DONE_TO_A_POD.items()}
BESIDE = {"pod-finalizers": "pods"}
"""A policy that would refuse the same: it is off from the beginning to the end."""


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


@contextlib.contextmanager
def older(tools: Tools, policy: str, change: Callable[[Object], None]) -> Iterator[None]:
    """The spec of the policy is changed meanwhile, as an older chart had it."""
    name = f"bernstein-{policy}"

    def write(spec: Object) -> None:
        patch = json.dumps([{"op": "replace", "path": "/spec", "value": spec}])
        tools.kubectl("patch", KIND, name, "--type=json", f"--patch={patch}")

    spec = json.loads(tools.kubectl("get", KIND, name, "-o", "json"))["spec"]
    before = copy.deepcopy(spec)
    change(spec)
    assert spec != before
    write(spec)
    try:
        yield
    finally:
        write(before)


@pytest.mark.parametrize("case", CASES)
async def test_each_attack_works_while_its_policy_is_off_and_not_before_or_after(
    admin: Client, operator: Client, namespace: str, user: str, case: str
) -> None:
    by = Attacker(admin, operator, namespace, user)
    policy, attack = CASES[case]

    async def is_refused() -> bool:
        try:
            await attack(by)
        except Forbidden as refusal:
            return f"bernstein-{policy}" in str(refusal)
        return False

    async with contextlib.AsyncExitStack() as beside:
        if case in BESIDE:
            await beside.enter_async_context(only_watching(admin, BESIDE[case]))
            await eventually(is_refused)
        assert await is_refused()
        async with only_watching(admin, policy):
            await eventually(lambda: attack(by))
        await eventually(is_refused)
