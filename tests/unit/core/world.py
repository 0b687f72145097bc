"""A cluster in memory: decisions are carried out as the controllers do, pods are played.

Every write goes through here, so that a crash can come before any of them. Objects are stored as
the API server would: only what a status dumps survives.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from bernstein.api import pod as protocol
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.session import AgentSession, AgentSessionSpec, Stop, TaskRef
from bernstein.api.states import (
    SESSION_INITIAL,
    SESSION_MOVES,
    TASK_INITIAL,
    TASK_MOVES,
    SessionState,
    TaskState,
)
from bernstein.api.task import Cancel, Task
from bernstein.core import landing, names, plan, queueing, scheduling, session, task
from bernstein.core.checks import INSPECT
from bernstein.core.conditions import is_true
from bernstein.core.fsm import is_final
from bernstein.core.intents import (
    CancelTasks,
    CreateSession,
    CreateTasks,
    DeleteJobs,
    Intent,
    PlanIntent,
    PlanSnapshot,
    RunBegin,
    RunCheck,
    RunInspect,
    RunLand,
    RunPrepare,
    StopSession,
    TaskSnapshot,
)
from bernstein.core.pods import JobView
from tests.unit.core import objects
from tests.unit.core.remote import Remote

EXAMPLES = int(os.environ.get("BERNSTEIN_EXAMPLES", "0"))
"""Set: so many runs, and other ones each time, to search for what the usual run does not meet."""

TARGET = "refs/heads/main"
TOKENS = protocol.Usage(input=100_000, output=20_000)
COST = Decimal("0.6")
"""Of TOKENS at the price of sonnet."""

Run = RunBegin | RunCheck | RunInspect | RunPrepare | RunLand


class Crash(Exception):  # noqa: N818 - it stands for a SIGKILL
    """The operator dies before its next write."""


class Refused(Exception):  # noqa: N818
    """The API server does not take a write; the reconcile ends and is repeated."""


@dataclass
class Job:
    """A Job with its pod, as the world plays it."""

    name: str
    uid: str
    owner: str
    wants: Run | AgentSession
    created: datetime
    pod: objects.Object | None = None
    base: str = ""
    """Tip that an agent's checkout found."""
    deleting: bool = False
    held: bool = False
    """The pod carries our finalizer."""

    @property
    def role(self) -> str:
        return "agent" if isinstance(self.wants, AgentSession) else type(self.wants).__name__

    @property
    def phase(self) -> str:
        return str(self.pod["status"]["phase"]) if self.pod is not None else "None"

    @property
    def ended(self) -> bool:
        return self.phase in ("Succeeded", "Failed")

    @property
    def runs(self) -> bool:
        return self.phase == "Running"


@dataclass
class Seen:
    """What was observed while the world ran, for what must hold over time."""

    passed: set[tuple[str, str]] = field(default_factory=set)
    """(check, commit) that a pod judged good."""
    spent: Counter[str] = field(default_factory=Counter)
    """Agents of each Task that ran to an end that reports usage."""
    landed: set[tuple[str, str]] = field(default_factory=set)
    """(ref, commit) that a land Job moved there."""
    landed_by: Counter[str] = field(default_factory=Counter)
    writes: int = 0


class World:
    def __init__(
        self, project: Project, plan: Plan | None = None, tasks: Sequence[Task] = ()
    ) -> None:
        self.now = objects.NOW
        self.project = project
        self.plan = plan
        self.tasks = {t.metadata.name: t for t in tasks}
        self.sessions: dict[str, AgentSession] = {}
        self.jobs: dict[str, Job] = {}
        self.remote = Remote(TARGET)
        self.seen = Seen()
        self.budget: int | None = None
        """Writes that the operator may still do before it crashes."""
        self._made = 0

    def copy(self) -> World:
        """Another world that is in the same state."""
        other = copy(self)
        other.tasks, other.sessions = dict(self.tasks), dict(self.sessions)
        other.jobs = {name: replace(job) for name, job in self.jobs.items()}
        other.remote = self.remote.copy()
        seen = self.seen
        other.seen = Seen(
            set(seen.passed),
            seen.spent.copy(),
            set(seen.landed),
            seen.landed_by.copy(),
            seen.writes,
        )
        return other

    # --- writes -----------------------------------------------------------------------------

    def _write(self) -> None:
        if self.budget is not None:
            if self.budget == 0:
                raise Crash
            self.budget -= 1
        self.seen.writes += 1

    def write_task(self, read: Task, status: Any) -> bool:
        """One status patch, if it differs; refused when the Task changed since it was read."""
        name = read.metadata.name
        if status == read.status or status.dump() == read.status.dump():
            return False
        self._write()
        if self.tasks[name] is not read:
            raise Refused
        old, new = read.status.state, status.state
        legal = TASK_INITIAL if old is None else TASK_MOVES[old]
        assert new == old or new in legal, f"{name}: {old} -> {new}"
        stored = Task.model_validate(read.dump() | {"status": status.dump()})
        self._monotonic(read, stored)
        self.tasks[name] = stored
        return True

    def _monotonic(self, old: Task, new: Task) -> None:
        assert new.status.attempt >= old.status.attempt
        assert new.status.sessions >= old.status.sessions
        assert Decimal(new.status.spend_usd) >= Decimal(old.status.spend_usd)
        assert new.status.attempt <= 1 + new.spec.max_retries
        assert new.status.gate_errors <= 4
        counted = sum(a.counted for a in new.status.attempts)
        assert counted == new.status.attempt

    def write_session(self, read: AgentSession, status: Any) -> bool:
        name = read.metadata.name
        if status == read.status or status.dump() == read.status.dump():
            return False
        self._write()
        if self.sessions.get(name) is not read:
            raise Refused
        old, new = read.status.state, status.state
        legal = SESSION_INITIAL if old is None else SESSION_MOVES[old]
        assert new == old or new in legal, f"{name}: {old} -> {new}"
        self.sessions[name] = AgentSession.model_validate(read.dump() | {"status": status.dump()})
        return True

    def write_plan(self, read: Plan, status: Any) -> bool:
        if status == read.status or status.dump() == read.status.dump():
            return False
        self._write()
        if self.plan is not read:
            raise Refused
        assert Decimal(status.spend_usd) >= Decimal(read.status.spend_usd)
        assert read.status.ended_at is None or read.status.phase == status.phase
        self.plan = Plan.model_validate(read.dump() | {"status": status.dump()})
        return True

    def _create_job(self, name: str, owner: str, wants: Run | AgentSession) -> None:
        self._write()
        existing = self.jobs.get(name)
        if existing is not None:
            if existing.deleting or existing.owner != owner or existing.wants != wants:
                raise Refused
            return
        self._made += 1
        self.jobs[name] = Job(name, f"uid-job-{self._made}", owner, wants, self.now)

    def _delete_job(self, view: JobView) -> None:
        self._write()
        job = self.jobs.get(view.name)
        if job is not None and job.uid == view.uid:
            job.deleting = True

    # --- controllers ------------------------------------------------------------------------

    def reconcile_task(self, name: str, read: Task | None = None) -> bool:
        """Whether anything was written; `read` is an older version that the cache still has."""
        subject = read or self.tasks.get(name)
        if subject is None:
            return False
        before = self.seen.writes
        snapshot = self.task_snapshot(subject)
        decision = task.decide(snapshot, self.now)
        for intent in decision.intents:
            self._task_intent(snapshot, decision.status, intent)
        self.write_task(subject, decision.status)
        return self.seen.writes > before

    def task_snapshot(self, subject: Task) -> TaskSnapshot:
        name = subject.metadata.name
        planned = names.LABEL_PLAN in subject.metadata.labels
        here = self.plan if planned else None
        return TaskSnapshot(
            task=subject,
            project=self.project,
            plan=here,
            plan_missing=planned and here is None,
            session=self.sessions.get(subject.status.session or ""),
            jobs=self._views(f"Task/{name}"),
            tasks=self.tasks | {name: subject},
            sessions=dict(self.sessions),
        )

    def _task_intent(self, snapshot: TaskSnapshot, status: Any, intent: Intent) -> None:
        name = snapshot.task.metadata.name
        match intent:
            case CreateSession(number):
                self._create_session(snapshot, status, number)
            case StopSession(reason):
                self._stop(snapshot.task.status.session or "", reason)
            case DeleteJobs(jobs):
                for job in jobs:
                    if not job.deleting:
                        self._delete_job(job)
            case _:
                if isinstance(intent, RunLand):
                    self._may_land(snapshot, intent)
                self._create_job(intent.job, f"Task/{name}", intent)

    def _may_land(self, snapshot: TaskSnapshot, wanted: RunLand) -> None:
        """Checks by what pods really said, not by what the status claims."""
        assert wanted.job not in self.jobs or snapshot.task.status.delivery is not None
        if wanted.job in self.jobs:
            return
        assert snapshot.task.spec.cancel is None or self._landing(snapshot.task)
        judged = snapshot.task.status.verification
        assert judged is not None
        assert (judged.sha, judged.tree) == (wanted.sha, wanted.tree)
        for check in self.required(snapshot.task):
            assert (check, wanted.sha) in self.seen.passed, f"{check} never passed {wanted.sha}"

    @staticmethod
    def _landing(subject: Task) -> bool:
        return subject.status.delivery is not None and subject.status.delivery.step == "Landing"

    def required(self, subject: Task) -> list[str]:
        gates = self.project.spec.gates.pipeline
        signals = [f"signal-{i}" for i, _ in enumerate(subject.spec.completion_signals)]
        return [*signals, "lint", *(g.name for g in gates if g.enabled and g.command)]

    def _create_session(self, snapshot: TaskSnapshot, status: Any, number: int) -> None:
        self._write()
        subject = snapshot.task
        name = names.session(subject.metadata.name, number)
        if name in self.sessions:
            return
        route = queueing.route_of(snapshot)
        spec = AgentSessionSpec(
            task_ref=TaskRef(name=subject.metadata.name, uid=subject.metadata.uid),
            project=self.project.metadata.name,
            attempt=status.attempt + 1,
            number=number,
            agent="demo",
            adapter="demo",
            model=route.model,
            effort=route.effort,
            base_ref=landing.ref_of(snapshot),
            work_ref=names.work_ref(landing.owner_uid(snapshot), subject.metadata.name, number),
            timeout_seconds=queueing.timeout_seconds(subject, self.project),
        )
        made = objects.metadata(name, f"uid-{name}", creationTimestamp=self.now)
        self.sessions[name] = AgentSession.model_validate({"metadata": made, "spec": spec.dump()})

    def _stop(self, name: str, reason: str) -> None:
        found = self.sessions.get(name)
        if found is None or found.spec.stop is not None:
            return
        self._write()
        spec = found.spec.model_copy(update={"stop": Stop(reason=reason)})
        self.sessions[name] = found.model_copy(update={"spec": spec})

    def reconcile_session(self, name: str) -> bool:
        subject = self.sessions.get(name)
        if subject is None:
            return False
        before = self.seen.writes
        views = self._views(f"AgentSession/{name}")
        job = views.get(subject.status.job or name)
        launchable = subject.spec.task_ref.name in self.tasks
        decision = session.decide(session.Snapshot(subject, job, launchable), self.now)
        for intent in decision.intents:
            match intent:
                case session.Launch():
                    self._create_job(name, f"AgentSession/{name}", subject)
                case session.DeleteJob(view):
                    self._delete_job(view)
                case session.ReleasePod(view):
                    self._release(view)
        self.write_session(subject, decision.status)
        return self.seen.writes > before

    def _release(self, view: JobView) -> None:
        job = self.jobs.get(view.name)
        if job is not None and job.held:
            self._write()
            job.held = False

    def reconcile_plan(self) -> bool:
        subject = self.plan
        if subject is None:
            return False
        before = self.seen.writes
        mine = {n: t for n, t in self.tasks.items() if names.LABEL_PLAN in t.metadata.labels}
        snapshot = PlanSnapshot(
            plan=subject, project=self.project, tasks=mine, jobs=self._views("Plan")
        )
        decision = plan.decide(snapshot, self.now)
        for intent in decision.intents:
            self._plan_intent(intent)
        self.write_plan(subject, decision.status)
        return self.seen.writes > before

    def _plan_intent(self, intent: PlanIntent) -> None:
        match intent:
            case CreateTasks(made):
                for obj in made:
                    self._create_task(obj)
            case CancelTasks(which, reason):
                for name in which:
                    self._write()
                    self.cancel(name, reason)
            case DeleteJobs(jobs):
                for job in jobs:
                    self._delete_job(job)
            case _:
                if isinstance(intent, RunLand) and intent.job not in self.jobs:
                    assert ("lint", intent.sha) in self.seen.passed
                    assert self.plan is not None
                self._create_job(intent.job, "Plan", intent)

    def _create_task(self, obj: dict[str, Any]) -> None:
        self._write()
        name = obj["metadata"]["name"]
        if name not in self.tasks:
            self._made += 1
            meta = obj["metadata"] | {
                "uid": f"uid-{name}",
                "generation": 1,
                "creationTimestamp": objects.at(self._made),
            }
            self.tasks[name] = Task.model_validate({"metadata": meta, "spec": obj["spec"]})

    def _views(self, owner: str) -> dict[str, JobView]:
        return {
            job.name: JobView(
                name=job.name,
                uid=job.uid,
                created=job.created,
                deleting=job.deleting,
                pod=job.pod,
            )
            for job in self.jobs.values()
            if job.owner == owner
        }

    # --- what people do ---------------------------------------------------------------------

    def cancel(self, name: str, reason: str = "not needed") -> None:
        found = self.tasks[name]
        if found.spec.cancel is None:
            spec = found.spec.model_copy(update={"cancel": Cancel(reason=reason)})
            self.tasks[name] = found.model_copy(update={"spec": spec})

    def change_plan(self, **spec: Any) -> None:
        assert self.plan is not None
        meta = self.plan.metadata
        newer = meta.model_copy(update={"generation": meta.generation + 1})
        self.plan = self.plan.model_copy(
            update={"metadata": newer, "spec": self.plan.spec.model_copy(update=spec)}
        )

    def change_project(self, project: Project | None = None) -> None:
        meta = self.project.metadata
        newer = meta.model_copy(update={"generation": meta.generation + 1})
        self.project = (project or self.project).model_copy(update={"metadata": newer})

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    # --- the kubelet ------------------------------------------------------------------------

    def play(self, name: str, fate: str = "good") -> bool:
        """The next thing that happens to the Job's pod; whether anything did."""
        job = self.jobs[name]
        if job.deleting and (job.pod is None or job.ended):
            if job.held:
                return False
            del self.jobs[name]
            return True
        if job.deleting:
            self._finish(job, *self._partial(job), deleting=True)
            return True
        if job.ended:
            return False
        if fate == "deleted":
            job.deleting = True
            return True
        if job.pod is None:
            job.held = job.role == "agent"
            job.pod = self._pending(job, fate)
            return True
        if job.phase == "Pending":
            return self._start(job, fate)
        self._end(job, fate)
        return True

    def _main(self, job: Job) -> str:
        main = {"agent": "agent", "RunCheck": "check", "RunInspect": INSPECT}
        return main.get(job.role) or job.role.removeprefix("Run").lower()

    def _pod(self, job: Job, *containers: objects.Object, **more: Any) -> objects.Object:
        made = objects.pod(*containers, **more)
        self._name(job, made)
        return made

    def _name(self, job: Job, pod: objects.Object) -> None:
        pod["metadata"] |= {"name": job.name, "uid": f"{job.uid}-pod"}
        pod["metadata"]["creationTimestamp"] = self.now.isoformat()

    def _pending(self, job: Job, fate: str) -> objects.Object:
        main = self._main(job)
        if fate == "stuck":
            bad = objects.waiting(main, "ImagePullBackOff", "no such image")
            return self._pod(job, bad, phase="Pending")
        return self._pod(job, objects.waiting(main), phase="Pending")

    def _start(self, job: Job, fate: str) -> bool:
        assert job.pod is not None
        waits = job.pod["status"]["containerStatuses"][0]["state"]["waiting"]
        if waits["reason"] == "ImagePullBackOff" and fate != "healed":
            return False
        if isinstance(job.wants, AgentSession):
            job.base = self.remote.refs[job.wants.spec.base_ref]
        ready = objects.running(self._main(job))
        job.pod = self._pod(job, objects.ended("checkout"), ready)
        return True

    def _finish(self, job: Job, *containers: objects.Object, **more: Any) -> None:
        job.pod = self._pod(job, *containers, **({"phase": "Failed"} | more))

    def _partial(self, job: Job) -> tuple[objects.Object, ...]:
        """What is left of containers that were told to end."""
        if not job.runs:
            return (objects.waiting(self._main(job)),)
        if job.role == "agent":
            self.seen.spent[self._task_of(job)] += 1
            said = objects.recorded(usage=TOKENS, stopped="Cancelled")
            return (objects.ended("recorder", said=said), objects.ended("agent", 143))
        return (objects.ended(self._main(job), 143),)

    def _task_of(self, job: Job) -> str:
        assert isinstance(job.wants, AgentSession)
        return job.wants.spec.task_ref.name

    def _end(self, job: Job, fate: str) -> None:
        match job.wants:
            case AgentSession():
                self._end_agent(job, job.wants, fate)
            case RunCheck():
                self._end_check(job, job.wants, fate)
            case RunInspect():
                raise AssertionError("the Projects of this world have no such checks")
            case _:
                self._end_merge(job, job.wants, fate)

    def _end_agent(self, job: Job, wanted: AgentSession, fate: str) -> None:
        if fate == "checkout":
            unreachable = objects.failed("checkout", "RepositoryUnreachable")
            self._finish(job, unreachable, objects.waiting("agent"))
            return
        self.seen.spent[self._task_of(job)] += 1
        if fate in ("disrupted", "lost"):
            said = objects.ended("recorder", said=objects.recorded(usage=TOKENS))
            self._finish(job, said, objects.ended("agent", 143), disrupted=True)
            return
        final = {
            "bad": protocol.FinalRecord("AgentFailed", "it cannot be done"),
            "limited": protocol.FinalRecord("UsageLimited", "come back later", retry_after=600),
        }.get(fate, protocol.FinalRecord("Succeeded"))
        path = self.tasks[self._task_of(job)].spec.files[0]
        change = {} if fate == "empty" else {path: f"{wanted.metadata.name} {job.uid}"}
        out = self.remote.push_work(wanted.spec.work_ref, job.base, change)
        changed = protocol.Changed(files=len(change), python=bool(change))
        seen = objects.recorded(
            base=out.base, sha=out.sha, tree=out.tree, changed=changed, usage=TOKENS, final=final
        )
        pusher = objects.ended("pusher", said=out)
        if fate == "refused":
            pusher = objects.failed("pusher", "CredentialRefused")
        agent = objects.ended("agent")
        if fate == "oom":
            agent = objects.ended("agent", 137, reason="OOMKilled")
        said = objects.ended("recorder", said=seen)
        job.pod = objects.over(objects.ended("checkout"), pusher, said, agent)
        self._name(job, job.pod)

    def _end_check(self, job: Job, wanted: RunCheck, fate: str) -> None:
        problem = self.remote.checkout(wanted.ref, wanted.sha)
        if problem is not None:
            first = objects.ended("checkout", 1, said=problem)
            self._finish(job, first, objects.waiting("check"))
            return
        if fate in ("disrupted", "lost"):
            self._finish(job, objects.ended("check", 143), disrupted=True)
            return
        code = {"bad": 1, "limited": 127, "empty": 127, "oom": 1}.get(fate, 0)
        if code == 0:
            self.seen.passed.add((wanted.check.name, wanted.sha))
        phase = "Failed" if code else "Succeeded"
        job.pod = self._pod(
            job, objects.ended("checkout"), objects.ended("check", code), phase=phase
        )

    def _end_merge(self, job: Job, wanted: RunBegin | RunPrepare | RunLand, fate: str) -> None:
        main = self._main(job)
        if fate == "bad":
            self._finish(job, objects.failed(main, "BranchProtected", "hook declined"))
            return
        if fate == "disrupted":
            self._finish(job, objects.ended(main, 143), disrupted=True)
            return
        result = self._merge(job, wanted)
        if fate == "lost":  # it did its work, and nobody heard of it
            self._finish(job, objects.ended(main, 143), disrupted=True)
            return
        code = 1 if isinstance(result, protocol.Failure) else 0
        phase = "Failed" if code else "Succeeded"
        job.pod = self._pod(job, objects.ended(main, code, said=result), phase=phase)

    def _merge(self, job: Job, wanted: RunBegin | RunPrepare | RunLand) -> Any:
        match wanted:
            case RunBegin():
                return self.remote.begin(wanted)
            case RunPrepare():
                return self.remote.prepare(wanted)
        before = self.remote.refs[wanted.onto]
        result = self.remote.land(wanted)
        if self.remote.refs[wanted.onto] != before:
            assert (wanted.onto, wanted.sha) not in self.seen.landed, "landed twice"
            self.seen.landed.add((wanted.onto, wanted.sha))
            self.seen.landed_by[job.owner] += 1
        return result

    # --- what must always hold --------------------------------------------------------------

    def check(self) -> None:
        self._one_session_each()
        self._limits()
        for subject in self.tasks.values():
            self._task_holds(subject)
        if self.plan is not None:
            self._plan_holds(self.plan)

    def _one_session_each(self) -> None:
        alive = Counter(
            s.spec.task_ref.name
            for s in self.sessions.values()
            if s.status.state is not SessionState.DEAD
        )
        assert all(count == 1 for count in alive.values()), alive
        at_work = Counter(
            self._task_of(j) for j in self.jobs.values() if j.role == "agent" and j.runs
        )
        assert all(count == 1 for count in at_work.values()), at_work

    def _limits(self) -> None:
        active = [t for t in self.tasks.values() if t.status.state in scheduling.ACTIVE]
        assert len(active) <= self.project.spec.limits.max_agents
        if self.plan is not None and self.plan.spec.max_agents is not None:
            planned = [t for t in active if names.LABEL_PLAN in t.metadata.labels]
            assert len(planned) <= self.plan.spec.max_agents
        for i, one in enumerate(active):
            for other in active[i + 1 :]:
                assert not scheduling.overlap(one.spec.files, other.spec.files)
        landing_now = Counter(
            names.LABEL_PLAN in t.metadata.labels
            for t in self.tasks.values()
            if self._landing(t) and not is_true(t.status.conditions, "Stalled")
        )
        assert all(count == 1 for count in landing_now.values()), "landing is serial"

    def _task_holds(self, subject: Task) -> None:
        status, name = subject.status, subject.metadata.name
        consistent(subject.status.conditions)
        if status.state is TaskState.CANCELLED:
            assert not any(
                j.runs
                for j in self.jobs.values()
                if j.owner in (f"Task/{name}", *self._sessions_of(name))
            ), "cancelled, but a pod runs"
            assert not self.seen.landed_by[f"Task/{name}"], "cancelled, but it landed"
        if status.state is TaskState.CLOSED:
            assert status.delivery is not None
            assert status.delivery.state in ("Merged", "NoChange")
            if status.delivery.state == "Merged":
                assert (status.delivery.onto, status.delivery.sha) in self.seen.landed
        runs = self.seen.spent[name]
        assert Decimal(status.spend_usd) <= COST * runs, "spend is counted twice"
        assert runs <= (1 + subject.spec.max_retries) * 6, "it runs for nothing without end"

    def _sessions_of(self, name: str) -> list[str]:
        mine = (s for s in self.sessions.values() if s.spec.task_ref.name == name)
        return [f"AgentSession/{s.metadata.name}" for s in mine]

    def _plan_holds(self, subject: Plan) -> None:
        consistent(subject.status.conditions)
        if subject.status.phase == "Cancelled":
            assert not self.seen.landed_by["Plan"], "cancelled, but it was delivered"
        if subject.status.phase == "Succeeded":
            target = self.remote.refs[TARGET]
            for one in self.tasks.values():
                if names.LABEL_PLAN in one.metadata.labels:
                    self._is_delivered(one, target)

    def _is_delivered(self, subject: Task, target: str) -> None:
        delivered = subject.status.delivery
        assert delivered is not None
        if delivered.state == "Merged":
            assert self.remote.contains(target, delivered.sha or "")

    # --- fair runs --------------------------------------------------------------------------

    def settle(self, rounds: int = 50) -> None:
        """Reconciles everything until nothing is written any more."""
        for _ in range(rounds):
            if not any([*map(self._quietly, self.reconciles())]):
                return
        raise AssertionError("it never settles")

    def reconciles(self) -> list[Callable[[], bool]]:
        """One look at each object there is."""
        return [
            self.reconcile_plan,
            *(lambda n=n: self.reconcile_task(n) for n in list(self.tasks)),
            *(lambda n=n: self.reconcile_session(n) for n in list(self.sessions)),
        ]

    def _quietly(self, reconcile: Callable[[], bool]) -> bool:
        try:
            wrote = reconcile()
        except Refused:
            return False
        if wrote:
            self.check()
        return wrote

    def run_on(self) -> None:
        """Everything goes well from here on; until nothing more happens."""
        for _ in self.moments():
            pass

    def moments(self, rounds: int = 120) -> Iterator[World]:
        """Like run_on; stops wherever the operator has done what it can and pods are to move."""
        quiet = 0
        for _ in range(rounds):
            self.settle()
            if self._is_over():
                return
            yield self
            moved = [self.play(name, "healed") for name in list(self.jobs)]
            self.check()
            quiet = 0 if any(moved) else quiet + 1
            if quiet > 2:
                return
            if not any(moved):
                self.pass_time(601)
        raise AssertionError("it never ends")

    def _is_over(self) -> bool:
        ended = self.plan is None or self.plan.status.ended_at is not None
        final = (is_final(t.status, t.spec.max_retries) for t in self.tasks.values())
        return ended and all(final) and all(j.ended and not j.deleting for j in self.jobs.values())


def consistent(conditions: Sequence[Any]) -> None:
    """At work, in need of a person, or over: never two of them at once, but for a failed end."""
    kinds = {c.type: c.status for c in conditions}
    assert len(kinds) == len(conditions)
    assert not ("Reconciling" in kinds and "Stalled" in kinds), kinds
    assert not ("Reconciling" in kinds and "Succeeded" in kinds), kinds
    if kinds.get("Succeeded") == "True":
        assert "Stalled" not in kinds


def doomed(subject: Task) -> bool:
    """It will not be Closed, however long one waits."""
    status = subject.status
    if is_final(status, subject.spec.max_retries):
        return status.state is not TaskState.CLOSED
    return is_true(status.conditions, "Stalled")
