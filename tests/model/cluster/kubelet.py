"""Scheduler, kubelets and the controller of nodes: pods are bound, run, end, or are never heard of
again."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Protocol

from bernstein.api.pod import PROBE
from bernstein.core import labels
from bernstein.kube.errors import NotFound
from bernstein.kube.resource import PODS, Object, Resource, is_deleting, key_of, uid_of
from tests.model.cluster.programs import End, Programs, Run, Witness
from tests.model.cluster.store import ENDED, Store, copy, stamp
from tests.model.dice import Dice
from tests.unit.core import objects

NODES = ("one", "two", "three")
UNREACHABLE_SECONDS = 340.0
"""After so long without a word of its node a pod is deleted by the controller of nodes."""


COLLECTED_SECONDS = 60.0
"""After so long pods of a node that there is no object of are removed by the collector of pods."""


class Observer(Witness, Protocol):
    def started(self, run: Run) -> None: ...


class Node:
    """`dead`: nothing on it works any more. `removed`: the same, and its object is gone, with which
    its pods go. `cut`: all works on, and nobody hears of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = "up"
        self.failed_at = 0.0
        self._up = asyncio.Event()
        self._up.set()

    async def up(self) -> None:
        await self._up.wait()

    def fail(self, how: str, at: float) -> None:
        self.state, self.failed_at = how, at
        self._up.clear()

    def mend(self) -> None:
        self.state = "up"
        self._up.set()


class Kubelets:
    def __init__(self, store: Store, programs: Programs, dice: Dice, observer: Observer) -> None:
        self.nodes = {name: Node(name) for name in NODES}
        self.runs: dict[str, Run] = {}
        """Every pod that ever worked, by its uid."""
        self.bad_images: set[str] = set()
        """Roles whose image cannot be pulled now."""
        self.slow_starts = 0.0
        self.missing_secrets = 0
        """So many things have happened to the work account's Secret that are not over."""
        self._store = store
        self._programs = programs
        self._dice = dice
        self._observer = observer
        self._phases: dict[str, str] = {}
        """Of pods whose containers have ended, by uid: what their kubelet says a while later."""
        self._lives: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Task[None]] = {}
        store.hooks.append(self._changed)

    def _changed(self, resource: Resource, old: Object | None, new: Object | None) -> None:
        if resource != PODS or new is None:
            return
        uid = uid_of(new)
        if old is None:
            self._lives[uid] = asyncio.create_task(self._live(new))
        elif is_deleting(new) and new["spec"].get("nodeName") and uid not in self._ends:
            self._ends[uid] = asyncio.create_task(self._end(new))

    def stop(self) -> None:
        for task in (*self._lives.values(), *self._ends.values()):
            task.cancel()

    # --- a pod's life -----------------------------------------------------------------------------

    def _between(self, low: float, high: float, what: str, pod: Object) -> float:
        return self._dice.between(low, high, what, key_of(pod).name)

    async def _live(self, pod: Object) -> None:
        await asyncio.sleep(self._between(0.1, 3.0, "schedule", pod))
        node = await self._node(pod)
        bound = self._store.find(PODS, key_of(pod))
        if bound is None or uid_of(bound) != uid_of(pod) or is_deleting(bound):
            return
        new = copy(bound)
        new["spec"]["nodeName"] = node.name
        self._store.set(PODS, new)
        scheduled = {"type": "PodScheduled", "status": "True"}
        self._report(pod, phase="Pending", conditions=[scheduled])
        await asyncio.sleep(self._between(0.2, 6.0, "pull", pod) + self.slow_starts)
        await node.up()
        role = pod["metadata"]["labels"][labels.JOB]
        while role in self.bad_images:
            bad = objects.waiting(role, "ImagePullBackOff", "not found")
            self._report(pod, phase="Pending", containers=(bad,))
            await asyncio.sleep(10.0)
        live = self._store.find(PODS, key_of(pod))
        if live is not None and uid_of(live) == uid_of(pod) and not is_deleting(live):
            await self._work(new, role, node)

    async def _node(self, pod: Object) -> Node:
        while True:
            up = [node for node in self.nodes.values() if node.state == "up"]
            if up:
                return self._dice.pick(up, "node", key_of(pod).name)
            await asyncio.sleep(5.0)

    async def _work(self, pod: Object, role: str, node: Node) -> None:
        run = Run(pod, role, node.name, self._store.seconds)
        self.runs[run.uid] = run
        self._observer.started(run)
        began = self._store.now()
        containers = (
            objects.ended("checkout"),
            objects.running(role, began.replace(microsecond=0)),
        )
        self._report(pod, phase="Running", startTime=stamp(began), containers=containers)
        try:
            async with asyncio.timeout(pod["spec"].get("activeDeadlineSeconds")):
                await self._wait_for_secrets(run, role)
                end = await self._programs.play(run)
            reason: dict[str, Any] = {}
        except TimeoutError:
            end = End(self._programs.killed(run, 137), "Failed")
            reason = {"reason": "DeadlineExceeded"}
        run.live = False
        finished = stamp(self._store.now())
        await node.up()
        self._phases[run.uid] = end.phase
        self._report(run.pod, phase="Running", containers=_ends(run, end, stamp(began), finished))
        await asyncio.sleep(self._between(0.1, 6.0, "phase", pod))
        await node.up()
        self._report(run.pod, phase=end.phase, **reason)

    async def _wait_for_secrets(self, run: Run, role: str) -> None:
        """The kubelet looks again after a while; meanwhile the others of the pod run."""
        while role == PROBE and self.missing_secrets:
            lacks = objects.waiting(
                f"{PROBE}-work", "CreateContainerConfigError", 'secret "git-work" not found'
            )
            began = self._store.now().replace(microsecond=0)
            self._report(
                run.pod, phase="Running", containers=(objects.running(PROBE, began), lacks)
            )
            await asyncio.sleep(self._between(10.0, 15.0, "secret", run.pod))

    def _report(self, pod: Object, *, containers: Iterable[Object] = (), **status: Any) -> None:
        live = self._store.find(PODS, key_of(pod))
        if live is None or uid_of(live) != uid_of(pod) or live["status"].get("phase") in ENDED:
            return
        told = dict(status)
        statuses = [_of_its_image(pod, container) for container in containers]
        if statuses:
            told["initContainerStatuses"] = [c for c in statuses if c["name"] in _INIT]
            told["containerStatuses"] = [c for c in statuses if c["name"] not in _INIT]
        kept = [c for c in live["status"].get("conditions", ()) if c["type"] == "DisruptionTarget"]
        told["conditions"] = [*told.get("conditions", live["status"].get("conditions", ()))]
        told["conditions"] += [c for c in kept if c not in told["conditions"]]
        self._store.set_status(PODS, key_of(pod), live["status"] | told)

    # --- its end ----------------------------------------------------------------------------------

    async def _end(self, pod: Object) -> None:
        """Its node is told to end it; nothing is ended by a node that does not hear."""
        node = self.nodes[pod["spec"]["nodeName"]]
        await asyncio.sleep(self._between(0.05, 1.0, "hear", pod))
        await node.up()
        run = self.runs.get(uid_of(pod))
        if run is not None and run.live:
            run.told_to_end = True
            grace = min(pod["metadata"].get("deletionGracePeriodSeconds", 0), 20)
            await asyncio.sleep(self._between(0.0, grace, "grace", pod))
            await node.up()
        self._lives[uid_of(pod)].cancel()
        await asyncio.sleep(0)
        if run is not None and run.live:
            run.live = False
            began = stamp(_moment(self._store, run.since))
            end = End(self._programs.killed(run), "Failed")
            ends = _ends(run, end, began, stamp(self._store.now()))
            self._report(run.pod, containers=ends)
        self._report(pod, phase=self._phases.get(uid_of(pod), "Failed"))
        await asyncio.sleep(self._between(0.05, 1.0, "remove", pod))
        with suppress(NotFound):
            self._store.delete(PODS, key_of(pod), uid=uid_of(pod), grace_seconds=0)

    # --- what happens to nodes --------------------------------------------------------------------

    def evict(self, pod: Object) -> None:
        """Drained, preempted, or its node is not heard of."""
        live = self._store.find(PODS, key_of(pod))
        if live is None or is_deleting(live) or live["status"].get("phase") in ENDED:
            return
        told = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
        conditions = [*live["status"].get("conditions", ()), told]
        self._store.set_status(PODS, key_of(pod), live["status"] | {"conditions": conditions})
        self._store.delete(PODS, key_of(pod), uid=uid_of(pod))

    def on(self, node: str) -> list[Object]:
        return [p for p in self._store.all(PODS) if p["spec"].get("nodeName") == node]

    def node_of(self, job: str) -> str:
        """Where the pod of a Job works."""
        return next(run.node for run in self.runs.values() if job == run.job)

    def drain(self, node: str) -> None:
        for pod in self.on(node):
            self.evict(pod)

    def fail(self, name: str, how: str, *, noticed: bool = True) -> None:
        """`noticed`: by the controller of nodes. Where most nodes of a cluster are not heard of, it
        takes itself for cut off, and deletes no pod."""
        node = self.nodes[name]
        if node.state != "up":
            return
        node.fail(how, self._store.seconds)
        for run in self.runs.values():
            if run.node == name and run.live:
                run.shared |= {"cut": True, "unheard": True}
                if how in ("dead", "removed"):
                    run.live = False
                    self._lives[run.uid].cancel()
        if not noticed:
            return
        after, act = UNREACHABLE_SECONDS, self._give_up
        if how == "removed":
            after, act = COLLECTED_SECONDS, self._collect
        asyncio.get_running_loop().call_later(after, act, node, node.failed_at)

    def _give_up(self, node: Node, failed_at: float) -> None:
        if node.state != "up" and node.failed_at == failed_at:
            self.drain(node.name)

    def _collect(self, node: Node, failed_at: float) -> None:
        """Its pods are told to have failed, and are gone at once: no kubelet has to confirm it."""
        if node.state == "up" or node.failed_at != failed_at:
            return
        for pod in self.on(node.name):
            told = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}
            if pod["status"].get("phase") not in ENDED:
                conditions = [*pod["status"].get("conditions", ()), told]
                status = pod["status"] | {"phase": "Failed", "conditions": conditions}
                self._store.set_status(PODS, key_of(pod), status)
            self._store.delete(PODS, key_of(pod), uid=uid_of(pod), grace_seconds=0)

    def mend(self, name: str) -> None:
        """The node is back; what it had died with it."""
        node = self.nodes[name]
        how = node.state
        node.mend()
        for pod in self.on(name):
            run = self.runs.get(uid_of(pod))
            if run is not None:
                run.shared.pop("cut", None)
            if how in ("dead", "removed") and pod["status"].get("phase") not in ENDED:
                self._lives[uid_of(pod)].cancel()
                self._report(pod, phase="Failed", reason="NodeLost")


_INIT = ("checkout", "pusher", "recorder")


def _ends(run: Run, end: End, began: str, finished: str) -> list[Object]:
    """How all containers of the pod ended; those that the programs do not tell of, well."""
    told = {container["name"]: container for container in end.containers}
    if end.phase == "Succeeded":
        spec = run.pod["spec"]
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            told.setdefault(container["name"], objects.ended(container["name"]))
    for container in told.values():
        ended = container["state"].get("terminated")
        if ended is not None:
            ended |= {"startedAt": began, "finishedAt": finished}
    return list(told.values())


def _of_its_image(pod: Object, container: Object) -> Object:
    """With the digest that its image has on every node, once it has been pulled."""
    spec = pod["spec"]
    every = (*spec.get("initContainers", ()), *spec["containers"])
    images = {each["name"]: each["image"] for each in every}
    if "waiting" in container["state"] or container["name"] not in images:
        return container
    image = images[container["name"]]
    digest = hashlib.sha256(image.encode()).hexdigest()
    return {**container, "image": image, "imageID": f"{image}@sha256:{digest}"}


def _moment(store: Store, seconds: float) -> datetime:
    return store.now() - timedelta(seconds=store.seconds - seconds)
