"""How a session ended, from what the kubelet and our own containers say; the agent is not asked."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.meta import UsageCounts
from bernstein.api.pod import PusherResult, RecorderResult, Usage, load
from bernstein.api.session import AgentSession, Outcome, Work
from bernstein.core import pods
from bernstein.core.errors import policy
from bernstein.core.pods import JobView, Object
from bernstein.core.sanitise import text as sanitise

STALLED = "Stalled"


@dataclass(frozen=True)
class Ending:
    """A session's last facts."""

    outcome: Outcome
    work: Work | None = None
    usage: UsageCounts | None = None


def failed(reason: str, message: str, *, started: bool, exit_code: int | None = None) -> Outcome:
    """An outcome with the remedy of the error table."""
    return Outcome(
        reason=reason,
        message=sanitise(message, 2000),
        remedy=policy(reason).remedy,
        started=started,
        exit_code=exit_code,
    )


def classify(session: AgentSession, job: JobView | None) -> Ending:
    """The outcome of a session whose pod has ended, or is gone."""
    if job is None or job.pod is None:
        return _without_pod(session, job)
    recorded = _recorded(job.pod)
    work = _work(session, job.pod, recorded)
    usage = counts(recorded.usage) if recorded is not None else _reported(session)
    outcome = _outcome(session, job.pod, recorded, work)
    return Ending(outcome=outcome, work=work, usage=usage)


def _without_pod(session: AgentSession, job: JobView | None) -> Ending:
    started = session.status.pod is not None
    if session.spec.stop is not None:
        outcome = failed(session.spec.stop.reason, "stopped", started=started)
    else:
        gone = "its pod" if job is not None else "its Job"
        outcome = failed("PodLost", f"{gone} was deleted by someone else", started=started)
    return Ending(outcome=outcome, usage=_reported(session))


def _reported(session: AgentSession) -> UsageCounts | None:
    return session.status.report.usage if session.status.report else None


def counts(usage: Usage) -> UsageCounts:
    return UsageCounts(
        input=usage.input,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
    )


def _recorded(pod: Object) -> RecorderResult | None:
    ended = pods.terminated(pod, "recorder")
    try:
        return load(RecorderResult, (ended or {}).get("message") or "")
    except ValueError:
        return None


def _work(session: AgentSession, pod: Object, recorded: RecorderResult | None) -> Work | None:
    """The commit that is on the remote: the pusher's word, and only for what the recorder saw last."""
    ended = pods.terminated(pod, "pusher")
    try:
        pushed = load(PusherResult, (ended or {}).get("message") or "")
    except ValueError:
        return None
    changed = recorded.changed if recorded is not None and recorded.sha == pushed.sha else None
    return Work(
        base=pushed.base,
        sha=pushed.sha,
        tree=pushed.tree,
        ref=session.spec.work_ref,
        final=pushed.final and changed is not None,
        files_changed=changed.files if changed else 0,
        python_changed=changed.python if changed else True,
        tests_changed=changed.tests if changed else True,
        deps_changed=changed.deps if changed else True,
    )


def _outcome(
    session: AgentSession, pod: Object, recorded: RecorderResult | None, work: Work | None
) -> Outcome:
    started = pods.is_running(pod, "agent")
    agent = pods.terminated(pod, "agent") or {}
    code = agent.get("exitCode")
    early = pods.failure_of(pod, "checkout")
    if early is not None:
        return failed(early.reason, early.message, started=False)
    if pods.reason(pod) == "DeadlineExceeded":
        text = f"not done after {session.spec.timeout_seconds} s"
        return failed("Timeout", text, started=True, exit_code=code)
    if session.spec.stop is not None:
        return failed(session.spec.stop.reason, "stopped", started=started, exit_code=code)
    if pods.is_disrupted(pod):
        return failed("Disrupted", "the pod was disrupted", started=started)
    if pods.reason(pod) == "Evicted":
        return failed("AgentDiskFull", str(pod["status"].get("message", "")), started=started)
    if pods.is_deleting(pod):
        return failed("PodLost", "the pod was deleted by someone else", started=started)
    if agent.get("reason") == "OOMKilled":
        return failed("AgentOutOfMemory", "the agent ran out of memory", started=True)
    if agent.get("reason") in ("StartError", "ContainerCannotRun") or code in (126, 127):
        said = str(agent.get("message") or "the agent's command was not found")
        return failed("AgentNotStarted", said, started=False, exit_code=code)
    if not agent:
        return failed("InfrastructureError", "the agent did not run", started=started)
    return _after_run(pod, recorded, work, code)


def _after_run(
    pod: Object, recorded: RecorderResult | None, work: Work | None, code: int | None
) -> Outcome:
    for name in ("recorder", "pusher"):
        problem = pods.failure_of(pod, name)
        if problem is not None:
            return failed(problem.reason, problem.message, started=True, exit_code=code)
    if recorded is None or work is None or not work.final:
        text = "the agent ran, but its work could not be taken"
        return failed("InfrastructureError", text, started=True, exit_code=code)
    final = recorded.final
    said = {"exit_code": code, "text": sanitise(final.text, 2000), "no_change": final.no_change}
    if recorded.stopped == STALLED:
        text = "no sign of activity; it was stopped"
        return failed(STALLED, text, started=True).model_copy(update=said)
    if final.outcome != "Succeeded":
        said["retry_after_seconds"] = final.retry_after
        message = final.message or f"the agent ended with exit code {code}"
        return failed(final.outcome, message, started=True).model_copy(update=said)
    if code != 0:
        text = f"the agent ended with exit code {code}"
        return failed("AgentFailed", text, started=True).model_copy(update=said)
    return Outcome(reason="Succeeded", started=True).model_copy(update=said)
