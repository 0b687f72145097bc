"""The test plays the node: pods are bound, run and end as scripts say.

Only pod status (and the last step of a deletion) is written here, as a kubelet does. Jobs, owner
references and deletions are the real controllers' business.
"""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from bernstein.api import pod as programs
from bernstein.api.encoding import dump
from bernstein.api.pod import Changed, FinalRecord, Usage
from bernstein.api.programs.forge import SeenPullRequest, WatchResult
from bernstein.api.programs.forge_jobs import WATCH
from bernstein.api.programs.formatting import FormatResult, Told
from bernstein.api.programs.judge import JudgeResult
from bernstein.api.programs.merge import BeginResult, LandResult, PrepareResult
from bernstein.api.programs.probe import ProbeResult
from bernstein.checks.changes import digest_of
from bernstein.core import labels
from bernstein.core.pods import is_deleting, phase
from bernstein.kube.client import Client
from bernstein.kube.errors import Conflict, NotFound
from bernstein.kube.informer import Informer
from bernstein.kube.resource import PODS, Object, Resource, key_of, uid_of
from tests.background import eventually
from tests.configuration import told
from tests.control_plane.controllers.remote import Remote, tree_of
from tests.resources import BINDINGS

CORE_EVENTS = Resource("", "v1", "events", "Event")
ENDED = ("Succeeded", "Failed")
READY = {"type": "Ready", "status": "True"}
DISRUPTED = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}


Script = Callable[["Pod"], Awaitable[None]]


def now(ago: float = 0) -> str:
    """The time so many seconds ago, as the kubelet writes it."""
    moment = datetime.now(UTC) - timedelta(seconds=ago)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def running() -> Object:
    return {"running": {"startedAt": now()}}


def waiting(reason: str, message: str = "") -> Object:
    return {"waiting": {"reason": reason, "message": message}}


def exited(code: int = 0, message: str = "", reason: str | None = None, after: float = 0) -> Object:
    """A container that ran for so many seconds."""
    ended = {
        "exitCode": code,
        "reason": reason or ("Error" if code else "Completed"),
        "message": message,
        "startedAt": now(after),
        "finishedAt": now(),
    }
    return {"terminated": ended}


def _killed(state: Object) -> Object:
    """How a running container ends that is told to."""
    end = exited(143)
    end["terminated"]["startedAt"] = state["running"]["startedAt"]
    return end


@dataclass
class Pod:
    """One pod of ours, as the node that it is bound to sees it."""

    obj: Object
    node: str
    client: Client
    remote: Remote
    states: dict[str, Object] = field(default_factory=dict)
    last_words: dict[str, Object] = field(default_factory=dict)
    """How containers end that are told to."""
    images: Mapping[str, str] = field(default_factory=dict)
    """Digests by reference; of others the node tells none."""

    @property
    def namespace(self) -> str:
        return key_of(self.obj).namespace

    @property
    def name(self) -> str:
        return key_of(self.obj).name

    @property
    def labels(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.obj["metadata"]["labels"]
        return found

    @property
    def job(self) -> str:
        return self.labels["batch.kubernetes.io/job-name"]

    @property
    def role(self) -> str:
        """Also the name of its main container, as in `bernstein.api.pod`."""
        return self.labels[labels.JOB]

    def config(self, container: str | None = None) -> Any:
        """What a program of ours is told, with every field."""
        spec = self.obj["spec"]
        for found in (*spec.get("initContainers", ()), *spec["containers"]):
            if found["name"] == (container or self.role):
                return told(found)
        raise AssertionError(f"{self.job} has no container {container or self.role}")

    async def bind(self) -> None:
        """What the scheduler does."""
        target = {"apiVersion": "v1", "kind": "Node", "name": self.node}
        binding = {"metadata": {"name": self.name, "uid": uid_of(self.obj)}, "target": target}
        await self.client.create(BINDINGS, binding, namespace=self.namespace)

    async def report(self, **status: Any) -> None:
        """Write the pod's status: these fields, and the containers' states as they are now."""
        body = {"status": {**status, **self._containers()}}
        if not status.get("phase"):
            body["status"]["phase"] = phase(self.obj)
        self.obj = await self.client.patch(
            PODS, self.name, self.namespace, body, subresource="status"
        )

    def _containers(self) -> Object:
        spec = self.obj["spec"]
        return {
            "initContainerStatuses": [self._status(c) for c in spec.get("initContainers", ())],
            "containerStatuses": [self._status(c) for c in spec["containers"]],
        }

    def _status(self, container: Object) -> Object:
        state = self.states.get(container["name"], waiting("PodInitializing"))
        digest = self.images.get(container["image"])
        return {
            "name": container["name"],
            "image": container["image"],
            "imageID": f"{container['image']}@{digest}" if digest else "",
            "ready": "running" in state,
            "restartCount": 0,
            "state": state,
        }

    async def start(self) -> None:
        """Bound, checked out, and its main container runs."""
        await self.bind()
        self.states = {self.role: running()}
        for container in self.obj["spec"].get("initContainers", ()):
            sidecar = container.get("restartPolicy") == "Always"
            self.states[container["name"]] = running() if sidecar else exited()
        await self.report(phase="Running", startTime=now(), conditions=[READY])

    async def end(self, ending: str, states: Mapping[str, Object], **report: Any) -> None:
        """All containers have ended: these as given, the others well."""
        for name, state in self.states.items():
            if "running" in state:
                self.states[name] = exited()
        self.states |= states
        await self.report(phase=ending, **report)

    async def tell(self, reason: str, message: str) -> None:
        """An Event about the pod."""
        event = {
            "metadata": {"name": f"{self.name}.{reason.lower()}", "namespace": self.namespace},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": self.name,
                "namespace": self.namespace,
                "uid": uid_of(self.obj),
            },
            "type": "Warning",
            "reason": reason,
            "message": message,
            "source": {"component": "kubelet", "host": self.node},
            "firstTimestamp": now(),
            "lastTimestamp": now(),
        }
        await self.client.create(CORE_EVENTS, event)

    async def deliver(self, **final: Any) -> dict[str, Object]:
        """Recorder's and pusher's last words about one commit; `final` is the agent's record."""
        config = self.config("pusher")
        base = self.remote.refs[self.config("checkout")["ref"]]
        empty = bool(final.pop("empty", False))
        usage = final.pop("usage", Usage(input=1000, output=100))
        commit = base if empty else self.remote.commit(config["ref"], base)
        tree = final.pop("tree", tree_of(commit))
        self.remote.refs[config["ref"]] = commit
        recorded = programs.RecorderResult(
            base=base,
            sha=commit,
            tree=tree,
            changed=_changed(0 if empty else 1, self.config("recorder")),
            usage=usage,
            stopped=final.pop("stopped", None),
            documents=final.pop("documents", ()),
            final=FinalRecord(**{"outcome": "Succeeded", **final}),
        )
        said = "" if empty else recorded.final.outcome
        pushed = programs.PusherResult(base, commit, tree, final=True, outcome=said)
        return {"recorder": exited(message=dump(recorded)), "pusher": exited(message=dump(pushed))}


async def succeed(pod: Pod) -> None:
    """The pod does its work."""
    await pod.start()
    await pod.end("Succeeded", await results(pod))


async def results(pod: Pod) -> dict[str, Object]:
    remote = pod.remote
    if pod.role == "agent":
        return await pod.deliver()
    if pod.role == "check":
        return {}
    if pod.role == "probe":
        return tried(pod)
    config = pod.config()
    if pod.role == "inspect":
        said = tuple(programs.CheckVerdict(c["name"], "Passed") for c in config["checks"])
        return {"inspect": exited(message=dump(programs.InspectResult(said)))}
    if pod.role == "judge":
        said = tuple(programs.CheckVerdict(q["name"], "Passed") for q in config["questions"])
        return {"judge": exited(message=dump(JudgeResult(said)))}
    return {pod.role: exited(message=dump(_merged(pod.role, remote, config)))}


def tried(pod: Pod, **others: Object) -> dict[str, Object]:
    """Each account does what it is for, but for these containers."""
    sound = exited(message=dump(ProbeResult()))
    return {container["name"]: sound for container in pod.obj["spec"]["containers"]} | others


def _merged(role: str, remote: Remote, config: Any) -> object:
    if role in ("prune", "cache"):
        return remote.prune(config) if role == "prune" else remote.cached(config)
    if role == "begin":
        target = remote.refs[config["target"]]
        tip = remote.refs.setdefault(config["integration"], target)
        return BeginResult(target, tip, config["integration"])
    if role == "format":
        made = remote.commit(config["to"], config["base"])
        formatted = Told("Passed", "", "1 file formatted")
        return FormatResult(config["base"], made, tree_of(made), formatted, _changed(1, config))
    if role == "prepare":
        base, made = remote.prepared(config)
        return PrepareResult(base, made, tree_of(made), _changed(1, config))
    if role == "propose":
        return remote.asked(config)
    if role == "listen":
        return remote.heard(config["number"], config["known"])
    onto, branch, sha = config["onto"], config["branch"], config["sha"]
    if branch is None:
        there = remote.swap(onto, config["expect"], sha)
    elif config["expect"] is None:
        there = remote.refs.get(branch) == sha
    else:
        on_base = remote.refs[onto] == config["expect"]
        there = on_base and remote.branch(branch, config["branch_at"], sha)
    return LandResult("Landed" if there else "Moved", remote.refs[onto])


def _changed(files: int, config: Any) -> Changed:
    """None of what it was told to be protected."""
    return Changed(files=files, protected_by=digest_of(config["protected"]))


async def watches(pod: Pod) -> None:
    """Looks at pull requests until one of them is not as it is told."""
    await pod.start()
    known = [SeenPullRequest(**each) for each in pod.config()["pull_requests"]]

    def changed() -> tuple[SeenPullRequest, ...]:
        return tuple(now for now in (pod.remote.seen(p.number) for p in known) if now not in known)

    await eventually(changed, seconds=600)
    said = dump(WatchResult(changed(), requests=1))
    await pod.end("Succeeded", {pod.role: exited(message=said)})


async def nothing(pod: Pod) -> None:
    """Neither scheduled nor started."""


async def run(pod: Pod) -> None:
    """Starts, and does not end by itself."""
    await pod.start()


def stops(**final: Any) -> Script:
    """Works until it is told to end, and leaves this final record."""

    async def script(pod: Pod) -> None:
        pod.last_words = await pod.deliver(stopped="Cancelled", **final)
        await pod.start()

    return script


def works(**final: Any) -> Script:
    """The agent ends with this final record (`outcome`, `message`, ...); see `Pod.deliver`."""

    async def script(pod: Pod) -> None:
        await pod.start()
        await pod.end("Succeeded", await pod.deliver(**final))

    return script


def ends(ending: str, report: Mapping[str, Any] | None = None, /, **states: Object) -> Script:
    """Runs, then all has ended so: `ends("Failed", {"reason": "Evicted"}, check=exited(1))`."""

    async def script(pod: Pod) -> None:
        await pod.start()
        await pod.end(ending, states, **(report or {}))

    return script


def waits(container: str, reason: str, message: str) -> Script:
    """One container never starts."""

    async def script(pod: Pod) -> None:
        await pod.bind()
        pod.states = {container: waiting(reason, message)}
        await pod.report(phase="Pending", startTime=now())

    return script


def after(event: asyncio.Event, script: Script) -> Script:
    """The script, once the test says so."""

    async def late(pod: Pod) -> None:
        await event.wait()
        await script(pod)

    return late


class Kubelet:
    """Takes every pod of one namespace through its life.

    `on("agent", a, b)` or `on("one-s1-*", a)`: the next pods of that role, or of Jobs with such a
    name, follow these scripts one after another, and all later ones the last; else `succeed`.
    """

    def __init__(self, client: Client, namespace: str, node: str) -> None:
        self.remote = Remote()
        self.images: dict[str, str] = {}
        """What its pods tell of their images; see Pod."""
        self.ran: list[str] = []
        """Jobs whose pod was seen, in that order; without those that only look."""
        self.may_end = asyncio.Event()
        """Cleared: pods that are deleted go on until it is set."""
        self.may_end.set()
        self._client = client
        self._node = node
        self._scripts: list[tuple[str, deque[Script]]] = []
        self._by_uid: dict[str, Pod] = {}
        self._playing: dict[str, asyncio.Task[None]] = {}
        self._ending: dict[str, asyncio.Task[None]] = {}
        self._problem: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.pods: dict[str, Pod] = {}
        """Last pod of each Job, by the Job's name."""
        self._informer = Informer(
            client,
            PODS,
            namespaces=[namespace],
            label_selector=f"{labels.MANAGED_BY}={labels.MANAGER}",
        )
        self._informer.add_handler(self._seen)

    def on(self, which: str, *scripts: Script) -> None:
        self._scripts.insert(0, (which, deque(scripts)))

    async def run(self) -> None:
        """Until cancelled; raises what went wrong in a script."""
        watching = asyncio.create_task(self._informer.run())
        try:
            await asyncio.wait({watching, self._problem}, return_when=asyncio.FIRST_COMPLETED)
            if self._problem.done():
                self._problem.result()
        finally:
            tasks = [watching, *self._playing.values(), *self._ending.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._problem.cancel()

    def _seen(self, _: Object | None, new: Object | None) -> None:
        if new is None:
            return
        uid = uid_of(new)
        if uid not in self._playing:
            pod = Pod(new, self._node, self._client, self.remote, images=self.images)
            if pod.role not in ("probe", "prune", "cache", WATCH):
                self.ran.append(pod.job)
            self.pods[pod.job] = self._by_uid[uid] = pod
            self._playing[uid] = self._start(partial(self._script(pod), pod))
        if is_deleting(new) and new["spec"].get("nodeName") and uid not in self._ending:
            self._ending[uid] = self._start(partial(self._terminate, uid, new))

    def _script(self, pod: Pod) -> Script:
        for which, scripts in self._scripts:
            if which == pod.role or fnmatch.fnmatchcase(pod.job, which):
                return scripts.popleft() if len(scripts) > 1 else scripts[0]
        return watches if pod.role == WATCH else succeed

    def _start(self, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Called by the task itself: one that is cancelled before its turn leaves nothing begun."""

        async def watched() -> None:
            try:
                # Deleted, or on its way: then it is bound to no node.
                with contextlib.suppress(NotFound, Conflict):
                    await work()
            except Exception as error:  # noqa: BLE001 - whatever it is, the test is told
                if not self._problem.done():
                    self._problem.set_exception(error)

        return asyncio.create_task(watched())

    async def _terminate(self, uid: str, obj: Object) -> None:
        """Ends what runs, says so, and lets the API server remove the pod."""
        await self.may_end.wait()
        self._playing[uid].cancel()
        await asyncio.gather(self._playing[uid], return_exceptions=True)
        pod = self._by_uid[uid]
        if phase(obj) not in ENDED and phase(pod.obj) not in ENDED:
            killed = {n: _killed(state) for n, state in pod.states.items() if "running" in state}
            await pod.end("Failed", killed | pod.last_words)
        await self._client.delete(PODS, pod.name, pod.namespace, uid=uid, grace_seconds=0)
