"""Plays stories of workflows with what is decided about a whole Plan: Tasks are made, end, and
people say yes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bernstein.api.approvals.approval import Approval
from bernstein.api.integration import Integration
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import Output, Task, TaskStatus
from bernstein.core import names, progress
from bernstein.core.actions import CancelTasks, CreateApproval, CreateTasks, PlanDecision
from bernstein.core.documents.values import Json
from bernstein.core.plans.decide import decide
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.waiting import waits
from tests.unit.core import objects
from tests.unit.core.objects import BASE, at
from tests.unit.core.plans.workflows.stories.story import Outcome, Story

STATES = {
    "done": TaskState.CLOSED,
    "failed": TaskState.FAILED,
    "cancelled": TaskState.CANCELLED,
}
Dies = Callable[[], bool]
"""Whether the operator dies at this moment."""


def never() -> bool:
    return False


@dataclass
class World:
    """One Plan, as a controller sees it that may die between any two writes."""

    plan: Plan
    dies: Dies = never
    tasks: dict[str, Task] = field(default_factory=dict)
    sessions: dict[str, AgentSession] = field(default_factory=dict)
    approvals: dict[str, Approval] = field(default_factory=dict)
    outputs: dict[str, Json] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Phases that people were asked about."""
    more: dict[str, Any] = field(default_factory=dict)
    """Of each snapshot."""
    seconds: float = 0.0

    @staticmethod
    def of(story: Story, dies: Dies = never, **spec: Any) -> World:
        fields = {"stages": (), "workflow": story.workflow.model_dump(), **spec}
        return World(objects.plan(begun=False, **fields), dies)

    @property
    def now(self) -> datetime:
        return at(self.seconds)

    @property
    def status(self) -> PlanStatus:
        return self.plan.status

    @property
    def order(self) -> str:
        return " ".join(f"{row.node}#{row.run}" for row in self.status.tasks)

    def snapshot(self) -> PlanSnapshot:
        sessions = tuple(self.sessions.values())
        fields = {"sessions": sessions, "approvals": self.approvals, "outputs": self.outputs}
        return objects.plan_snapshot(self.plan, *self.tasks.values(), **fields | self.more)

    # --- the operator

    def settle(self) -> None:
        """Until nothing more is to be done."""
        for _ in range(200):
            if not self.look():
                return
        raise AssertionError("it never settles")

    def look(self) -> bool:
        """One reconcile, in which it may die; whether anything has changed."""
        self.seconds += 1
        decision = decide(self.snapshot(), self.now)
        changed = False
        for action in decision.actions:
            if self.dies():
                return True
            changed |= self.execute(action)
        if decision.status == self.status:
            return changed
        if self.dies():
            return True
        self.write(decision)
        return True

    def write(self, decision: PlanDecision) -> None:
        status = PlanStatus.model_validate_json(decision.status.model_dump_json(by_alias=True))
        if status.expanded and status.integration is None and not status.repositories:
            ref = names.integration_ref(objects.PLAN_UID)
            begun = Integration(ref=ref, target="refs/heads/main", target_sha=BASE)
            status = status.model_copy(update={"integration": begun, "waiting": None})
        self.plan = self.plan.model_copy(update={"status": status})

    def execute(self, action: object) -> bool:
        match action:
            case CreateTasks(objects=made):
                return sum(self.make(obj) for obj in made) > 0
            case CreateApproval(approval=made):
                approval = Approval.model_validate(made)
                self.approvals[approval.metadata.name] = approval
                phase = approval.spec.asks.phase
                assert phase is not None
                self.asked.append(phase)
                return True
            case CancelTasks(names=told):
                for name in told:
                    self.end(name, Outcome("cancelled"))
                return True
        return False

    def make(self, obj: dict[str, Any]) -> bool:
        name = obj["metadata"]["name"]
        if name in self.tasks:
            return False
        meta = objects.metadata(name, f"uid-{name}") | obj["metadata"]
        task = Task.model_validate({**obj, "metadata": meta})
        self.tasks[name] = self._with(task, objects.status(TaskState.OPEN))
        return True

    # --- what happens

    def end(self, name: str, outcome: Outcome) -> None:
        """The Task's last agent has left this, and it has come to that end."""
        task = self.tasks[name]
        session = f"{name}-s1"
        left = None
        if outcome.output is not None:
            left = Output(session=session, bytes=2, sha256=f"{session}-digest")
            self.outputs[left.sha256] = outcome.output
        reason = {"reason": "Succeeded", "text": outcome.result or ""}
        made = objects.session(task=name, outcome=reason)
        meta = made.metadata.model_copy(update={"name": session, "uid": f"uid-{session}"})
        its = made.spec.task_ref.model_copy(update={"name": name, "uid": task.metadata.uid})
        spec = made.spec.model_copy(update={"task_ref": its})
        self.sessions[session] = made.model_copy(update={"metadata": meta, "spec": spec})
        state = STATES[outcome.status]
        status = objects.status(state, attempt=1, session=session, output=left)
        self.tasks[name] = self._with(task, status)

    def stall(self, name: str, reason: str) -> None:
        """The Task waits for a person because of that."""
        task = self.tasks[name]
        status = waits(task.status, reason, "it stands still", self.now, needs_person=True)
        self.tasks[name] = self._with(task, progress.of_task(task, status, self.now))

    def running(self) -> list[str]:
        """Tasks that go on, those that were made first first."""
        nodes = self.status.workflow.nodes if self.status.workflow is not None else ()
        current = {node.task for node in nodes if node.state == "Running"}
        return [
            row.name
            for row in self.status.tasks
            if row.name in current and self.tasks[row.name].status.state is TaskState.OPEN
        ]

    def decide(self, decision: str) -> bool:
        """A person decides about the first question that waits; whether there was one."""
        for name, approval in self.approvals.items():
            if approval.spec.decision is None:
                told = {"decision": decision, "decided_by": "ann"}
                spec = approval.spec.model_copy(update=told)
                self.approvals[name] = approval.model_copy(update={"spec": spec})
                return True
        return False

    def go(self, story: Story) -> None:
        """To the end of the story."""
        self.settle()
        while True:
            going = self.running()
            quick = [name for name in going if self._node(name) not in story.slow]
            if going:
                name = (quick or going)[0]
                row = next(row for row in self.status.tasks if row.name == name)
                self.end(name, story.outcome(row.node or "", row.run or 0))
            elif not self.decide("Approve"):
                return
            self.settle()

    def _node(self, task: str) -> str | None:
        return next(row.node for row in self.status.tasks if row.name == task)

    @staticmethod
    def _with(task: Task, status: TaskStatus) -> Task:
        return task.model_copy(update={"status": status})


def states(status: PlanStatus) -> dict[str, str]:
    assert status.workflow is not None
    return {node.name: node.state for node in status.workflow.nodes}
