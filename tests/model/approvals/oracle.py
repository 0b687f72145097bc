"""What must hold of people's decisions: nothing that a person must approve is done without, and an
approval is worth exactly what it was about."""

from __future__ import annotations

from bernstein.api import project, task
from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.pod import AGENT
from bernstein.core import owners
from bernstein.core.verification.candidate import origin_of
from bernstein.kube.resource import uid_of
from bernstein.resources import PROJECTS, TASKS
from tests.model.approvals.approvers import Approved, Approvers
from tests.model.cluster.programs import Run
from tests.model.cluster.store import Store
from tests.model.oracles import Oracles
from tests.model.people import People


class OraclesOfDecisions(Oracles):
    """All rules, and those about people's decisions. The policy of the Project never changes."""

    def __init__(self, store: Store, people: People, approvers: Approvers) -> None:
        super().__init__(store, people)
        self._kept = store
        self._approvers = approvers

    def started(self, run: Run) -> None:
        super().started(run)
        found = self._of_uid(self._task_of.get(run.owner, ""))
        plan = owners.plan_uid(found) if found is not None else None
        if run.role != AGENT or plan is None or self._policy().plan != "Always":
            return
        said_yes = any(approved.uid == plan for approved in self._approvers.approved)
        self.must(said_yes, "a Plan begins when a person has said yes", run.job)

    def pushed(self, run: Run, onto: str, sha: str) -> None:
        super().pushed(run, onto, sha)
        found = self._of_uid(run.owner)
        if found is None or self._policy().result == "Never":
            return
        judged = found.status.verification
        assert judged is not None
        of = (run.owner, found.status.attempt, origin_of(judged).sha)
        asked = Approved(*of, sha, judged.base, judged.digest or judged.tree)
        said_yes = any(self._covers(yes, asked) for yes in self._approvers.approved)
        self.must(said_yes, "work lands when a person has said yes to exactly it", run.job)

    def _covers(self, yes: Approved, asked: Approved) -> bool:
        if self._policy().moved_base == "Keep" and yes.base != asked.base:
            return (yes.uid, yes.attempt, yes.work) == (asked.uid, asked.attempt, asked.work)
        return yes == asked

    def _policy(self) -> ApprovalPolicy:
        (found,) = self._kept.all(PROJECTS)
        return project.parse(found).spec.approval

    def _of_uid(self, uid: str) -> task.Task | None:
        return next((task.parse(t) for t in self._kept.all(TASKS) if uid_of(t) == uid), None)
