"""What a session has used, as metrics: by whose work it was, and by which model."""

from __future__ import annotations

from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.controllers.caches import Caches
from bernstein.core.money.spend import cost_of
from bernstein.core.routing.table import tier_of
from bernstein.kube.resource import Key
from bernstein.observe.metrics import Metrics
from bernstein.observe.work import Work


def count(metrics: Metrics, caches: Caches, session: AgentSession, project: Project | None) -> None:
    """`session` has ended; call it once the write that says so has succeeded."""
    usage, spec, namespace = session.status.usage, session.spec, session.metadata.namespace
    if usage is None:
        return
    task = caches.tasks.get(Key(namespace, spec.task_ref.name))
    agent = project.spec.agent(spec.agent) if project is not None else None
    work = Work(
        namespace,
        spec.project,
        spec.adapter,
        role=task.spec.role if task is not None else "",
        tier=tier_of(spec.model, agent),
    )
    metrics.spent(work, cost_of(session, project))
    metrics.tokens(
        work,
        input=usage.input,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
    )
