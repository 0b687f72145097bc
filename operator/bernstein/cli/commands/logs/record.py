"""The answer of `logs --json`: what sessions logged, how they ended, and what checks printed."""

from __future__ import annotations

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.logs import check_log, pod_log
from bernstein.cli.commands.logs.check_log import CheckLog
from bernstein.cli.commands.logs.pod_log import LONGEST_LOG
from bernstein.cli.commands.logs.subject import LogSubject
from bernstein.core.sanitise import line, text
from bernstein.core.serializers import Document, plan_record, task_record


async def record(cluster: Cluster, subject: LogSubject) -> Document:
    """The whole answer about one Task, session or Plan."""
    checks = await check_log.read(cluster, subject.whose)
    return {
        "task": task_record(subject.task) if subject.task else None,
        "plan": plan_record(subject.plan) if subject.plan else None,
        "sessions": [await _session_record(cluster, session) for session in subject.sessions],
        "checks": [_check_record(log) for log in checks.logs],
        "checks_missing": checks.missing or None,
    }


def _check_record(log: CheckLog) -> Document:
    return {
        "check": log.check,
        "job": log.job,
        "repository": log.repository or None,
        "log": text(log.text, LONGEST_LOG),
        "note": log.note or None,
    }


async def _session_record(cluster: Cluster, session: AgentSession) -> Document:
    log, pod = await pod_log.read(cluster, session), session.status.pod
    # What an agent that has ended did last would look like what it does now.
    runs = session.status.state is not SessionState.DEAD
    report = session.status.report if runs else None
    return {
        "session": session.metadata.name,
        "attempt": session.spec.attempt,
        "agent": session.spec.agent,
        "model": session.spec.model,
        "state": (session.status.state or SessionState.STARTING).lower(),
        "pod": pod.name if pod else None,
        "progress": line(report.progress, 200) if report and report.progress else None,
        "prompt": _prompt(session),
        "outcome": _outcome(session),
        "judgement": session.status.judgement,
        "logs": {
            name: text(pod_log.untimed(name, words), LONGEST_LOG)
            for name, words in log.texts.items()
        },
        "logs_missing": log.missing or None,
    }


def _prompt(session: AgentSession) -> Document | None:
    """What its agent got, once it has begun."""
    given = session.status.prompt
    if given is None:
        return None
    return {
        "digest": given.digest,
        "bytes": given.bytes,
        "parts": dict(given.parts),
        "cut": [line(each, 300) for each in given.cut],
        "knowledge_missing": [line(each, 300) for each in given.knowledge_missing],
    }


def _outcome(session: AgentSession) -> Document | None:
    outcome = session.status.outcome
    if outcome is None:
        return None
    return {
        "reason": outcome.reason,
        "message": text(outcome.message, 2048),
        "remedy": text(outcome.remedy, 1024),
        "exit_code": outcome.exit_code,
        "low_confidence": line(outcome.low_confidence, 64) if outcome.low_confidence else None,
        "text": text(outcome.text, 2048),
    }
