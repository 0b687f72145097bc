"""Makes from the caches the snapshots that decisions look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain

from bernstein.api.delivery import Delivery
from bernstein.api.meta import PLAN_KIND
from bernstein.api.plan import Plan
from bernstein.api.programs.forge import SeenPullRequest
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.api.project import Project
from bernstein.api.projects.repository import Repository
from bernstein.api.projects.workplace import Workplace
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import Waiting
from bernstein.controllers import crowds
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import (
    AT_WORK,
    BEGINS,
    BEGUN,
    LIMITED,
    MISSES,
    PRODUCED,
    PROPOSED,
    UPSTREAM,
    may_be_of,
    plan_called,
)
from bernstein.controllers.job_views import OWNER
from bernstein.core import labels, names, owners, projects
from bernstein.core.approvals.decide import ApprovalSnapshot
from bernstein.core.delivery import ledger
from bernstein.core.plans.places import view
from bernstein.core.projects import proofs, repositories
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.core.tasks import produced
from bernstein.kube.resource import Key


async def task_snapshot(caches: Caches, key: Key, now: datetime) -> TaskSnapshot | None:
    """The Task with all that its decision looks at; None: the Task is gone."""
    task = caches.tasks.get(key)
    if task is None:
        return None
    plan = plan_of(caches, task)
    found = projects.of_task(task, plan, caches.projects.going(key.namespace))
    its = repositories.place_of_task(task, plan, found.project)
    current = caches.sessions.by_name(key.namespace).get(task.status.session or "")
    is_own = current is not None and current.spec.task_ref.uid == task.metadata.uid
    where = its.project.spec.repository.name if its.project is not None else ""
    return TaskSnapshot(
        task=task,
        project=its.project,
        project_problem=found.problem or its.problem,
        plan=view.of_task(plan, where) if plan is not None else None,
        plan_tip=_tip(caches, plan, task, where),
        session=current if is_own else None,
        own_sessions=caches.sessions.by_index(OWNER, task.metadata.uid).values(),
        jobs=await caches.job_views.of(task.metadata, now),
        tasks=caches.tasks.by_name(key.namespace),
        going=caches.tasks.going(key.namespace),
        dependants=caches.tasks.going_by_index(key.namespace, UPSTREAM, key.name).values(),
        approvals=caches.approvals.by_index(OWNER, task.metadata.uid),
        crowd=crowds.ahead(caches, key),
        follows=crowds.follows(caches, caches.waiting_tasks, key),
        resting=crowds.resting(caches.tasks.informer, key, task.status.project),
        roles=caches.roles_known.of(key.namespace),
    )


def _tip(caches: Caches, plan: Plan | None, task: Task, its: str) -> str | None:
    """Where the ref is in which the Plan's Tasks land; only who is Done asks."""
    if plan is None or plan.status.integration is None or task.status.state is not TaskState.DONE:
        return None
    begun = view.of_task(plan, its).status.integration
    return caches.tallies.tip(plan, begun.ref) if begun is not None else None


def project_of(caches: Caches, task: Task) -> Project | None:
    """The Project that the Task belongs to, whether its status says so yet or not."""
    beside = caches.projects.going(task.metadata.namespace)
    return projects.of_task(task, plan_of(caches, task), beside).project


def workplace_of(caches: Caches, task: Task) -> Workplace | None:
    """The same with the repository of the Task alone."""
    plan, project = plan_of(caches, task), project_of(caches, task)
    return repositories.place_of_task(task, plan, project).project


def plan_of(caches: Caches, task: Task) -> Plan | None:
    """The Plan whose step the Task is; None: it has none, or its Plan is gone or being deleted."""
    owner = owners.plan_of(task)
    if owner is None:
        return None
    plan = caches.plans.get(Key(task.metadata.namespace, owner.name))
    if plan is None or plan.metadata.uid != owner.uid:
        return None
    if plan.metadata.deletion_timestamp is not None:
        return None
    return plan if ledger.is_member(plan.status, task) else None


def beginning(caches: Caches, project: Project) -> list[Plan]:
    """The Project's Plans that ask for a turn to begin, or have one."""
    return list(_plans_of(caches, project, BEGINS))


def agents_at_work(caches: Caches, project: Project) -> int:
    """How many of the Project's agents are taken.

    Only of who has one it is asked whose it is: of thousands of Tasks few are at work.
    """
    return sum(1 for _ in _tasks_of(caches, project, AT_WORK))


def misses_a_secret(caches: Caches, project: Project) -> bool:
    """Whether a Task or Plan of the Project waits for a Secret that is missing."""
    waits = chain(_plans_of(caches, project, MISSES), _tasks_of(caches, project, MISSES))
    return any(True for _ in waits)


def proofs_of(caches: Caches, project: Project) -> Mapping[str, datetime]:
    """When each account of the Project's repository was last seen to get on."""
    plans, tasks = _plans_of(caches, project, BEGUN), _tasks_of(caches, project, AT_WORK)
    return proofs.proofs(project, plans, tasks)


def proposed(caches: Caches, project: Project) -> Mapping[str, tuple[SeenPullRequest, ...]]:
    """The pull requests that the Project's Plans and Tasks wait for, as they know them, by the name
    of the repository."""
    found: defaultdict[str, list[SeenPullRequest]] = defaultdict(list)
    waits: Iterator[Plan | Task]
    waits = chain(_plans_of(caches, project, PROPOSED), _tasks_of(caches, project, PROPOSED))
    for its, delivery, _ in _deliveries(caches, waits, project):
        pull = delivery.pull_request if delivery is not None else None
        if delivery is None or pull is None or its is None or not delivery.is_watched:
            continue
        if repositories.is_in(pull, its):
            base = names.branch_of(delivery.onto)
            seen = SeenPullRequest(pull.number, pull.state, pull.sha, base, pull.ci or "")
            found[its.name].append(seen)
    return {name: tuple(pulls) for name, pulls in found.items()}


def limited(caches: Caches, project: Project) -> Mapping[str, datetime]:
    """Until when the forge takes no requests, as Jobs of the Project's Plans and Tasks were told,
    by the name of the repository."""
    found = dict[str, datetime]()
    waits: Iterator[Plan | Task]
    waits = chain(_plans_of(caches, project, LIMITED), _tasks_of(caches, project, LIMITED))
    for its, delivery, waiting in _deliveries(caches, waits, project):
        feedback = delivery.feedback if delivery is not None else None
        for told in (waiting, delivery, feedback):
            if its is None or told is None or told.until is None:
                continue
            if told.reason == ForgeReason.RATE_LIMITED:
                found[its.name] = max(found.get(its.name, told.until), told.until)
    return found


def _deliveries(
    caches: Caches, waits: Iterable[Plan | Task], project: Project
) -> Iterator[tuple[Repository | None, Delivery | None, Waiting | None]]:
    """How far each is on its way, and what it waits for, in each repository that it works in."""
    for each in waits:
        if each.metadata.deletion_timestamp is not None:
            continue
        if isinstance(each, Task):
            its = repositories.of_task(each, plan_of(caches, each), project)
            yield its, each.status.delivery, each.status.waiting
        elif not each.status.repositories:
            its = repositories.of_plan(each, project)
            yield its, each.status.delivery, each.status.waiting
        else:
            for row in each.status.repositories:
                its = repositories.find(project.spec, row.name)
                yield its, row.delivery, row.waiting


def _plans_of(caches: Caches, project: Project, index: str) -> Iterator[Plan]:
    """The Project's of those that the index has."""
    namespace = project.metadata.namespace
    beside = caches.projects.going(namespace)
    for named in may_be_of(namespace, project.metadata.name):
        for plan in caches.plans.by_index(index, named).values():
            if projects.of_plan(plan, beside).project is project:
                yield plan


def _tasks_of(caches: Caches, project: Project, index: str) -> Iterator[Task]:
    """The Project's of those that the index has."""
    namespace = project.metadata.namespace
    beside = caches.projects.going(namespace)
    for named in may_be_of(namespace, project.metadata.name):
        for task in caches.tasks.by_index(index, named).values():
            if projects.of_task(task, plan_of(caches, task), beside).project is project:
                yield task


async def plan_snapshot(caches: Caches, plan: Plan, now: datetime) -> PlanSnapshot:
    """The Plan with its Tasks, sessions and Jobs."""
    namespace = plan.metadata.namespace
    own_key = Key(namespace, plan.metadata.name)
    project, problem = projects.of_plan(plan, caches.projects.going(namespace))
    looked = caches.tallies.look(plan, project)
    return PlanSnapshot(
        plan=plan,
        project=project,
        project_problem=problem,
        tasks=looked.tasks,
        strangers=looked.strangers,
        sessions=looked.sessions,
        jobs=await caches.job_views.of(plan.metadata, now),
        approvals=caches.approvals.by_index(OWNER, plan.metadata.uid),
        written_by=_written_by(caches, plan),
        follows=crowds.follows(caches, caches.waiting_plans, own_key),
        resting=crowds.resting(caches.plans.informer, own_key, plan.status.project),
        tallied=looked.tallied,
        roles=caches.roles_known.of(namespace),
    )


def _written_by(caches: Caches, plan: Plan) -> str | None:
    """The Task whose agent wrote the Plan, while it has not begun. The Plan's label says where to
    look first; it is anybody's to write, and decides nothing."""
    meta, status = plan.metadata, plan.status
    if status.integration is not None or status.ended_at is not None:
        return None
    told = caches.tasks.get(Key(meta.namespace, meta.labels.get(labels.TASK, "")))
    made = caches.tasks.by_index(PRODUCED, plan_called(meta.namespace, meta.name)).values()
    tasks = [*made, *([told] if told is not None else [])]
    return next((task.metadata.name for task in tasks if produced.is_of(plan, task)), None)


def approval_snapshot(caches: Caches, key: Key) -> ApprovalSnapshot | None:
    """The Approval with what it is about; None: the Approval is gone."""
    approval = caches.approvals.get(key)
    if approval is None:
        return None
    about = approval.spec.subject
    of = Key(key.namespace, about.name)
    if about.kind == PLAN_KIND:
        plan = caches.plans.get(of)
        is_it = plan is not None and plan.metadata.uid == about.uid
        return ApprovalSnapshot(approval, plan if is_it else None)
    task = caches.tasks.get(of)
    if task is None or task.metadata.uid != about.uid:
        return ApprovalSnapshot(approval, None)
    return ApprovalSnapshot(approval, task, plan_of(caches, task))
