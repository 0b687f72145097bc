"""What must hold of people's decisions: nothing that a person must approve is done without, and an
approval is worth exactly what it was about.

A policy may change at any moment. What was asked of the operator is what every policy has asked for
since shortly before it made the Job.
"""

from __future__ import annotations

from datetime import datetime

from bernstein.api import plan, task
from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.pod import BEGIN
from bernstein.core import owners
from bernstein.core.approvals.plans import digest_of
from bernstein.core.verification.candidate import origin_of
from bernstein.kube.resource import JOBS, Key, Object, uid_of
from bernstein.resources import PLANS, TASKS
from tests.model.approvals.approvers import Approved, Approvers
from tests.model.approvals.policies import Policies
from tests.model.cluster.programs import Run
from tests.model.cluster.store import NAMESPACE, Store
from tests.model.oracles import SOON_SECONDS, Oracles
from tests.model.people import People


class OraclesOfDecisions(Oracles):
    """All rules, and those about people's decisions."""

    def __init__(
        self, store: Store, people: People, approvers: Approvers, policies: Policies
    ) -> None:
        super().__init__(store, people)
        self._kept = store
        self._approvers = approvers
        self._policies = policies
        self._would: dict[str, list[tuple[float, str]]] = {}
        """What each Plan would do, as a digest, and since when; by the Plan's uid."""
        store.hooks.append(self._note)

    def _note(self, resource: object, _: Object | None, new: Object | None) -> None:
        if resource == PLANS and new is not None:
            of_plan, digest = self._would.setdefault(uid_of(new), []), digest_of(_spec(new))
            if not of_plan or of_plan[-1][1] != digest:
                of_plan.append((self._kept.seconds, digest))

    def started(self, run: Run) -> None:
        super().started(run)
        if run.role != BEGIN:
            return
        since = self._decided_after(run)
        if any(policy.plan != "Always" for policy in self._policies.during(since)):
            return
        known = self._would.get(run.owner, [])
        older = [digest for at, digest in known if at <= since]
        would = {*older[-1:], *(digest for at, digest in known if at > since)}
        found = next((p for p in self._kept.all(PLANS) if uid_of(p) == run.owner), None)
        author = _spec(found).author if found is not None else None
        said_yes = any(
            yes.uid == run.owner and yes.digest in would and self._is_another(yes, author, since)
            for yes in self._approvers.approved
        )
        self.must(said_yes, "a Plan begins when a person has said yes", run.job)

    def pushed(self, run: Run, onto: str, sha: str) -> None:
        super().pushed(run, onto, sha)
        found, since = self._of_uid(run.owner), self._decided_after(run)
        policies = self._policies.during(since)
        if found is not None:
            self._bypassed(run, found, since)
        if found is None or any(policy.result == "Never" for policy in policies):
            return
        judged = found.status.verification
        assert judged is not None
        of = (run.owner, found.status.attempt, origin_of(judged).sha)
        asked = Approved(*of, sha, judged.base, judged.digest or judged.tree, None, by="")
        author = self._author_of(found)
        said_yes = any(
            _covers(yes, asked, policies) and self._is_another(yes, author, since)
            for yes in self._approvers.approved
        )
        self.must(said_yes, "work lands when a person has said yes to exactly it", run.job)

    def _bypassed(self, run: Run, found: task.Task, since: float) -> None:
        """Each gate without which it lands is one that a person has let exactly this go on without,
        where that was allowed."""
        judged, author = found.status.verification, self._author_of(found)
        assert judged is not None
        of = (run.owner, found.status.attempt, origin_of(judged).sha, judged.sha, judged.base)
        for result in judged.checks:
            if result.verdict != "Bypassed":
                continue
            said_yes = any(
                (yes.uid, yes.attempt, yes.work, yes.sha, yes.base, yes.gate) == (*of, result.name)
                and self._is_another(yes, author, since)
                for yes in self._approvers.approved
            )
            what = "a gate is bypassed when a person has said so of exactly this"
            self.must(said_yes, what, f"{run.job}: {result.name}")
            allowed = self._policies.allowed_bypass(since)
            self.must(allowed, "a gate is bypassed where that is allowed", run.job)

    def _decided_after(self, run: Run) -> float:
        """The oldest moment at which the operator's caches may have been when it made the Job."""
        job = self._kept.find(JOBS, Key(NAMESPACE, run.job))
        assert job is not None
        made = datetime.fromisoformat(job["metadata"]["creationTimestamp"])
        age = (self._kept.now() - made).total_seconds()
        return self._kept.seconds - age - SOON_SECONDS

    def _is_another(self, yes: Approved, author: str | None, since: float) -> bool:
        """Whether it is not the author's own, where that was asked for."""
        strict = all(policy.approver_is_not_author for policy in self._policies.during(since))
        return not strict or author not in (None, yes.by)

    def _author_of(self, found: task.Task) -> str | None:
        uid = owners.plan_uid(found)
        if uid is None:
            return found.spec.author
        plans = (_spec(p).author for p in self._kept.all(PLANS) if uid_of(p) == uid)
        return next(plans, None)

    def _of_uid(self, uid: str) -> task.Task | None:
        return next((task.parse(t) for t in self._kept.all(TASKS) if uid_of(t) == uid), None)


def _covers(yes: Approved, asked: Approved, policies: list[ApprovalPolicy]) -> bool:
    kept = any(policy.moved_base == "Keep" for policy in policies)
    if kept and yes.base != asked.base and yes.gate is None:
        return (yes.uid, yes.attempt, yes.work) == (asked.uid, asked.attempt, asked.work)
    return yes._replace(by="") == asked


def _spec(obj: Object) -> plan.PlanSpec:
    return plan.parse(obj).spec
