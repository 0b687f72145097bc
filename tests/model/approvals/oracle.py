"""What must hold of people's decisions: nothing that a person must approve is done without, and an
approval is worth exactly what it was about.

A policy may change at any moment. What was asked of the operator is what every policy has asked for
since shortly before it made the Job.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from bernstein.api import plan, task
from bernstein.api.pod import BEGIN, Changed
from bernstein.core import owners
from bernstein.core.approvals.plans import digest_of
from bernstein.core.verification.candidate import origin_of
from bernstein.kube.resource import JOBS, Key, Object, uid_of
from bernstein.resources import PLANS, TASKS
from tests.model.approvals.approvers import Approved, Approvers
from tests.model.approvals.policies import Policies
from tests.model.approvals.risks import Commits, Rules
from tests.model.cluster.programs import Run
from tests.model.cluster.store import NAMESPACE, Store
from tests.model.oracles import SOON_SECONDS, Oracles
from tests.model.people import People

T = TypeVar("T")


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
        self._costs: dict[str, list[tuple[float, str | None]]] = {}
        """What each Plan may cost, and since when; by its uid."""
        self._plans: dict[str, plan.PlanSpec] = {}
        """Of every Plan that ever was, by uid."""
        self._commits = Commits()
        store.hooks.append(self._note)

    def _note(self, resource: object, old: Object | None, new: Object | None) -> None:
        if new is None or resource not in (PLANS, TASKS):
            return
        if resource == PLANS:
            found, uid = plan.parse(new), uid_of(new)
            forecast = found.status.estimate
            self._plans[uid] = found.spec
            self._add(self._would.setdefault(uid, []), digest_of(found.spec))
            self._add(self._costs.setdefault(uid, []), forecast.cost_usd if forecast else None)
        if _asked(old) != _asked(new) and _asked(new) is not None:
            self._is_asked_for_a_reason(resource, new)

    def _add(self, known: list[tuple[float, T]], value: T) -> None:
        if not known or known[-1][1] != value:
            known.append((self._kept.seconds, value))

    def _is_asked_for_a_reason(self, resource: object, new: Object) -> None:
        """Whoever is asked may say how: nobody is asked about what every policy of late lets on."""
        since = self._kept.seconds - SOON_SECONDS
        if resource == PLANS:
            asks = any(
                rules.ask_about_plan(cost)
                for rules in self._rules(uid_of(new), since)
                for cost in _since(self._costs[uid_of(new)], since)
            )
        else:
            found = task.parse(new)
            asked = found.status.approval
            assert asked is not None
            asks = asked.asks.gate is not None or any(
                rules.ask_about_work(found.spec, said)
                for rules in self._rules(owners.plan_uid(found), since)
                for said in self._commits.of(str(asked.asks.sha))
            )
        self.must(asks, "a person is asked for a reason", new["metadata"]["name"])

    def _rules(self, plan_uid: str | None, since: float) -> list[Rules]:
        """All that have held since then, for a Plan and its Tasks, or for a Task without one."""
        of_plan = self._plans.get(plan_uid) if plan_uid is not None else None
        own = of_plan.approval if of_plan is not None else None
        return [rules.beside(own) for rules in self._policies.during(since)]

    def made(self, sha: str, changed: Changed, protected: frozenset[str]) -> None:
        self._commits.told(sha, changed, protected)

    def started(self, run: Run) -> None:
        super().started(run)
        if run.role != BEGIN:
            return
        since = self._decided_after(run)
        costs = _since(self._costs.get(run.owner, []), since)
        rules = self._rules(run.owner, since)
        if not all(each.ask_about_plan(cost) for each in rules for cost in costs):
            return
        would = _since(self._would.get(run.owner, []), since)
        author = self._author(run.owner)
        said_yes = any(
            yes.uid == run.owner and yes.digest in would and _is_another(yes, author, rules)
            for yes in self._approvers.approved
        )
        self.must(said_yes, "a Plan begins when a person has said yes", run.job)

    def pushed(self, run: Run, onto: str, sha: str) -> None:
        super().pushed(run, onto, sha)
        found, since = self._of_uid(run.owner), self._decided_after(run)
        if found is None:
            return
        rules, said = self._rules(owners.plan_uid(found), since), self._commits.of(sha)
        self._bypassed(run, found, since, rules)
        self.must(bool(said), "what lands was told of", f"{run.job}: {sha[:8]}")
        if not all(each.ask_about_work(found.spec, told) for each in rules for told in said):
            return
        judged = found.status.verification
        assert judged is not None
        of = (run.owner, found.status.attempt, origin_of(judged).sha)
        asked = Approved(*of, sha, judged.base, judged.digest or judged.tree, None, by="")
        author = self._author_of(found)
        said_yes = any(
            _covers(yes, asked, rules) and _is_another(yes, author, rules)
            for yes in self._approvers.approved
        )
        self.must(said_yes, "work lands when a person has said yes to exactly it", run.job)

    def _bypassed(self, run: Run, found: task.Task, since: float, rules: list[Rules]) -> None:
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
                and _is_another(yes, author, rules)
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

    def _author_of(self, found: task.Task) -> str | None:
        uid = owners.plan_uid(found)
        return found.spec.author if uid is None else self._author(uid)

    def _author(self, plan_uid: str) -> str | None:
        plans = (plan.parse(p).spec for p in self._kept.all(PLANS) if uid_of(p) == plan_uid)
        return next((spec.author for spec in plans), None)

    def _of_uid(self, uid: str) -> task.Task | None:
        return next((task.parse(t) for t in self._kept.all(TASKS) if uid_of(t) == uid), None)


def _is_another(yes: Approved, author: str | None, rules: list[Rules]) -> bool:
    """Whether it is not the author's own, where that was asked for."""
    strict = all(each.policy.approver_is_not_author for each in rules)
    return not strict or author not in (None, yes.by)


def _covers(yes: Approved, asked: Approved, rules: list[Rules]) -> bool:
    kept = any(each.policy.moved_base == "Keep" for each in rules)
    if kept and yes.base != asked.base and yes.gate is None:
        return (yes.uid, yes.attempt, yes.work) == (asked.uid, asked.attempt, asked.work)
    return yes._replace(by="") == asked


def _asked(obj: Object | None) -> Object | None:
    """What its status asks people: not why, and not what has come of that."""
    asked = obj.get("status", {}).get("approval") if obj is not None else None
    return asked and {"name": asked["name"], "asks": asked["asks"]}


def _since(known: list[tuple[float, T]], since: float) -> list[T]:
    """What was so at any time since then, in seconds of the store."""
    older = [value for at, value in known if at <= since]
    return [*older[-1:], *(value for at, value in known if at > since)]
