"""People, who know nothing of what the operator is doing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

from bernstein.api.requests import MOST_REQUESTS
from bernstein.kube.errors import ApiError
from bernstein.kube.resource import JOBS, PODS, Object, Resource, is_deleting, key_of, uid_of
from bernstein.resources import APPROVALS, PLANS, PROJECTS, SESSIONS, TASKS
from tests.control_plane.objects import valid
from tests.model.cluster.store import NAMESPACE, Store, copy
from tests.unit.core.simulation.remote import Remote

KINDS = {kind.plural: kind for kind in (PLANS, TASKS, SESSIONS, JOBS, PODS, APPROVALS)}
TARGET = "refs/heads/main"
KEEPER = "team.example/archive"
"""A finalizer of something that is none of ours."""

LOOKS_SECONDS = 60.0
"""Between two looks of somebody who waits for a failure."""

SENSIBLE = {
    "Kill": ("Claimed", "InProgress"),
    "Unclaim": ("Claimed",),
    "Unblock": ("Blocked",),
    "Verify": ("Done", "Failed"),
    "Remerge": ("Done",),
}
"""States of a Task in which somebody may have a reason to ask for it."""

T = TypeVar("T")


class People:
    def __init__(self, store: Store, remote: Remote) -> None:
        self._store = store
        self.remote = remote
        self._applied: dict[tuple[Resource, str], Object] = {}
        self._pushes = 0
        self._asked = 0
        self.limits: list[tuple[float, int]] = []
        """When the Project's number of agents was set to what."""
        self.optional: set[str] = set()
        """Gates of the Project that are not required, from its beginning to its end."""
        self.deleted: set[str] = set()
        """Uids of what they have deleted."""

    def make_project(self, spec: Mapping[str, Any]) -> None:
        made = valid("Project", NAMESPACE, "default", **spec)
        gates = made["spec"].get("gates", {}).get("pipeline", ())
        self.optional = {gate["name"] for gate in gates if gate.get("required") is False}
        self._store.create(PROJECTS, made)
        self.limits.append((self._store.seconds, made["spec"]["limits"]["maxAgents"]))

    def act(self, event: dict[str, Any]) -> None:
        """One event of a scenario; what it is about may not be there."""
        with suppress(ApiError):
            getattr(self, "_" + event["do"].replace(" ", "_"))(event)

    def _pick(self, resource: Resource, event: dict[str, Any]) -> Object | None:
        """The one that is named, or one of those that there are."""
        found = sorted(self._store.all(resource), key=lambda obj: key_of(obj).name)
        if "name" in event:
            found = [obj for obj in found if event["name"] in key_of(obj).name]
        return _one_of(found, event.get("pick", 0.0)) if found else None

    def _apply_plan(self, event: dict[str, Any]) -> None:
        self._apply(PLANS, valid("Plan", NAMESPACE, event["name"], **event["spec"]))

    def _apply_task(self, event: dict[str, Any]) -> None:
        self._apply(TASKS, valid("Task", NAMESPACE, event["name"], **event["spec"]))

    def _apply(self, resource: Resource, obj: Object) -> None:
        self._applied[resource, key_of(obj).name] = obj
        self._store.create(resource, obj)

    def _apply_again(self, event: dict[str, Any]) -> None:
        gone = [
            (resource, obj)
            for (resource, _), obj in sorted(self._applied.items(), key=lambda i: i[0][1])
            if self._store.find(resource, key_of(obj)) is None
        ]
        if gone:
            resource, obj = _one_of(gone, event["pick"])
            self._store.create(resource, obj)

    def _cancel(self, event: dict[str, Any]) -> None:
        resource = KINDS[event["kind"]]
        obj = self._pick(resource, event)
        if obj is not None and "cancel" not in obj["spec"]:
            body = {"spec": {"cancel": {"reason": "not needed"}}}
            self._store.merge(resource, key_of(obj), body)

    def _retry(self, event: dict[str, Any]) -> None:
        """Somebody asks for another round: at once of one that is picked, or of one that has
        failed, once there is one."""
        resource, looks = KINDS[event["kind"]], int(event["looks"])
        failed = [obj for obj in self._store.all(resource) if _has_failed(obj)]
        if looks and not failed:
            asyncio.get_running_loop().call_later(
                LOOKS_SECONDS, self.act, event | {"looks": looks - 1}
            )
            return
        obj = _one_of(failed, event["pick"]) if failed else self._pick(resource, event)
        if obj is not None:
            self._ask(resource, obj, "Retry")

    def _deliver_partial(self, event: dict[str, Any]) -> None:
        """Somebody asks for a part of a Plan: at once of one that is picked, or of one that stands
        still or has ended badly although something landed, once there is one."""
        looks = int(event["looks"])
        worth = [obj for obj in self._store.all(PLANS) if _has_a_part(obj)]
        if looks and not worth:
            asyncio.get_running_loop().call_later(
                LOOKS_SECONDS, self.act, event | {"looks": looks - 1}
            )
            return
        obj = _one_of(worth, event["pick"]) if worth else self._pick(PLANS, event)
        if obj is not None:
            self._ask(PLANS, obj, "DeliverPartial")

    def _ask_of_a_task(self, event: dict[str, Any]) -> None:
        """Somebody asks for something of a Task: at once of one that is picked, or of one in whose
        state it makes sense, once there is one."""
        verb, looks = event["verb"], int(event["looks"])
        fit = [obj for obj in self._store.all(TASKS) if _state(obj) in SENSIBLE[verb]]
        if looks and not fit:
            asyncio.get_running_loop().call_later(
                LOOKS_SECONDS / 4, self.act, event | {"looks": looks - 1}
            )
            return
        obj = _one_of(fit, event["pick"]) if fit else self._pick(TASKS, event)
        if obj is not None:
            for _ in range(2 if event.get("twice") else 1):
                self._ask(TASKS, self._store.find(TASKS, key_of(obj)) or obj, verb)

    def _ask(self, resource: Resource, obj: Object, verb: str) -> None:
        asked = obj["spec"].get("requests", [])
        self._asked += 1
        new = {"id": f"r-{self._asked}", "verb": verb, "by": "ann", "reason": "once more"}
        if len(asked) < MOST_REQUESTS:
            self._store.merge(resource, key_of(obj), {"spec": {"requests": [*asked, new]}})

    def _delete(self, event: dict[str, Any]) -> None:
        resource = KINDS[event["kind"]]
        obj = self._pick(resource, event)
        if obj is not None and not _is_kept(resource, obj):
            self.deleted.add(uid_of(obj))
            self._store.delete(resource, key_of(obj), propagation=event["propagation"])

    def _keep(self, event: dict[str, Any]) -> None:
        """Something puts its finalizer on a Task that somebody deletes, and may take it off after a
        while; where it never does, nobody does it."""
        task = self._pick(TASKS, event)
        if task is None or is_deleting(task):
            return
        finalizers = [*task["metadata"].get("finalizers", ()), KEEPER]
        self._store.merge(TASKS, key_of(task), {"metadata": {"finalizers": finalizers}})
        self.deleted.add(uid_of(task))
        self._store.delete(TASKS, key_of(task), propagation=event["propagation"])
        if event["seconds"] is not None:
            asyncio.get_running_loop().call_later(event["seconds"], self._let_go, task)

    def _let_go(self, kept: Object) -> None:
        task = self._store.find(TASKS, key_of(kept))
        if task is None or uid_of(task) != uid_of(kept):
            return
        finalizers = [each for each in task["metadata"]["finalizers"] if each != KEEPER]
        self._store.merge(TASKS, key_of(task), {"metadata": {"finalizers": finalizers}})

    def _suspend(self, event: dict[str, Any]) -> None:
        plan = self._pick(PLANS, event)
        if plan is not None:
            self._store.merge(PLANS, key_of(plan), {"spec": {"suspend": True}})
            loop = asyncio.get_running_loop()
            loop.call_later(event["seconds"], self._resume, plan)

    def _resume(self, plan: Object) -> None:
        with suppress(ApiError):
            self._store.merge(PLANS, key_of(plan), {"spec": {"suspend": False}})

    def _budget(self, event: dict[str, Any]) -> None:
        plan = self._pick(PLANS, event)
        if plan is not None and plan["spec"].get("budget"):
            figure = event.get("figure", "100")
            self._store.merge(PLANS, key_of(plan), {"spec": {"budget": figure}})

    def _edit_project(self, event: dict[str, Any]) -> None:
        if event["change"] == "agents":
            most = 1 + int(event["pick"] * 3)
            self.limits.append((self._store.seconds, most))
        for project in self._store.all(PROJECTS):
            self._edit(project, event)

    def _edit(self, project: Object, event: dict[str, Any]) -> None:
        spec = copy(project["spec"])
        match event["change"]:
            case "agents":
                spec["limits"]["maxAgents"] = self.limits[-1][1]
            case "gates off":
                spec["gates"]["enabled"] = False
            case "gates on":
                spec["gates"]["enabled"] = True
            case "gate" | "another gate" as change:
                which = f"new-{event['pick']}" if change == "another gate" else "new"
                gate = {"name": "gate_new", "command": f"make {which}", "required": True}
                pipeline = [g for g in spec["gates"]["pipeline"] if g["name"] != "gate_new"]
                spec["gates"]["pipeline"] = [*pipeline, gate]
        self._store.merge(PROJECTS, key_of(project), {"spec": spec})

    def _push(self, event: dict[str, Any]) -> None:
        """Somebody pushes to the branch, maybe what an agent changes, too."""
        self._pushes += 1
        path = "a.py" if event["pick"] < 0.2 else "human.txt"
        self.remote.human_pushes(TARGET, path, f"push {self._pushes}")

    def _meddle(self, event: dict[str, Any]) -> None:
        """Somebody pushes to the integration ref of a Plan, and may put it back after a while."""
        plan = self._pick(PLANS, event)
        ref = (plan or {}).get("status", {}).get("integration", {}).get("ref")
        if ref not in self.remote.refs:
            return
        before = self.remote.refs[ref]
        self.remote.human_pushes(ref, "human.txt", "not of this Plan")
        if event["seconds"] is not None:
            loop = asyncio.get_running_loop()
            loop.call_later(event["seconds"], self._put_back, ref, before, self.remote.refs[ref])

    def _put_back(self, ref: str, before: str, pushed: str) -> None:
        if self.remote.refs[ref] == pushed:
            self.remote.refs[ref] = before

    def go_home(self) -> None:
        """They leave nothing suspended, and nothing blocked."""
        for task in self._store.all(TASKS):
            if _state(task) == "Blocked" and not is_deleting(task):
                self._ask(TASKS, task, "Unblock")
        for plan in self._store.all(PLANS):
            if plan["spec"].get("suspend") and not is_deleting(plan):
                self._resume(plan)


def is_kept_by_others(obj: Object) -> bool:
    return KEEPER in obj["metadata"].get("finalizers", ())


def _state(obj: Object) -> str:
    return str(obj.get("status", {}).get("state", ""))


def _is_kept(resource: Resource, obj: Object) -> bool:
    """The chart keeps a decision until it is acted upon."""
    undone = obj.get("status", {}).get("state", "Pending") == "Pending"
    return resource == APPROVALS and "decision" in obj["spec"] and undone


def _has_failed(obj: Object) -> bool:
    told = obj.get("status", {}).get("conditions", ())
    ended = any((c["type"], c["status"]) == ("Succeeded", "False") for c in told)
    return ended and "cancel" not in obj["spec"]


def _has_a_part(plan: Object) -> bool:
    """It has ended or stands still, and something of it has landed."""
    status = plan.get("status", {})
    landed = "sha" in status.get("integration", {})
    return landed and status.get("phase") in ("Failed", "Stalled", "Cancelled")


def _one_of(choice: list[T], pick: float) -> T:
    """`pick`: from 0 to 1; rounded as it is in a scenario, it may be 1."""
    return choice[min(int(pick * len(choice)), len(choice) - 1)]
