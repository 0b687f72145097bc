"""The simulated world with objects that look as they do in a cluster, and with more misfortunes.

Sessions and Jobs get the labels and owners that controllers give them, pods may end in more ways,
and the Jobs of checks that only read are played, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

from bernstein.api import pod as protocol
from bernstein.api.plan import Plan
from bernstein.api.pod import INSPECT
from bernstein.api.session import AgentSession, Report
from bernstein.api.task import Task
from bernstein.core.actions import RunCheck, RunInspect
from bernstein.core.jobs import JobView
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.resources import SESSIONS
from tests.unit.core import objects
from tests.unit.core.simulation.state import TOKENS, Job, Run
from tests.unit.core.simulation.world import World
from tests.unit.upgrade import made
from tests.unit.upgrade.decisions import mounted

Object = objects.Object

NO_SCAN = {"name": "pii_scan", "enabled": False}
STUCK = {
    "stuck": ("ImagePullBackOff", "no such image"),
    "no secret": ("CreateContainerConfigError", 'secret "git-read" not found'),
    "unusable": ("CreateContainerConfigError", "container has runAsNonRoot and image is root's"),
}
"""Fates of pods that do not start: why their container waits, and what the kubelet says of it."""
PENDING = (*STUCK, "unschedulable")
REJECTED = {"reason": "FailedCreate", "message": "exceeded quota: pods=0"}
UNMOUNTED = {"reason": "FailedMount", "message": 'MountVolume: secret "git-read" not found'}


class Cluster(World):
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._labels: dict[str, Object] = {}
        """Of Jobs, by uid."""

    def healed(self) -> Self:
        """Another one, which nothing bad happens to any more."""
        other = self.copy()
        other.rejected = other.unmounted = frozenset()
        return other

    def at_rest(self) -> None:
        """The operator has done what it can, and pods are to move."""

    def settle(self, rounds: int = 50) -> None:
        super().settle(rounds)
        self.at_rest()

    def copy(self) -> Self:
        other = super().copy()
        other._labels = dict(self._labels)
        return other

    def check(self) -> None:
        """Nothing: what must always hold is asked of worlds where less can happen."""

    def quiet(self) -> None:
        """Nothing, either."""

    def _may_land(self, snapshot: TaskSnapshot, wanted: Any) -> None:
        """Whatever is asked for."""

    def _must_have_passed(self, commit: str, *signals: Any) -> None:
        """Whatever is asked for."""

    # --- how objects look -----------------------------------------------------------------------

    def _create_session(self, wanted: dict[str, Any]) -> None:
        before = set(self.sessions)
        super()._create_session(wanted)
        obj = made.stamped(SESSIONS, wanted)
        name = obj["metadata"]["name"]
        if name not in before:
            known = self.sessions[name].metadata.dump()
            own = {key: known[key] for key in ("uid", "generation", "creationTimestamp")}
            obj["metadata"] |= own
            self.sessions[name] = AgentSession.model_validate(obj)

    def _create_job(
        self, name: str, owner: str, wants: Run | AgentSession, repository: str = ""
    ) -> None:
        super()._create_job(name, owner, wants, repository)
        uid = self.jobs[name].uid
        if uid not in self._labels:
            self._labels[uid] = self._built(owner, wants)["metadata"]["labels"]

    def _built(self, owner: str, wants: Run | AgentSession) -> Object:
        if isinstance(wants, AgentSession):
            of = self.task_snapshot(self.tasks[wants.spec.task_ref.name])
            return made.launched(replace(of, session=wants))[-1]
        if owner == "Plan":
            assert self.plan is not None
            (job,) = made.objects(PlanSnapshot(self.plan, self.project), wants)
            return job
        (task,) = (t for t in self.tasks.values() if t.metadata.uid == owner)
        (job,) = made.objects(self.task_snapshot(task), wants)
        return job

    def add_job(self, job: Job, labels: Object) -> None:
        """One that is there already."""
        self.jobs[job.name], self._labels[job.uid] = job, labels

    def labels_of(self, job: Job) -> Object:
        return self._labels[job.uid]

    def _views(self, owner: str) -> dict[str, JobView]:
        """Like the caches', which read Events of Jobs that have no pod."""
        found = super()._views(owner)
        for name, view in found.items():
            refused = view.pod is None and name in self.rejected
            events = ([REJECTED] if refused else []) + [UNMOUNTED] * (name in self.unmounted)
            known = self._labels.get(view.uid, {})
            pod = mounted(view.pod, events)
            found[name] = replace(view, pod=pod, labels=known, events=tuple(events))
        return found

    # --- what happens to pods -------------------------------------------------------------------

    rejected: frozenset[str] = frozenset()
    """Jobs whose pods the API server refuses."""
    unmounted: frozenset[str] = frozenset()
    """Jobs whose pods wait for a volume."""
    backwards = False
    """Objects are looked at in the other order."""

    def _pending(self, job: Job, fate: str) -> Object:
        main = job.main
        if fate in STUCK:
            return self._pod(job, objects.waiting(main, *STUCK[fate]), phase="Pending")
        if fate == "unschedulable":
            said = "0/3 nodes are available"
            waits = objects.waiting(main)
            return self._pod(job, waits, phase="Pending", unschedulable=said, node=None)
        return super()._pending(job, fate)

    def _start(self, job: Job, fate: str) -> bool:
        if fate in PENDING or job.name in self.unmounted:
            return False
        return super()._start(job, "healed")

    def play(self, name: str, fate: str = "good") -> bool:
        job = self.jobs[name]
        if name in self.rejected and job.pod is None and not job.deleting:
            return False
        return super().play(name, fate)

    def _end(self, job: Job, fate: str) -> None:
        if isinstance(job.wants, RunInspect):
            self._end_inspect(job, job.wants, fate)
        else:
            super()._end(job, fate)

    def _end_inspect(self, job: Job, wanted: RunInspect, fate: str) -> None:
        if fate in ("disrupted", "lost"):
            self._finish(job, objects.ended(INSPECT, 143), disrupted=True)
            return
        verdict = {"bad": "Failed", "errored": "Errored"}.get(fate, "Passed")
        names = [check.name for check in wanted.checks][: 0 if fate == "silent" else None]
        told = [protocol.CheckVerdict(name, verdict, "", "as read") for name in names]
        said = protocol.InspectResult(tuple(told))
        job.pod = objects.over(objects.ended("checkout"), objects.ended(INSPECT, said=said))
        self._name(job, job.pod)

    def _end_check(self, job: Job, wanted: RunCheck, fate: str) -> None:
        if wanted.base is not None:  # which the older code did not ask: all was the work's doing
            super()._end_check(job, wanted, "bad" if wanted.compares else "good")
            return
        late = wanted.check.timeout + 10
        ended: dict[str, tuple[tuple[Object, ...], dict[str, str]]] = {
            "out of memory": ((objects.ended("check", 137, reason="OOMKilled"),), {}),
            "late": ((objects.ended("check", 137, after=late),), {"reason": "DeadlineExceeded"}),
            "slow": ((objects.ended("check", 0, after=late),), {}),
            "evicted": ((objects.ended("check", 137),), {"reason": "Evicted", "message": "disk"}),
            "moved": ((objects.failed("checkout", "RefMoved"), objects.waiting("check")), {}),
            "unreachable": (
                (objects.failed("checkout", "RepositoryUnreachable"), objects.waiting("check")),
                {},
            ),
            "prints": ((objects.ended("check", 1, said="1 failed, 2 passed"),), {}),
        }
        if fate in ended:
            containers, more = ended[fate]
            self._finish(job, *containers, **more)
        else:
            super()._end_check(job, wanted, fate)

    def _end_merge(self, job: Job, wanted: Any, fate: str) -> None:
        """`fails X`: the program itself says why, and has done nothing."""
        if fate.startswith("fails "):
            self._finish(job, objects.failed(job.main, fate.removeprefix("fails ")))
        elif fate == "oom":
            self._finish(job, objects.ended(job.main, 137, reason="OOMKilled"))
        else:
            super()._end_merge(job, wanted, fate)

    def _end_agent(self, job: Job, wanted: AgentSession, fate: str) -> None:
        """`says X`: what the agent's own output says of its end."""
        said, containers, more = self._recorded(job, wanted, fate)
        if said is None:
            super()._end_agent(job, wanted, fate)
            return
        self.seen.spent[job.task] += 1
        recorder = objects.ended("recorder", said=said)
        if fate == "too large":
            recorder = objects.ended("recorder", 137, reason="OOMKilled")
        pushed = self._pushed(job, wanted, fate)
        pusher = objects.ended("pusher", said=replace(pushed, final=fate != "half"))
        self._finish(job, pusher, recorder, *containers, **more)

    def _recorded(
        self, job: Job, wanted: AgentSession, fate: str
    ) -> tuple[protocol.RecorderResult | None, tuple[Object, ...], dict[str, str]]:
        """What the recorder says, how the agent ended, and what is said of the pod."""
        final = protocol.FinalRecord("Succeeded")
        agent, more, stopped = objects.ended("agent"), {}, None
        match fate:
            case "late":
                agent, more = objects.ended("agent", 143), {"reason": "DeadlineExceeded"}
            case "evicted":
                more = {"reason": "Evicted", "message": "disk"}
            case "not found":
                agent = objects.ended("agent", 127, after=1)
            case "quiet":
                stopped = "Stalled"
            case "crashes":
                agent = objects.ended("agent", 3)
            case "unneeded":
                final = protocol.FinalRecord("Succeeded", no_change=True)
            case "too large" | "half":
                pass
            case _ if fate.startswith("says "):
                final = protocol.FinalRecord(fate.removeprefix("says "), "in its words")
            case _:
                return None, (), {}
        out = self._pushed(job, wanted, fate)
        changed = protocol.Changed(files=int(out.sha != out.base))
        said = objects.recorded(
            base=out.base,
            sha=out.sha,
            tree=out.tree,
            changed=changed,
            usage=TOKENS,
            final=final,
            stopped=stopped,
        )
        return said, (agent,), more

    def _pushed(self, job: Job, wanted: AgentSession, fate: str) -> protocol.PusherResult:
        change = {} if fate == "unneeded" else {"work.py": f"{wanted.metadata.name} {job.uid}"}
        return self.remote.push_work(wanted.spec.work_ref, job.base, change)

    def reconciles(self) -> dict[tuple[str, str], Callable[[], bool]]:
        found = super().reconciles()
        return dict(reversed(found.items())) if self.backwards else found

    # --- how a story goes on --------------------------------------------------------------------

    def pods_move(self, **fates: str) -> bool:
        """What happens next to each pod; its fate is by what its Job is for (`land`) or by the
        check's name (`lint`), else that of `others`."""
        moved = False
        for name in list(self.jobs):
            moved |= self.play(name, self._fate(self.jobs[name], fates))
        self.check()
        return moved

    def _fate(self, job: Job, fates: dict[str, str]) -> str:
        what = [job.main]
        if isinstance(job.wants, RunCheck):
            what.insert(0, job.wants.check.name)
        return next((fates[w] for w in what if w in fates), fates.get("others", "good"))

    def until(self, reached: Callable[[Cluster], bool], **fates: str) -> Cluster:
        """Goes on until the operator has brought it there."""
        for _ in range(200):
            self.collect()
            wrote = False
            for reconcile in self.reconciles().values():
                wrote |= self._quietly(reconcile)
                if reached(self):
                    return self
            if not wrote and not self.pods_move(**fates):
                self.pass_time(61)
        raise AssertionError("it never comes to that")

    def rounds(self, number: int, seconds: float = 0, **fates: str) -> Cluster:
        """So many times: all is looked at, pods move, and time passes."""
        for _ in range(number):
            self.settle()
            self.pods_move(**fates)
            self.pass_time(seconds)
        self.settle()
        return self

    def run_on_like(self, **fates: str) -> None:
        """To the end, with the same fates for ever."""
        for _ in range(120):
            self.settle()
            if self._is_over():
                return
            if not self.pods_move(**fates):
                self.pass_time(601)
        raise AssertionError("it never ends")

    # --- what else happens ----------------------------------------------------------------------

    def heartbeat(self, **report: Any) -> None:
        """Every session reports through the server."""
        for name, found in self.sessions.items():
            said = Report.model_validate({"heartbeat_time": self.now, "usage": None} | report)
            status = found.status.model_copy(update={"report": said})
            self.sessions[name] = found.model_copy(update={"status": status})

    def nodes_die(self) -> None:
        """Nobody hears of the pods that run any more."""
        for job in self.jobs.values():
            if job.pod is not None and job.runs:
                lost = job.pod["status"] | {"phase": "Unknown", "reason": "NodeLost"}
                job.pod = job.pod | {"status": lost}

    def jobs_vanish(self) -> None:
        """Somebody deletes every Job, and its pods are gone."""
        for job in self.jobs.values():
            job.held = False
        self.jobs.clear()

    def only_task(self) -> Task:
        (task,) = self.tasks.values()
        return task


def steps(*files: str, **more: Any) -> list[Object]:
    return [{"title": f"Do {f}", "files": [f], "model": "sonnet"} | more for f in files]


def plan(*stages: list[Object], **spec: Any) -> Plan:
    """A Plan that nobody has looked at yet."""
    named = [{"name": f"stage-{i}", "steps": each} for i, each in enumerate(stages, 1)]
    return objects.plan(begun=False, stages=named, **spec)


def alone(name: str = "alone", **spec: Any) -> Task:
    """A Task of no Plan."""
    return objects.task(name, plan=None, **({"files": [f"{name}.py"], "model": "sonnet"} | spec))
