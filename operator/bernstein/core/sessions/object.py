"""The AgentSession of a Task's next run, as the API server takes it."""

from __future__ import annotations

from typing import Any

from bernstein.api.meta import API_VERSION, SESSION_KIND, TASK_KIND
from bernstein.api.session import AgentSessionSpec, PlanRef, TaskRef
from bernstein.api.task import TaskStatus
from bernstein.core import labels, names
from bernstein.core.money.pricing import price_of
from bernstein.core.owners import owner_reference
from bernstein.core.routing.choose import route_of
from bernstein.core.routing.limits import timeout_seconds
from bernstein.core.sessions import documents
from bernstein.core.sessions.prompt import digest_of_roles, of_snapshot
from bernstein.core.snapshot import TaskSnapshot


def session_object(snapshot: TaskSnapshot, status: TaskStatus) -> dict[str, Any]:
    """The object of session number `status.sessions`; Project and agent are known to exist."""
    task, meta = snapshot.task, snapshot.task.metadata
    name = names.session(meta.name, status.sessions)
    own_labels = {labels.TASK: names.bounded(meta.name)}
    if snapshot.plan is not None:
        own_labels[labels.PLAN] = names.label_value(snapshot.plan.metadata.name)
    return {
        "apiVersion": API_VERSION,
        "kind": SESSION_KIND,
        "metadata": {
            "name": name,
            "namespace": task.metadata.namespace,
            "labels": own_labels,
            "ownerReferences": [owner_reference(TASK_KIND, meta.name, meta.uid)],
            "finalizers": [labels.FINALIZER],
        },
        "spec": _spec(snapshot, status).dump(),
    }


def _role_digest(snapshot: TaskSnapshot, attempt: int, resume: str | None) -> str | None:
    """Of what the session is told by AgentRoles; None: none has a say in it."""
    names_roles = bool(documents.expected(snapshot))
    if snapshot.task.spec.role not in snapshot.roles.own and not names_roles:
        return None
    return digest_of_roles(of_snapshot(snapshot, attempt, resume))


def _spec(snapshot: TaskSnapshot, status: TaskStatus) -> AgentSessionSpec:
    task, project, plan = snapshot.task, snapshot.project, snapshot.plan
    assert project is not None
    agent = project.spec.agent(task.spec.cli)
    assert agent is not None
    route, number = route_of(snapshot), status.sessions
    resume, conflict = (status.checkpoint, status.checkpoint_sha), snapshot.resolves
    if conflict is not None and status.checkpoint is None:
        resume = conflict.ref, conflict.sha
    return AgentSessionSpec(
        task_ref=TaskRef(name=task.metadata.name, uid=task.metadata.uid),
        plan_ref=PlanRef(name=plan.metadata.name, uid=plan.metadata.uid) if plan else None,
        project=project.metadata.name,
        attempt=status.attempt + 1,
        number=number,
        agent=agent.name,
        adapter=agent.adapter,
        model=route.model,
        effort=route.effort,
        price=price_of(route.model, project.spec.budget.prices),
        base_ref=snapshot.target_ref,
        work_ref=names.work_ref(snapshot.refs, task.metadata.name, number),
        resume_ref=resume[0],
        resume_sha=resume[1],
        rejected=status.rejected,
        documents=documents.expected(snapshot) or None,
        timeout_seconds=timeout_seconds(task, project),
        role_digest=_role_digest(snapshot, status.attempt + 1, resume[0]),
    )
