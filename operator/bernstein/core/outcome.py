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
AT_ONCE_SECONDS = 20
"""A command that cannot be started fails within this time; the wait for the recorder is in it."""


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
    """The commit on the remote: the pusher's word, and only for what the recorder saw last."""
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
    if early is not None and early.reason != "InfrastructureError":
        return failed(early.reason, early.message, started=False)
    ended = _ended_from_outside(session, pod, finished=_finished(pod, work))
    if ended is not None:
        reason, message = ended
        return failed(reason, message, started=started, exit_code=code)
    if agent.get("reason") == "OOMKilled":
        return failed("AgentOutOfMemory", "the agent ran out of memory", started=True)
    if agent.get("reason") in ("StartError", "ContainerCannotRun") or _not_found(agent):
        said = str(agent.get("message") or "the agent's command was not found")
        return failed("AgentNotStarted", said, started=False, exit_code=code)
    if early is not None:
        return failed(early.reason, early.message, started=False)
    if not agent:
        return failed("InfrastructureError", "the agent did not run", started=started)
    return _after_run(pod, recorded, work, code)


def _finished(pod: Object, work: Work | None) -> bool:
    """The agent had ended well before the pod was told to end, and its work is safe."""
    agent = pods.terminated(pod, "agent") or {}
    if agent.get("exitCode") != 0 or work is None or not work.final:
        return False
    at, asked = agent.get("finishedAt"), pods.asked_to_end(pod)
    return asked is None or (at is not None and pods.parse_time(at) < asked)


def _ended_from_outside(
    session: AgentSession, pod: Object, *, finished: bool
) -> tuple[str, str] | None:
    """(reason, message) when it was not the pod's containers that decided about its end."""
    deadline = pods.reason(pod) == "DeadlineExceeded" and pods.is_running(pod, "agent")
    if deadline and not finished:
        return "Timeout", f"not done after {session.spec.timeout_seconds} s"
    if session.spec.stop is not None:
        return session.spec.stop.reason, "stopped"
    if pods.is_disrupted(pod):
        return "Disrupted", "the pod was disrupted"
    if pods.reason(pod) == "Evicted":
        return "AgentDiskFull", str(pod["status"].get("message", ""))
    if pods.is_deleting(pod) and not finished:
        return "PodLost", "the pod was deleted by someone else"
    return None


def _not_found(agent: Object) -> bool:
    """The launcher could not start the command; a command that ran may end like this, too."""
    if agent.get("exitCode") not in (126, 127):
        return False
    start, end = agent.get("startedAt"), agent.get("finishedAt")
    if not start or not end:
        return True
    return (pods.parse_time(end) - pods.parse_time(start)).total_seconds() <= AT_ONCE_SECONDS


def _after_run(
    pod: Object, recorded: RecorderResult | None, work: Work | None, code: int | None
) -> Outcome:
    for name in ("recorder", "pusher"):
        problem = pods.failure_of(pod, name)
        if problem is not None and not pods.ran_out_of_memory(pod, name):
            return failed(problem.reason, problem.message, started=True, exit_code=code)
    if recorded is None or work is None or not work.final:
        if pods.ran_out_of_memory(pod, "recorder"):
            text = "the recorder ran out of memory on the tree that the agent left"
            return failed("SnapshotTooLarge", text, started=True, exit_code=code)
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
