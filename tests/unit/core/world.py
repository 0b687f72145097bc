"""A cluster in memory: decisions are carried out as the controllers do, pods are played.

Every write goes through here, so that a crash can come before any of them. Objects are stored as
the API server would: only what a status dumps survives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.session import AgentSession, AgentSessionSpec, PlanRef, Stop, TaskRef
from bernstein.api.signals import Signal
from bernstein.api.states import (
    SESSION_INITIAL,
    SESSION_MOVES,
    TASK_INITIAL,
    TASK_MOVES,
    SessionState,
    TaskState,
)
from bernstein.api.task import Cancel, Task, TaskStatus
from bernstein.core import checks, landing, names, plan, queueing, session, spend, task
from bernstein.core.conditions import is_true
from bernstein.core.fsm import is_final
from bernstein.core.intents import (
    CancelTasks,
    CreateSession,
    CreateTasks,
    DeleteJobs,
    Intent,
    KeepReports,
    PlanIntent,
    PlanSnapshot,
    RunLand,
    StopSession,
    TaskSnapshot,
)
from bernstein.core.pods import JobView, is_running
from tests.unit.core import objects
from tests.unit.core.invariants import Invariants
from tests.unit.core.kubelet import Kubelet
from tests.unit.core.state import Job, Run


class Crash(Exception):  # noqa: N818 - it stands for a SIGKILL
    """The operator dies before its next write."""


class Refused(Exception):  # noqa: N818
    """The API server does not take a write; the reconcile ends and is repeated."""


class World(Kubelet, Invariants):
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
        if self.tasks.get(name) is not read:
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
        if new is SessionState.DEAD and new is not old and status.usage is not None:
            self.seen.recorded += read.spec.plan_ref is not None
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

    def _keep_reports(self, views: tuple[JobView, ...]) -> None:
        """Each once: a second one finds the name taken. There must be a log to read."""
        for view in views:
            assert view.name in self.jobs, "its Job is gone already"
            assert is_running(view.pod or {}, "check"), "it printed nothing"
            if view.name not in self.reports:
                self._write()
                self.reports.add(view.name)

    # --- controllers ------------------------------------------------------------------------

    def reconcile_task(self, name: str, read: Task | None = None) -> bool:
        """Whether anything was written; `read` is an older version that the cache still has."""
        subject = read or self.tasks.get(name)
        if subject is None or subject.metadata.deletion_timestamp is not None:
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
        current = self.sessions.get(subject.status.session or "")
        mine = current is not None and current.spec.task_ref.uid == subject.metadata.uid
        return TaskSnapshot(
            task=subject,
            project=self.project,
            plan=here,
            plan_missing=planned and here is None,
            session=current if mine else None,
            jobs=self._views(subject.metadata.uid),
            tasks=self.tasks | {name: subject},
            sessions=dict(self.sessions),
        )

    def _task_intent(self, snapshot: TaskSnapshot, status: Any, intent: Intent) -> None:
        match intent:
            case CreateSession(number):
                self._create_session(snapshot, status, number)
            case StopSession(reason):
                if snapshot.session is not None:
                    self._stop(snapshot.session.metadata.name, reason)
            case DeleteJobs(jobs):
                for job in jobs:
                    if not job.deleting:
                        self._delete_job(job)
            case KeepReports(jobs):
                self._keep_reports(jobs)
            case _:
                if isinstance(intent, RunLand):
                    self._may_land(snapshot, intent)
                self._create_job(intent.job, snapshot.task.metadata.uid, intent)

    def _may_land(self, snapshot: TaskSnapshot, wanted: RunLand) -> None:
        """Checks by what pods really said, not by what the status claims."""
        assert wanted.job not in self.jobs or snapshot.task.status.delivery is not None
        if wanted.job in self.jobs:
            return
        assert snapshot.task.spec.cancel is None or self._landing(snapshot.task)
        judged = snapshot.task.status.verification
        assert judged is not None
        assert (judged.sha, judged.tree) == (wanted.sha, wanted.tree)
        delivered = snapshot.task.status.delivery
        if delivered is not None and delivered.reason is not None:
            return  # a Job that was let through may have pushed it already
        self._must_have_passed(wanted.sha, *snapshot.task.spec.completion_signals)

    def _must_have_passed(self, commit: str, *signals: Signal) -> None:
        """All that the Project asks for now, exactly as it asks for it."""
        changed = checks.Subject(
            any_changed=True, python_changed=True, tests_changed=True, deps_changed=True
        )
        asked = checks.plan_checks(signals, self.project.spec, changed)
        for check in checks.executing(asked):
            assert (check.digest, commit) in self.seen.passed, f"{check.name} of {commit}"

    def _create_session(self, snapshot: TaskSnapshot, status: Any, number: int) -> None:
        self._write()
        subject = snapshot.task
        name = names.session(subject.metadata.name, number)
        taken = self.sessions.get(name)
        if taken is not None:
            if taken.spec.task_ref.uid != subject.metadata.uid:
                raise Refused
            return
        plan = snapshot.plan
        route = queueing.route_of(snapshot)
        spec = AgentSessionSpec(
            task_ref=TaskRef(name=subject.metadata.name, uid=subject.metadata.uid),
            plan_ref=PlanRef(name=plan.metadata.name, uid=plan.metadata.uid) if plan else None,
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
        self._made += 1
        made = objects.metadata(name, f"uid-{name}-{self._made}", creationTimestamp=self.now)
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
        views = self._views(subject.metadata.uid)
        job = views.get(subject.status.job or name)
        of = self.tasks.get(subject.spec.task_ref.name)
        launchable = of is not None and of.metadata.uid == subject.spec.task_ref.uid
        settled = session.is_settled(subject, of, self.plan)
        decision = session.decide(session.Snapshot(subject, job, launchable, settled), self.now)
        for intent in decision.intents:
            match intent:
                case session.Launch():
                    self._create_job(name, subject.metadata.uid, subject)
                case session.DeleteJob(view):
                    self._delete_job(view)
                case session.ReleasePod(view):
                    self._release(view)
                case session.ReleaseSession():
                    self._write()
                    del self.sessions[name]
                    return True
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
            plan=subject,
            project=self.project,
            tasks=mine,
            sessions=[s for s in self.sessions.values() if spend.belongs(s, subject)],
            jobs=self._views("Plan"),
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
            case KeepReports(jobs):
                self._keep_reports(jobs)
            case _:
                if isinstance(intent, RunLand) and intent.job not in self.jobs:
                    assert self.plan is not None
                    delivered = self.plan.status.delivery
                    if delivered is None or delivered.reason is None:
                        self._must_have_passed(intent.sha)
                self._create_job(intent.job, "Plan", intent)

    def _create_task(self, obj: dict[str, Any]) -> None:
        self._write()
        name = obj["metadata"]["name"]
        if name not in self.tasks:
            self._made += 1
            meta = obj["metadata"] | {
                "uid": f"uid-{name}-{self._made}",
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
                labels=job.labels,
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

    def delete_session(self, name: str) -> None:
        found = self.sessions[name]
        meta = found.metadata.model_copy(update={"deletion_timestamp": self.now})
        self.sessions[name] = found.model_copy(update={"metadata": meta})

    def delete_task(self, name: str, propagation: str = "Background") -> None:
        """In the foreground it stays until all that it owns is gone."""
        self.deleted[name] = found = self.tasks.pop(name)
        if propagation == "Foreground":
            meta = found.metadata.model_copy(update={"deletion_timestamp": self.now})
            self.tasks[name] = found.model_copy(update={"metadata": meta})

    def apply_again(self, name: str) -> None:
        """Somebody makes a Task that was deleted once more, as it was: another object."""
        if name not in self.tasks:
            old = self.deleted.pop(name)
            self._made += 1
            uid = f"{old.metadata.uid}-{self._made}"
            meta = old.metadata.model_copy(update={"uid": uid, "deletion_timestamp": None})
            update = {"metadata": meta, "status": TaskStatus()}
            self.tasks[name] = old.model_copy(update=update)

    def collect(self) -> None:
        """What the garbage collector does."""
        living = {t.metadata.uid for t in self.tasks.values()}
        going = {t.metadata.uid for t in self.tasks.values() if t.metadata.deletion_timestamp}
        for name, one in list(self.sessions.items()):
            if one.spec.task_ref.uid not in living - going and not one.metadata.deletion_timestamp:
                self.delete_session(name)
        living |= {"Plan", *(s.metadata.uid for s in self.sessions.values())}
        for job in self.jobs.values():
            job.deleting |= job.owner not in living - going
        owners = {j.owner for j in self.jobs.values()}
        owners |= {s.spec.task_ref.uid for s in self.sessions.values()}
        self.tasks = {
            name: one
            for name, one in self.tasks.items()
            if one.metadata.uid in (living - going) | owners
        }

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

    # --- fair runs --------------------------------------------------------------------------

    def settle(self, rounds: int = 50) -> None:
        """Reconciles everything until nothing is written any more."""
        for _ in range(rounds):
            self.collect()
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


def doomed(subject: Task) -> bool:
    """It will not be Closed, however long one waits."""
    status = subject.status
    if is_final(status, subject.spec.max_retries):
        return status.state is not TaskState.CLOSED
    return is_true(status.conditions, "Stalled")
