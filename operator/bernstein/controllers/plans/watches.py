"""What concerns a Plan: its Tasks, sessions and Jobs, its Project, and who has a name it needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial

from bernstein.api.reasons import Reason
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.controllers import crowds
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import PROPOSED
from bernstein.controllers.predicates import (
    gone,
    of_jobs,
    pod_matters,
    readiness_changed,
    secrets_turned_up,
    spec_changed,
    watch_changed,
)
from bernstein.controllers.wiring import Watch, own
from bernstein.core import labels
from bernstein.kube.reconcile import controller_key, label_key
from bernstein.kube.resource import Key, Object, is_deleting, key_of
from bernstein.resources import PLANS

PAUSE_SECONDS = 1.0
"""A Plan of thousands of Tasks is looked at as a whole: what they do in this time is one look."""
_TALLY = ("tasks", "counts", "usage", "spendUsd", "currentStage")
"""Fields of its status that only tell of its Tasks."""


def pause(_old: Object | None, new: Object | None) -> float:
    """Of an event of one of its Tasks: what is gone or being deleted may need another."""
    return 0.0 if new is None or is_deleting(new) else PAUSE_SECONDS


def pause_after_tally(old: Object | None, new: Object | None) -> float:
    """Of an event of the Plan itself: one that only tells of its Tasks asks for nothing at once."""
    same = old is not None and new is not None and _but_for_tally(old) == _but_for_tally(new)
    return PAUSE_SECONDS if same else 0.0


def _but_for_tally(plan: Object) -> tuple[object, ...]:
    meta, status = plan["metadata"], plan.get("status", {})
    rest = {field: value for field, value in status.items() if field not in _TALLY}
    return meta["uid"], meta.get("generation"), is_deleting(plan), rest


def watches(caches: Caches) -> Iterable[Watch]:
    plans, tasks, projects = caches.plans, caches.tasks.informer, caches.projects

    def beside(changed: Object) -> Collection[Key]:
        """All that go on: they may belong to another Project now, or to none."""
        namespace = key_of(changed).namespace
        return [Key(namespace, name) for name in plans.going(namespace)]

    def proposed(project: Object) -> Collection[Key]:
        """Plans of the Project that wait for a pull request."""
        return plans.keys_of_project(PROPOSED, key_of(project))

    def in_conflict(task: Object) -> Collection[Key]:
        """Plans that wait for a name that this Task may have had."""
        return [
            Key(plan.metadata.namespace, plan.metadata.name)
            for plan in plans.going(key_of(task).namespace).values()
            if plan.status.waiting is not None
            and plan.status.waiting.reason == Reason.NAME_CONFLICT
        ]

    def invalid_beside(role: Object) -> Collection[Key]:
        """Plans with problems: one of them may have been that nobody knew the role."""
        there = plans.going(key_of(role).namespace).values()
        return [
            Key(plan.metadata.namespace, plan.metadata.name)
            for plan in there
            if plan.status.phase == "Invalid"
        ]

    yield Watch(caches.roles.informer, invalid_beside, when=spec_changed)
    yield Watch(tasks, controller_key(PLANS), pause=pause)
    yield Watch(tasks, in_conflict, when=gone)
    yield Watch(projects.informer, beside, when=spec_changed)
    yield Watch(projects.informer, beside, when=projects.changes(readiness_changed))
    yield Watch(projects.informer, beside, when=projects.changes(secrets_turned_up))
    yield Watch(projects.informer, proposed, when=projects.changes(watch_changed))
    yield Watch(caches.sessions.informer, plan_of, when=caches.sessions.changes(session_ends))
    yield Watch(caches.approvals.informer, controller_key(PLANS))
    yield own(caches.jobs, controller_key(PLANS), of_jobs(caches))
    yield own(caches.pods, of_own_pod, pod_matters)
    lead = partial(crowds.next_to_lead, plans.informer)
    yield Watch(plans.informer, lead, crowds.seeks_otherwise)
    follow = partial(crowds.followers, caches, caches.waiting_plans)
    yield Watch(caches.pods, follow, partial(crowds.shows_more, caches.waiting_plans))


_PLAN_OF_POD = label_key(labels.PLAN)


def of_own_pod(pod: Object) -> Collection[Key]:
    """The Plan of a pod of its own Jobs; those of its Tasks name the Plan for people only."""
    return () if labels.TASK in pod["metadata"]["labels"] else _PLAN_OF_POD(pod)


def plan_of(session: Object) -> Collection[Key]:
    plan = session["spec"].get("planRef")
    return (Key(key_of(session).namespace, plan["name"]),) if plan is not None else ()


def session_ends(old: AgentSession | None, new: AgentSession | None) -> bool:
    """A session is over, is being deleted or gone: its Plan may have to settle it, or has."""
    return new is None or _ended(old) != _ended(new)


def _ended(session: AgentSession | None) -> tuple[bool, bool]:
    if session is None:
        return False, False
    is_dead = session.status.state is SessionState.DEAD
    return is_dead, session.metadata.deletion_timestamp is not None
