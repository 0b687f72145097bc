"""The span of an AgentSession: one run of an agent."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.core.sessions.reading import REPORTED
from bernstein.core.traces import models
from bernstein.core.traces.span import DELETED, Span, span, span_id, trace_id


def trace_of_session(session: AgentSession) -> bytes:
    """That of its Plan, or of its Task alone."""
    spec = session.spec
    return trace_id((spec.plan_ref or spec.task_ref).uid)


def of_session(session: AgentSession, over_at: datetime | None = None) -> list[Span]:
    """Its span, once it is Dead. `over_at`: when it was seen to be deleted."""
    meta, spec, status = session.metadata, session.spec, session.status
    end = _end(session) or over_at
    if meta.creation_timestamp is None or end is None:
        return []
    reason = status.outcome.reason if status.outcome is not None else DELETED
    return [
        span(
            trace=trace_of_session(session),
            of=span_id(meta.uid),
            parent=span_id(spec.task_ref.uid),
            name=f"{models.INVOKE_AGENT} {spec.agent}",
            start=meta.creation_timestamp,
            end=end,
            attributes={
                "k8s.namespace.name": meta.namespace,
                "k8s.pod.name": status.pod.name if status.pod is not None else None,
                "bernstein.session.name": meta.name,
                "bernstein.session.reason": reason,
                "bernstein.session.effort": spec.effort,
                "bernstein.session.adapter": spec.adapter,
                "bernstein.task.name": spec.task_ref.name,
                "bernstein.task.attempt": spec.attempt,
                "bernstein.project": spec.project,
                "gen_ai.agent.name": spec.agent,
                **models.asked(models.INVOKE_AGENT, spec.model, status.usage, spec.adapter),
                "error.type": None if reason == REPORTED else reason,
            },
            error=None if reason == REPORTED else reason,
            kind="Client",
        )
    ]


def _end(session: AgentSession) -> datetime | None:
    status, born = session.status, session.metadata.creation_timestamp
    if status.state is not SessionState.DEAD:
        return None
    return status.ended_at or status.started_at or born
