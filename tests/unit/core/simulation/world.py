"""A cluster in memory: decisions are carried out as the controllers do, pods are played."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.projects.workplace import Workplace
from bernstein.api.session import AgentSession, Stop
from bernstein.api.signals import Signal
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.checks import spec
from bernstein.core import owners
from bernstein.core.actions import (
    AskTask,
    CancelTasks,
    CreateApproval,
    CreatePlan,
    CreateSession,
    CreateTasks,
    DeleteJobs,
    DeleteSession,
    DeleteTask,
    InRepository,
    JobAction,
    KeepCheckLogs,
    KeepVerdicts,
    PlanAction,
    RunBegin,
    RunClose,
    RunFence,
    RunLand,
    RunListen,
    RunPropose,
    RunSeek,
    StopSession,
    TaskAction,
)
from bernstein.core.approvals.decide import ApprovalSnapshot, status_of
from bernstein.core.fsm import is_final
from bernstein.core.jobs import JobView
from bernstein.core.money import spend
from bernstein.core.plans import decide as plan_decide
from bernstein.core.plans.places import view
from bernstein.core.pods import has_started
from bernstein.core.projects import repositories
from bernstein.core.sessions import actions as session_actions
from bernstein.core.sessions import decide as session_decide
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification.expected import required
from bernstein.core.waiting import is_stalled
from tests.unit.core import objects
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import schedule
from tests.unit.core.simulation.apiserver import ApiServer, Refused
from tests.unit.core.simulation.invariants import Invariants
from tests.unit.core.simulation.kubelet import Kubelet
from tests.unit.core.simulation.people import People
from tests.unit.core.simulation.state import Run

OfForges = RunPropose | RunClose | RunListen | RunSeek


class World(ApiServer, People, Kubelet, Invariants):
    def _keep_reports(self, views: tuple[JobView, ...]) -> None:
        """Each once: a second one finds the name taken. There must be a log to read."""
        for job in views:
            assert job.name in self.jobs, "its Job is gone already"
            assert has_started(job.pod or {}, "check"), "it printed nothing"
            if job.name not in self.reports:
                self._write()
                self.reports.add(job.name)

    # --- controllers ------------------------------------------------------------------------

    def reconcile_task(self, name: str, read: Task | None = None) -> bool:
        """Whether anything was written; `read` is an older version that the cache still has."""
        subject = read or self.tasks.get(name)
        if subject is None:
            return False
        before = self.seen.writes
        snapshot = self.task_snapshot(subject)
        decision = task_decide.decide(snapshot, self.now)
        for action in decision.actions:
            if isinstance(action, CreateApproval):
                self._create_approval(action.approval)
            else:
                self._task_action(snapshot, action)
        self.write_task(subject, decision.status)
        return self.seen.writes > before

    def task_snapshot(self, subject: Task) -> TaskSnapshot:
        name = subject.metadata.name
        planned = owners.plan_of(subject) is not None
        here = self.plan if planned else None
        its = repositories.place_of_task(subject, here, whole(self.project)).project
        current = self.sessions.get(subject.status.session or "")
        mine = current is not None and current.spec.task_ref.uid == subject.metadata.uid
        return TaskSnapshot(
            task=subject,
            project=its,
            plan=view.of_task(here, its.spec.repository.name) if here and its else here,
            session=current if mine else None,
            own_sessions=self._own_sessions(subject),
            jobs=self._views(subject.metadata.uid),
            tasks=self.tasks | {name: subject},
            approvals=self._approvals_of(subject.metadata.uid),
        )

    def _own_sessions(self, subject: Task) -> list[AgentSession]:
        uid = subject.metadata.uid
        return [s for s in self.sessions.values() if s.spec.task_ref.uid == uid]

    def reconcile_project(self, stale: Sequence[Task] = ()) -> bool:
        """Whether anything was written; `stale`: older versions that the cache still has."""
        before = self.seen.writes
        read = self.tasks | {t.metadata.name: t for t in stale}
        decided = schedule(self.project_snapshot(read), self.now)
        for subject, status in (*decided.moves, *decided.waits):
            with suppress(Refused):
                self.write_task(subject, status)
        for plan, begins in decided.begins:
            self.write_plan(plan, begins)
        return self.seen.writes > before

    def project_snapshot(self, tasks: Mapping[str, Task]) -> ProjectSnapshot:
        plan, name = self.plan, self.project.metadata.name
        planned = [n for n, t in tasks.items() if owners.plan_of(t) is not None]
        return ProjectSnapshot(
            project=whole(self.project),
            members=[t for t in tasks.values() if t.status.project == name],
            plan_of=dict.fromkeys(planned, plan) if plan is not None else {},
            tasks=tasks,
            sessions=dict(self.sessions),
            beginning=[plan] if plan is not None and plan.status.beginning is not None else [],
        )

    def _task_action(self, snapshot: TaskSnapshot, action: TaskAction) -> None:
        assert not isinstance(action, CreateApproval | CreatePlan | KeepVerdicts | OfForges)
        assert not isinstance(action, CreateTasks | CancelTasks), "no Task is split here"
        match action:
            case CreateSession(session):
                self._create_session(session)
            case StopSession(reason):
                if snapshot.session is not None:
                    self._stop(snapshot.session.metadata.name, reason)
            case DeleteJobs(jobs):
                for job in (each for each in jobs if not each.deleting):
                    self._delete_job(job)
            case KeepCheckLogs(jobs):
                self._keep_reports(jobs)
            case DeleteSession(spare):
                self._write()
                self.delete_session(spare.metadata.name)
            case DeleteTask():
                raise AssertionError("a story takes hours, a Task is kept for days")
            case _:
                if isinstance(action, RunLand):
                    self._may_land(snapshot, action)
                self._create_job(action.job, snapshot.task.metadata.uid, action)

    def _may_land(self, snapshot: TaskSnapshot, wanted: RunLand) -> None:
        """Checks by what pods really said, not by what the status claims."""
        assert wanted.job not in self.jobs or snapshot.task.status.delivery is not None
        if wanted.job in self.jobs:
            return
        assert snapshot.task.spec.cancel is None or self._landing(snapshot.task)
        judged = snapshot.task.status.verification
        assert judged is not None
        assert (judged.sha, judged.tree) == (wanted.sha, wanted.tree)
        if wanted.expect is None:
            return  # it only looks
        uid = snapshot.task.metadata.uid
        asks = self.project.spec.approval.result == "Always"
        assert not asks or (uid, wanted.sha) in self.seen.approved, "nobody has said yes to it"
        self._must_have_passed(wanted.sha, *snapshot.task.spec.completion_signals)

    def _must_have_passed(self, commit: str, *signals: Signal) -> None:
        """All that the Project asks for now, exactly as it asks for it."""
        changed = spec.Subject(
            any_changed=True, python_changed=True, tests_changed=True, deps_changed=True
        )
        asked = required.required_checks(signals, self.project.spec, changed)
        for check in required.executing(asked):
            assert self._has_passed(check, commit), f"{check.name} of {commit}"

    def _has_passed(self, check: spec.CheckSpec, commit: str) -> bool:
        return (check.digest, commit) in self.seen.passed

    def _create_session(self, wanted: dict[str, Any]) -> None:
        self._write()
        name, owner = wanted["metadata"]["name"], wanted["metadata"]["ownerReferences"][0]["uid"]
        taken = self.sessions.get(name)
        if taken is not None:
            if taken.spec.task_ref.uid != owner:
                raise Refused
            return
        self._made += 1
        made = objects.metadata(name, f"uid-{name}-{self._made}", creationTimestamp=self.now)
        self.sessions[name] = AgentSession.model_validate(wanted | {"metadata": made})

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
        launchable = session_decide.is_launchable(subject, of, self.project)
        settled = session_decide.is_settled(subject, of, self.plan)
        decision = session_decide.decide(
            session_decide.SessionSnapshot(subject, job, launchable, settled), self.now
        )
        for action in decision.actions:
            match action:
                case RunFence():
                    self._create_job(name, subject.metadata.uid, action)
                case session_actions.Launch():
                    self._create_job(name, subject.metadata.uid, subject)
                case session_actions.DeleteJob(view):
                    self._delete_job(view)
                case session_actions.ReleasePods():
                    for each in views.values():
                        self._release(each)
                case session_actions.ReleaseSession():
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
        decision = plan_decide.decide(self.plan_snapshot(subject), self.now)
        for action in decision.actions:
            if isinstance(action, InRepository):
                self._in_repository(action.name, action.action)
            else:
                self._plan_action(action)
        self.write_plan(subject, decision.status)
        return self.seen.writes > before

    def plan_snapshot(self, subject: Plan) -> PlanSnapshot:
        return PlanSnapshot(
            plan=subject,
            project=whole(self.project),
            tasks={n: t for n, t in self.tasks.items() if owners.plan_of(t)},
            sessions=[s for s in self.sessions.values() if spend.belongs(s, subject)],
            jobs=self._views("Plan"),
            approvals=self._approvals_of(subject.metadata.uid),
        )

    def _plan_action(self, action: PlanAction) -> None:
        assert not isinstance(action, InRepository), "it is carried out there"
        assert not isinstance(action, KeepVerdicts), "nobody keeps verdicts here"
        assert not isinstance(action, OfForges), "its Project delivers to the branch"
        match action:
            case CreateTasks(made):
                for obj in made:
                    self._create_task(obj)
            case CancelTasks(which, cancel):
                for name in which:
                    self._write()
                    self.cancel(name, cancel)
            case AskTask(name, _, requests):
                self._write()
                self.ask(name, *requests)
            case DeleteJobs(jobs):
                for job in jobs:
                    self._delete_job(job)
            case KeepCheckLogs(jobs):
                self._keep_reports(jobs)
            case CreateApproval(manifest):
                self._create_approval(manifest)
            case _:
                self._plan_job(action)

    def _in_repository(self, name: str, action: RunBegin | JobAction) -> None:
        first = self.project.spec.repositories[0].name
        if isinstance(action, Run):
            self._plan_job(action, "" if name == first else name)
        else:
            self._plan_action(action)

    def _plan_job(self, action: Run, repository: str = "") -> None:
        if isinstance(action, RunLand) and action.job not in self.jobs:
            assert self.plan is not None
            if action.expect is not None:
                self._must_have_passed(action.sha)
        self._create_job(action.job, "Plan", action, repository)

    def reconcile_approval(self, name: str) -> bool:
        subject = self.approvals[name]
        before, about = self.seen.writes, subject.spec.subject
        plan, task = self.plan, self.tasks.get(about.name)
        asks = plan if about.kind == "Plan" else task
        if asks is not None and asks.metadata.uid == about.uid:
            of = plan if task is not None and owners.plan_of(task) is not None else None
            self.write_approval(subject, status_of(ApprovalSnapshot(subject, asks, of), self.now))
        return self.seen.writes > before

    # --- fair runs --------------------------------------------------------------------------

    def settle(self, rounds: int = 50) -> None:
        """Reconciles everything until nothing is written any more.

        Where nothing was since a look, the same look would decide the same: it is left out."""
        looked: dict[tuple[str, str], int] = {}
        for _ in range(rounds):
            if self.collect():
                looked.clear()
            wrote = False
            for look, reconcile in self.reconciles().items():
                if looked.get(look) != self.seen.writes:
                    looked[look] = self.seen.writes
                    wrote |= self._quietly(reconcile)
            if not wrote:
                self.quiet()
                return
        raise AssertionError("it never settles")

    def reconciles(self) -> dict[tuple[str, str], Callable[[], bool]]:
        """One look at each object there is, by its kind and name."""
        return {
            ("Plan", ""): self.reconcile_plan,
            ("Project", ""): self.reconcile_project,
            **{("Task", n): partial(self.reconcile_task, n) for n in self.tasks},
            **{("Session", n): partial(self.reconcile_session, n) for n in self.sessions},
            **{("Approval", n): partial(self.reconcile_approval, n) for n in self.approvals},
        }

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
            moved = [self.play(name, self.fates.get(name, "healed")) for name in list(self.jobs)]
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


def whole(project: Project) -> Project:
    """With all of its repositories, as it is now."""
    if not isinstance(project, Workplace):
        return project
    return project.whole.model_copy(update={"status": project.status})


def doomed(subject: Task) -> bool:
    """It will not be Closed, however long one waits."""
    status = subject.status
    if is_final(status, subject.spec.max_retries):
        return status.state is not TaskState.CLOSED
    return is_stalled(status)
