"""What must hold after every single write."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from bernstein.api.approvals.approval import APPROVE
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.requests import REMERGE
from bernstein.api.session import AgentSessionStatus
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core import owners
from bernstein.core.conditions import find
from bernstein.core.fsm import ACTIVE, is_final
from bernstein.core.money import spend
from bernstein.core.waiting import is_stalled
from tests.unit.core.money.reckoned import reckoned
from tests.unit.core.scheduling.overlap import overlap
from tests.unit.core.simulation.state import COST, TARGET, State


class Invariants(State):
    def check(self) -> None:
        self._one_session_each()
        self._limits()
        for subject in self.tasks.values():
            self._task_holds(subject)
        if self.plan is not None:
            self._plan_holds(self.plan)

    def quiet(self) -> None:
        """Nobody writes anything any more: all is over, at work, or says what it waits for."""
        for subject in self.tasks.values():
            status, uid = subject.status, subject.metadata.uid
            asks = status.state is TaskState.CLAIMED  # for its session, whoever refuses it
            over = is_final(status, subject.spec.max_retries)
            going = subject.metadata.deletion_timestamp is not None
            if not (asks or over or going) and status.waiting is None:
                assert self._at_work(uid), f"{subject.metadata.name}: {status.state}"
        if self.plan is not None and self.plan.status.ended_at is None:
            moves = any(t.status.state in ACTIVE for t in self.tasks.values())
            moves = moves or any(self._at_work(t.metadata.uid) for t in self.tasks.values())
            waits = self.plan.status.waiting is not None
            assert waits or moves or self._at_work("Plan"), self.plan.status.phase

    def _at_work(self, uid: str) -> bool:
        mine = (uid, *self._sessions_of(uid))
        alive = any(
            s.status.state is not SessionState.DEAD
            for s in self.sessions.values()
            if s.spec.task_ref.uid == uid
        )
        return alive or any(j.owner in mine for j in self.jobs.values())

    def _one_session_each(self) -> None:
        alive = Counter(
            s.spec.task_ref.uid
            for s in self.sessions.values()
            if s.status.state is not SessionState.DEAD
        )
        assert all(count == 1 for count in alive.values()), alive
        at_work = Counter(j.task for j in self.jobs.values() if j.role == "agent" and j.runs)
        assert all(count == 1 for count in at_work.values()), at_work

    def _limits(self) -> None:
        active = [t for t in self.tasks.values() if t.status.state in ACTIVE]
        assert len(active) <= self.project.spec.limits.max_agents
        if self.plan is not None and self.plan.spec.max_agents is not None:
            planned = [t for t in active if owners.plan_of(t)]
            assert len(planned) <= self.plan.spec.max_agents
        for i, one in enumerate(active):
            for other in active[i + 1 :]:
                assert not overlap(one.spec.files, other.spec.files)
        landing_now = Counter(
            (owners.plan_uid(t), t.status.delivery and t.status.delivery.onto)
            for t in self.tasks.values()
            if self._landing(t) and not is_stalled(t.status)
        )
        assert all(count == 1 for count in landing_now.values()), "landing is serial"

    @staticmethod
    def _landing(subject: Task) -> bool:
        return subject.status.delivery is not None and subject.status.delivery.step == "Landing"

    def _task_holds(self, subject: Task) -> None:
        status, uid = subject.status, subject.metadata.uid
        consistent(status)
        over = is_final(status, subject.spec.max_retries)
        assert over == (status.ended_at is not None), (status.state, status.ended_at)
        says_why(subject)
        if status.state is TaskState.CANCELLED:
            assert not any(
                j.runs for j in self.jobs.values() if j.owner in (uid, *self._sessions_of(uid))
            ), "cancelled, but a pod runs"
            assert not self.seen.landed_by[uid], "cancelled, but it landed"
        if status.state is TaskState.CLOSED:
            assert status.delivery is not None
            assert status.delivery.state in ("Merged", "NoChange")
            if status.delivery.state == "Merged":
                assert (status.delivery.onto, status.delivery.sha) in self.seen.landed
        runs = self.seen.spent[uid]
        assert Decimal(status.spend_usd) <= COST * runs, "spend is counted twice"
        assert runs <= (1 + subject.spec.max_retries) * 6, "it runs for nothing without end"

    def _sessions_of(self, uid: str) -> list[str]:
        return [s.metadata.uid for s in self.sessions.values() if s.spec.task_ref.uid == uid]

    def _plan_holds(self, subject: Plan) -> None:
        consistent(subject.status)
        known = COST * self.seen.recorded
        assert self.spend_of_plan() == known, "a session is lost or counted twice"
        assert Decimal(subject.status.spend_usd) <= known
        if subject.status.phase == "Cancelled":
            assert not self.seen.landed_by["Plan"], "cancelled, but it was delivered"
        if subject.status.phase == "Succeeded":
            rows = subject.status.repositories
            targets = {row.name: row.integration.target for row in rows if row.integration}
            for one in self.tasks.values():
                if owners.plan_of(one):
                    onto = targets.get(one.spec.repo or "", TARGET)
                    self._is_delivered(one, self.remote.refs[onto])

    def spend_of_plan(self) -> Decimal:
        """What a budget counts."""
        assert self.plan is not None
        planned = {n: t for n, t in self.tasks.items() if owners.plan_of(t)}
        sessions = [s for s in self.sessions.values() if spend.belongs(s, self.plan)]
        return reckoned(self.plan.status, planned, sessions, self.project)

    def _is_delivered(self, subject: Task, target: str) -> None:
        delivered = subject.status.delivery
        assert delivered is not None
        if delivered.state == "Merged":
            assert self.remote.contains(target, delivered.sha or "")


def consistent(status: TaskStatus | PlanStatus | AgentSessionStatus) -> None:
    """At work, in need of a person, or over: never two of them at once, but for a failed end.

    It needs a person exactly when it waits for one, and says so with the same words. It has
    Succeeded, True or False, exactly when it has ended: `kubectl wait` looks for either.
    """
    kinds = {c.type: c.status for c in status.conditions}
    assert len(kinds) == len(status.conditions)
    if isinstance(status, AgentSessionStatus):
        return
    stall, waiting = find(status.conditions, "Stalled"), status.waiting
    assert is_stalled(status) == (kinds.get("Stalled") == "True"), (waiting, kinds)
    if stall is not None and waiting is not None:
        assert (stall.reason, stall.message) == (waiting.reason, waiting.message)
    assert not ("Reconciling" in kinds and "Stalled" in kinds), kinds
    assert not ("Reconciling" in kinds and "Succeeded" in kinds), kinds
    if kinds.get("Succeeded") == "True":
        assert "Stalled" not in kinds
    assert (status.ended_at is not None) == ("Succeeded" in kinds), kinds
    if isinstance(status, TaskStatus):
        well = kinds.get("Succeeded") == "True"
        assert well == (status.state is TaskState.CLOSED), (status.state, kinds)
    else:
        assert (kinds.get("Succeeded") == "True") == (status.phase == "Succeeded"), kinds
        if status.phase == "Failed":
            assert kinds.get("Succeeded") == "False", (status.phase, kinds)


def _is_let_on(status: TaskStatus) -> bool:
    """A person has said so, and its next look goes on."""
    answers, asked = status.requests or (), status.approval
    approved = asked is not None and asked.decision == APPROVE
    return approved or (bool(answers) and answers[-1].verb == REMERGE)


def says_why(subject: Task) -> None:
    """A Task that is verified and has no turn says what it waits for."""
    status = subject.status
    judged, landing = status.verification, status.delivery
    if status.state is TaskState.DONE and judged is not None and judged.passed:
        moves = landing is not None and landing.step is not None
        assert status.waiting is not None or moves or _is_let_on(status)
    if status.state in (TaskState.CLOSED, TaskState.CANCELLED, TaskState.IN_PROGRESS):
        assert status.waiting is None
