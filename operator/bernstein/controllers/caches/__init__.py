"""The informers of everything that decisions read, and their objects as models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from bernstein.api import plan, project, session, task
from bernstein.api.approvals import approval
from bernstein.api.meta import ConditionType
from bernstein.api.roles import role
from bernstein.controllers.caches import fields
from bernstein.controllers.caches.first_look import FirstLook
from bernstein.controllers.caches.folders import (
    FOLDER,
    folder_of_plan,
    folder_of_session,
    folder_of_task,
)
from bernstein.controllers.caches.indexes import (
    AT_WORK,
    AWAITED,
    BEGINS,
    BEGUN,
    CLAIMING,
    DONE,
    DONE_IN,
    LACKS,
    LIMITED,
    MISSES,
    PLAN,
    PRODUCED,
    PROPOSED,
    RESTS,
    SEEKS,
    SESSION,
    UPSTREAM,
    at_work,
    awaited,
    begins,
    begun,
    claiming,
    depends_on,
    done,
    done_in,
    lacks,
    limited,
    misses,
    plan_of,
    plan_of_session,
    produced,
    proposed,
    rests,
    seeks,
    session_of_pod,
)
from bernstein.controllers.caches.kept_refs import KeptRefs
from bernstein.controllers.caches.left_requests import LeftRequests
from bernstein.controllers.caches.parsed import Parsed
from bernstein.controllers.caches.roles import RolesKnown
from bernstein.controllers.caches.settlement import Settlement
from bernstein.controllers.caches.tallies import Tallies
from bernstein.controllers.caches.waiters import Waiters, times_shown
from bernstein.controllers.job_views import OWNER, POD_INDEXES, JobViews
from bernstein.core import labels
from bernstein.core.tasks.retention import DELIVERED_BY
from bernstein.kube.cache import Read, by_controller_uid
from bernstein.kube.client import Client
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.informer import Informer
from bernstein.kube.observer import Observer
from bernstein.kube.resource import JOBS, NETWORK_POLICIES, PODS
from bernstein.observe.allowances import Allowances
from bernstein.observe.budgets import Budgets
from bernstein.observe.population import Census
from bernstein.observe.silence import Heard
from bernstein.resources import APPROVALS, PLANS, PROJECTS, ROLES, SESSIONS, TASKS

OPENED_PLANS = 4
"""Settled Plans that stay unpacked, those that were read last: each may have thousands of rows, and
whoever looks at all Tasks reads those of a Plan one after another."""

READ = Read((*labels.READ, *DELIVERED_BY), labels.FINALIZERS_READ)
"""Of the metadata of all objects; what nobody reads is anybody's to write."""

_OF_PLANS = {BEGINS: begins, BEGUN: begun, MISSES: misses, PROPOSED: proposed}
_OF_PLANS |= {FOLDER: folder_of_plan, LIMITED: limited}
_LINKS = {PLAN: plan_of, UPSTREAM: depends_on, AWAITED: awaited, PROPOSED: proposed}
_LINKS |= {FOLDER: folder_of_task, LIMITED: limited}
_OWNED, _TRIED = {OWNER: by_controller_uid}, {RESTS: rests, SEEKS: seeks}
_FEW = {
    AT_WORK: at_work,
    PRODUCED: produced,
    DONE: done,
    DONE_IN: done_in,
    MISSES: misses,
    LACKS: lacks,
}


class Caches:
    """Everything watched, by one client."""

    def __init__(
        self,
        client: Client,
        namespaces: Sequence[str] | None = None,
        *,
        observer: Observer | None = None,
        clock: Clock = REAL,
    ) -> None:
        ours = f"{labels.MANAGED_BY}={labels.MANAGER}"
        self._client = client
        informer = partial(
            Informer,
            client,
            namespaces=namespaces,
            read=READ,
            observer=observer,
            clock=clock,
        )
        self.projects = Parsed(informer(PROJECTS), project.parse)
        settlement = Settlement()
        of_plan = settlement.of_plan
        plans = informer(PLANS, indexes=_OF_PLANS | _TRIED, settled=of_plan, opened=OPENED_PLANS)
        self.plans = Parsed(plans, plan.parse)
        of_tasks = informer(TASKS, indexes=_LINKS | _TRIED | _FEW, settled=settlement.of_task)
        self.tasks = Parsed(of_tasks, task.parse)
        by_plan = _OWNED | {PLAN: plan_of_session, FOLDER: folder_of_session}
        of_sessions = informer(SESSIONS, indexes=by_plan, settled=settlement.of_session)
        self.sessions = Parsed(of_sessions, session.parse)
        settlement.follow(self.plans, self.tasks, self.sessions)
        self.first_look = FirstLook(of_tasks, of_sessions)
        self.tallies = Tallies(self.plans, self.tasks, self.sessions, clock)
        self.kept_refs = KeptRefs(self.plans, self.tasks, self.sessions, self.projects, clock)
        self.left_requests = LeftRequests(self.plans, self.tasks, self.projects, clock)
        self.approvals = Parsed(informer(APPROVALS, indexes=_OWNED), approval.parse)
        self.roles = Parsed(informer(ROLES), role.parse)
        self.roles_known = RolesKnown(self.roles)
        self.projects_there = _counted(self.projects.informer, Census(None, _UNREADY))
        self.allowances = _counted(self.projects.informer, Allowances())
        self.budgets = _counted(plans, Budgets())
        self.heard = _counted(of_sessions, Heard())
        self.tasks_there = _counted(self.tasks.informer, Census("state"))
        self.sessions_there = _counted(self.sessions.informer, Census("state"))
        self.plans_there = _counted(self.plans.informer, Census("phase"))
        self.approvals_there = _counted(self.approvals.informer, Census("state"))
        self.jobs = informer(JOBS, label_selector=ours, indexes=_OWNED, strip=fields.job)
        self.pods = informer(
            PODS,
            label_selector=ours,
            indexes=POD_INDEXES | {SESSION: session_of_pod, CLAIMING: claiming},
            strip=fields.pod,
        )
        self.waiting_plans, self.waiting_tasks = Waiters(plans), Waiters(of_tasks)
        self.times_shown = times_shown(self.pods)
        self.job_views = JobViews(client, self.jobs, self.pods, clock)
        self.network_policies = informer(
            NETWORK_POLICIES,
            label_selector=ours,
            indexes=_OWNED,
            read=None,  # annotations of others are written back together with our own
        )

    @property
    def informers(self) -> list[Informer]:
        return [
            self.projects.informer,
            self.plans.informer,
            self.tasks.informer,
            self.sessions.informer,
            self.approvals.informer,
            self.roles.informer,
            self.jobs,
            self.pods,
            self.network_policies,
        ]


_UNREADY = (ConditionType.READY, "False")
_Counts = TypeVar("_Counts", Census, Allowances, Budgets, Heard)


def _counted(informer: Informer, counts: _Counts) -> _Counts:
    """Has what the informer shows counted."""
    informer.add_handler(counts.changed)
    return counts
