"""What people do, at any moment."""

from __future__ import annotations

from typing import Any

from bernstein.api.approvals.approval import APPROVE, ApprovalState
from bernstein.api.project import Project
from bernstein.api.requests import TaskRequest
from bernstein.api.task import TaskStatus
from bernstein.api.waiting import Cancel
from tests.unit.core.simulation.state import State

NOT_NEEDED = Cancel(reason="not needed")


class People(State):
    """They know nothing of what the operator is doing."""

    def cancel(self, name: str, cancel: Cancel = NOT_NEEDED) -> None:
        found = self.tasks[name]
        if found.spec.cancel is None:
            spec = found.spec.model_copy(update={"cancel": cancel})
            self.tasks[name] = found.model_copy(update={"spec": spec})

    def ask(self, name: str, *requests: TaskRequest) -> None:
        """The Task's requests are these from now on."""
        found = self.tasks[name]
        spec = found.spec.model_copy(update={"requests": requests})
        self.tasks[name] = found.model_copy(update={"spec": spec})

    def decide(self, name: str, decision: str, reason: str | None = None) -> None:
        """About what this Approval asks; the API server takes the first decision alone."""
        found = self.approvals[name]
        if found.spec.decision is None and found.status.state is ApprovalState.PENDING:
            said = {"decision": decision, "decided_by": "ann", "reason": reason}
            spec = found.spec.model_copy(update=said)
            self.approvals[name] = found.model_copy(update={"spec": spec})
            if decision == APPROVE:
                self.seen.approved.add((spec.subject.uid, spec.asks.sha))

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
