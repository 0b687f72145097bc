"""One namespace with a Project, the engine that works in it, and a kubelet that the test plays."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from bernstein.api.pod import FENCE, PROBE
from bernstein.controllers.engine import Engine, Tuning
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import labels
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import KubeError, NotFound
from bernstein.kube.lease import Elector
from bernstein.kube.resource import CONFIG_MAPS, JOBS, NETWORK_POLICIES, PODS, Object, Resource
from bernstein.observe.metrics import Metrics
from tests.background import eventually
from tests.cluster.control_plane import audit
from tests.cluster.control_plane.audit import Write
from tests.control_plane.controllers.kubelet import Kubelet
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, PROJECTS, TASKS, valid

OPERATOR = "system:serviceaccount:bernstein-system:bernstein-operator"
SETTINGS = OperatorSettings(image="bernstein:dev")
QUIET = {"enabled": False}
"""No gates: what is not about them is shorter without."""
PROBES = "--probe-"
"""In the names of Jobs that try a Project, and of no others."""
PATIENCE = 120.0
"""Seconds for whatever comes within a few on an idle machine."""


@dataclass
class Replica:
    """One engine at work in this process."""

    engine: Engine
    metrics: Metrics
    work: asyncio.Task[None]
    stopping: asyncio.Event
    clients: contextlib.AsyncExitStack

    async def stop(self) -> None:
        """As on SIGTERM: it ends its work and gives the Lease back."""
        self.stopping.set()
        try:
            await self.work
        finally:
            await self.clients.aclose()

    def reconciles(self, controller: str) -> float:
        """How many went well so far."""
        values = (
            self.metrics.registry.get_sample_value(
                "controller_runtime_reconcile_total", {"controller": controller, "result": result}
            )
            for result in ("success", "requeue_after")
        )
        return sum(value or 0 for value in values)

    async def reconciled(self, **times: float) -> None:
        """Until each of these controllers has looked that often, such as `task=5`."""
        await eventually(
            lambda: all(self.reconciles(name) >= count for name, count in times.items()),
            seconds=PATIENCE,
        )

    async def kill(self) -> None:
        """It is gone from one moment to the next; its Lease stays held."""
        self.work.cancel()
        with contextlib.suppress(asyncio.CancelledError, KubeError):
            await self.work
        await self.clients.aclose()


@dataclass
class World:
    admin: Client
    operator: ConnectionInfo
    as_operator: Client
    """For what the operator alone may do, when a test sets the stage."""
    namespace: str
    kubelet: Kubelet
    log: Path
    """The API server's audit log."""
    started: int
    replicas: list[Replica] = field(default_factory=list)

    # --- who works here

    async def start(
        self,
        *,
        resync: float = 600.0,
        lease: str = "operator",
        settings: OperatorSettings = SETTINGS,
        client: Callable[[ConnectionInfo, Metrics], Client] | None = None,
    ) -> Replica:
        """An engine with the operator's own account. The resync is long, so that it hides no
        event that goes unheard."""
        clients, metrics, stopping = (
            contextlib.AsyncExitStack(),
            Metrics(process=False),
            asyncio.Event(),
        )
        made = client(self.operator, metrics) if client else Client(self.operator, observer=metrics)
        engine = Engine(
            await clients.enter_async_context(made),
            namespace=self.namespace,
            settings=settings,
            metrics=metrics,
            lease=lease,
            watch=[self.namespace],
            tuning=Tuning(workers=4, resync_seconds=resync),
        )
        engine.elector = self._elector(made, lease, metrics)
        work = asyncio.create_task(engine.run(stopping))
        self.replicas.append(Replica(engine, metrics, work, stopping, clients))
        return self.replicas[-1]

    def _elector(self, client: Client, lease: str, metrics: Metrics) -> Elector:
        """Whoever shares a process with the test may not be run for a while, and still leads."""
        return Elector(
            client,
            namespace=self.namespace,
            name=lease,
            observer=metrics,
            duration=2 * PATIENCE,
            renew_deadline=PATIENCE,
        )

    async def end(self) -> None:
        for replica in self.replicas:
            if replica.work.done():
                await replica.clients.aclose()
            else:
                await replica.stop()

    # --- what people do

    async def apply(self, resource: Resource, obj: Object) -> Object:
        """As `kubectl apply` does: created, or the fields given here set anew."""
        return await self.admin.apply(resource, obj, field_manager="person", force=True)

    async def project(self, name: str = "default", /, **spec: Any) -> Object:
        return await self.apply(PROJECTS, valid("Project", self.namespace, name, **spec))

    async def task(self, name: str, /, **spec: Any) -> Object:
        title = spec.pop("title", name)
        return await self.apply(TASKS, valid("Task", self.namespace, name, title=title, **spec))

    async def plan(self, name: str, stages: list[Object], **spec: Any) -> Object:
        made = valid("Plan", self.namespace, name, name=name, stages=stages, **spec)
        return await self.apply(PLANS, made)

    async def change(self, resource: Resource, name: str, **spec: Any) -> Object:
        return await self.admin.patch(resource, name, self.namespace, {"spec": spec})

    async def delete(self, resource: Resource, name: str, propagation: str = "Background") -> None:
        """As people do; or as the operator, of what it alone may delete."""
        meta = (await self.get(resource, name))["metadata"]
        guarded = resource in (JOBS, CONFIG_MAPS, NETWORK_POLICIES)
        ours = labels.MANAGED_BY in meta.get("labels", {})
        client = self.as_operator if guarded and ours else self.admin
        await client.delete(resource, name, self.namespace, propagation=propagation)

    # --- what there is

    async def get(self, resource: Resource, name: str) -> Object:
        return await self.admin.get(resource, name, self.namespace)

    async def all(self, resource: Resource) -> dict[str, Object]:
        """By name; without what a Project is tried with."""
        found = await self.admin.list(resource, self.namespace)
        return {obj["metadata"]["name"]: obj for obj in found.items if not _probes(obj)}

    async def probes(self) -> list[str]:
        """The Jobs that try credentials of Projects."""
        found = (await self.admin.list(JOBS, self.namespace)).items
        return sorted(job["metadata"]["name"] for job in found if _probes(job))

    async def until(
        self,
        resource: Resource,
        name: str,
        holds: Callable[[Object], object],
        seconds: float | None = None,
    ) -> Object:
        """The object, once the condition holds on it; fails with its status when it never does.

        A condition about a field that nobody has written yet does not hold yet. Without `seconds`
        it is waited for as long as the object changes, within reason: a busy machine is slow,
        and not stuck.
        """
        obj: Object = {}
        now = asyncio.get_running_loop().time
        latest = now() + 5 * PATIENCE
        try:
            async with asyncio.timeout(seconds or PATIENCE) as limit:
                while True:
                    before = obj
                    with contextlib.suppress(NotFound, KeyError):
                        obj = await self.get(resource, name)
                        if holds(obj):
                            return obj
                    if seconds is None and obj != before:
                        limit.reschedule(min(now() + PATIENCE, latest))
                    await asyncio.sleep(0.05)
        except TimeoutError:
            shown = yaml.safe_dump(obj.get("status", "it does not exist"))
            pytest.fail(f"{resource.kind} {name}: not within {seconds or PATIENCE} s:\n{shown}")

    async def gone(self, resource: Resource, name: str, seconds: float = PATIENCE) -> None:
        """Waits until there is none, or a fence in its place."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    obj = await self.get(resource, name)
                    if obj["metadata"].get("labels", {}).get(labels.JOB) == FENCE:
                        return
                    await asyncio.sleep(0.05)
        except NotFound:
            return
        except TimeoutError:
            pytest.fail(f"{resource.kind} {name} is still there:\n{yaml.safe_dump(obj)}")

    async def none_left(self, resource: Resource) -> None:
        for name in await self.all(resource):
            await self.gone(resource, name)

    async def task_in(self, name: str, state: str, seconds: float | None = None) -> Object:
        return await self.until(TASKS, name, lambda t: state_of(t) == state, seconds)

    async def stalled(
        self, resource: Resource, name: str, reason: str, seconds: float | None = None
    ) -> Object:
        def holds(obj: Object) -> bool:
            found = condition(obj, "Stalled")
            return (found.get("status"), found.get("reason")) == ("True", reason)

        return await self.until(resource, name, holds, seconds)

    async def sessions(self) -> list[str]:
        return sorted(await self.all(AGENT_SESSIONS))

    async def let_go(self, pod: str) -> None:
        """Until no finalizer holds the pod: the operator's last write about an agent."""
        await self.until(PODS, pod, lambda p: not p["metadata"].get("finalizers"))

    async def at_rest(self) -> None:
        """Until no Task is at work, no pod is held, and nobody tries the Project any more: all that
        comes after the last state."""
        await self.until(PROJECTS, "default", _rests)
        async with asyncio.timeout(PATIENCE):
            while await self._holds_a_pod() or await self.probes():  # noqa: ASYNC110 - the cluster's state
                await asyncio.sleep(0.05)

    async def _holds_a_pod(self) -> bool:
        """One that was held and is gone is held no more."""
        pods = (await self.all(PODS)).values()
        return any(pod["metadata"].get("finalizers") for pod in pods)

    async def writes(self) -> list[Write]:
        """The operator's writes in this namespace; its Lease, its Events and what tries a Project
        are no work.

        Every write whose effect can be seen is among them.
        """
        begun = self._under_way()
        await eventually(lambda: not begun & self._under_way())
        return self._work(audit.writes(self.log, self.started))

    def _under_way(self) -> set[str]:
        return {write.id for write in self._work(audit.under_way(self.log, self.started))}

    def _work(self, writes: Iterable[Write]) -> list[Write]:
        return [
            write
            for write in writes
            if (write.user, write.namespace) == (OPERATOR, self.namespace)
            and write.resource not in ("leases", "events")
            and not (write.resource == "jobs" and PROBES in (write.name or ""))
        ]

    async def patches(self, name: str, resource: str = "tasks") -> list[Mapping[str, Any]]:
        """The status patches of one object that were accepted."""
        return [
            w.body["status"]
            for w in await self.writes()
            if (w.resource, w.subresource, w.name, w.code) == (resource, "status", name, 200)
        ]


def _probes(obj: Object) -> bool:
    return bool(obj["metadata"].get("labels", {}).get(labels.JOB) == PROBE)


def _rests(project: Object) -> bool:
    status = project["status"]
    return bool(status["running"] == 0 and not status.get("probe", {}).get("atWork"))


def state_of(obj: Object) -> str | None:
    found: str | None = obj.get("status", {}).get("state")
    return found


def queued(task: Object) -> str | None:
    """Why the Task waits."""
    found: str | None = (task.get("status", {}).get("waiting") or {}).get("reason")
    return found


def condition(obj: Object, kind: str) -> Object:
    conditions = obj.get("status", {}).get("conditions", [])
    return next((c for c in conditions if c["type"] == kind), {})


def stage(name: str, *steps: str | Object, **more: Any) -> Object:
    """A stage of a Plan; a step that is text is a title."""
    made = [{"title": step} if isinstance(step, str) else step for step in steps]
    return {"name": name, "steps": made, **more}
