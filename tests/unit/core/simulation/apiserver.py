"""The API server: what it takes and keeps, what it refuses, and its garbage collector."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from bernstein.api.approvals.approval import Approval
from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession
from bernstein.api.states import (
    SESSION_INITIAL,
    SESSION_MOVES,
    TASK_INITIAL,
    TASK_MOVES,
    SessionState,
)
from bernstein.api.task import Task
from bernstein.core.actions import RunFence
from bernstein.core.jobs import JobView
from tests.unit.core import objects
from tests.unit.core.simulation.state import Job, Run, State


class Crash(Exception):  # noqa: N818 - it stands for a SIGKILL
    """The operator dies before its next write."""


class Refused(Exception):  # noqa: N818
    """The API server does not take a write; the reconcile ends and is repeated."""


class ApiServer(State):
    """Every write goes through here, so that a crash can come before any of them. Only what a
    status dumps survives."""

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
        before = new.status.round.since if new.status.round is not None else 0
        assert new.status.attempt <= before + 1 + new.spec.max_retries
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
        stays = read.status.ended_at is None or read.status.phase == status.phase
        assert stays or read.spec.requests, "only who asks for it has it go on"
        self.plan = Plan.model_validate(read.dump() | {"status": status.dump()})
        return True

    def _create_job(
        self, name: str, owner: str, wants: Run | AgentSession, repository: str = ""
    ) -> None:
        self._write()
        existing = self.jobs.get(name)
        if existing is not None:
            fenced = isinstance(wants, RunFence) or isinstance(existing.wants, RunFence)
            other = existing.owner != owner or (existing.wants != wants and not fenced)
            if existing.deleting or other:
                raise Refused
            return
        self._made += 1
        job = Job(name, f"uid-job-{self._made}", owner, wants, self.now, repository=repository)
        self.jobs[name] = job

    def _delete_job(self, view: JobView) -> None:
        self._write()
        job = self.jobs.get(view.name)
        if job is not None and job.uid == view.uid:
            job.deleting = True

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

    def _create_approval(self, manifest: dict[str, Any]) -> None:
        self._write()
        name = manifest["metadata"]["name"]
        if name not in self.approvals:
            meta = manifest["metadata"] | {"uid": f"uid-{name}", "creationTimestamp": self.now}
            made = manifest | {"metadata": meta | {"generation": 1}}
            self.approvals[name] = Approval.model_validate(made)

    def write_approval(self, read: Approval, status: Any) -> None:
        if status.dump() == read.status.dump():
            return
        self._write()
        update = {"status": status}
        self.approvals[read.metadata.name] = read.model_copy(update=update)

    def _approvals_of(self, uid: str) -> dict[str, Approval]:
        return {n: a for n, a in self.approvals.items() if a.spec.subject.uid == uid}

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

    def delete_session(self, name: str) -> None:
        found = self.sessions[name]
        meta = found.metadata.model_copy(update={"deletion_timestamp": self.now})
        self.sessions[name] = found.model_copy(update={"metadata": meta})

    def collect(self) -> bool:
        """What the garbage collector does; whether it did anything."""
        before = self._kept()
        living = {t.metadata.uid for t in self.tasks.values()}
        going = {
            t.metadata.uid
            for t in self.tasks.values()
            if t.metadata.deletion_timestamp and not t.metadata.finalizers
        }
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
        return self._kept() != before

    def _kept(self) -> tuple[int, ...]:
        """Whatever it does makes one of these less."""
        sessions = (s.metadata.deletion_timestamp is None for s in self.sessions.values())
        return len(self.tasks), sum(sessions), sum(not j.deleting for j in self.jobs.values())
