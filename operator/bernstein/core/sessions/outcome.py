"""How a session ended, by what the kubelet and our own containers say; the agent has no say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

from bernstein.agents.adapter import MESSAGE_LIMIT, RETRY_LIMIT, TEXT_LIMIT
from bernstein.api.encoding import load
from bernstein.api.meta import UsageCounts
from bernstein.api.pod import (
    AGENT,
    CHECKOUT,
    PUSHER,
    RECORDER,
    Changed,
    FinalRecord,
    PusherResult,
    RecorderResult,
    Usage,
)
from bernstein.api.programs.setup import SETUP
from bernstein.api.reasons import Reason
from bernstein.api.session import AgentSession, KeptDocument, Outcome, Work
from bernstein.api.states import SessionState
from bernstein.api.waiting import Abandoned
from bernstein.core import diagnosis, pods
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.money.plausible import MOST_TOKENS
from bernstein.core.pods import Object
from bernstein.core.reasons import policy
from bernstein.core.sanitise import line, quoting
from bernstein.core.sanitise import text as sanitise
from bernstein.core.sessions import blocked, documents, trailers
from bernstein.core.verification import candidate, executed

T = TypeVar("T")

AT_ONCE_SECONDS = 5
"""A command that cannot be started fails within this time of when the recorder let it go."""
_UNKNOWN = Changed(python=True, tests=True, deps=True)
"""Nobody has looked at the change: no gate is left out because of what it is."""
WAITS_SECONDS = 20
"""The same with its wait for the recorder, where that does not say when it let it go."""
_ENDS: Mapping[str, str] = {
    Reason.RATE_LIMITED: "its provider takes no more requests for now, says the agent's output",
    Reason.USAGE_LIMITED: "a limit of its provider is used up, says the agent's output",
    Reason.MODEL_AUTH_FAILED: "its provider refuses the model key, says the agent's output",
    Reason.PROVIDER_UNAVAILABLE: "its provider does not answer, says the agent's output",
    Reason.MAX_TURNS: "the agent took as many turns as it may",
    Reason.REFUSED: "the agent declines the work",
    Reason.NO_FINAL_RECORD: "the agent's output has no end",
    Reason.BLOCKED: "the agent says that it waits for something",
    Reason.BLOCK_REFUSED: "the agent says that it waits for something, and that is not taken",
    Reason.DOCUMENT_REFUSED: "the agent left a document that is not taken",
}
"""How a run ended, by what the agent's output is read as."""


@dataclass(frozen=True)
class Ending:
    """What is recorded of a session at its end."""

    outcome: Outcome
    work: Work | None = None
    usage: UsageCounts | None = None
    ran: timedelta = timedelta()
    """For how long its agent ran, as its node tells; nothing where that does not."""
    documents: tuple[KeptDocument, ...] = ()
    """What it left beside its code; nothing where it does not report success."""


def failed(reason: str, message: str, *, started: bool, exit_code: int | None = None) -> Outcome:
    """The outcome of a failure, with the remedy from the table of failures."""
    return Outcome(
        reason=reason,
        message=sanitise(message, 2000),
        remedy=policy(reason).remedy,
        started=started,
        exit_code=exit_code,
    )


def classify(session: AgentSession, job: JobView) -> Ending:
    """The outcome of a session whose pod has ended."""
    assert job.pod is not None
    recorded = _recorded(job.pod) or _reported_end(session, job.pod)
    usage = counts(recorded.usage) if recorded is not None else _reported(session)
    recorded = recorded or _committed_end(job.pod)
    work = _work(session, job.pod, recorded)
    outcome = _outcome(session, job.pod, recorded, work)
    left = recorded.documents if recorded is not None and outcome.reason == "Succeeded" else ()
    ran = pods.ran_for(job.pod, AGENT)
    return Ending(outcome, work, usage, ran, documents.of_session(left))


def without_pod(session: AgentSession) -> Ending:
    """The outcome of a session of which no pod is left, or that never had one."""
    status, stop = session.status, session.spec.stop
    if stop is not None:
        ended = failed(stop.reason, "stopped", started=status.pod is not None)
    elif status.abandoned is not None:
        ran = status.state is SessionState.WORKING
        ended = failed(*_given_up(status.abandoned, started=ran), started=ran)
    else:
        text = "its Job or its pod was deleted by someone else"
        ended = failed(Reason.POD_LOST, text, started=status.pod is not None)
    return Ending(outcome=ended, usage=_reported(session))


def lost(session: AgentSession, job: JobView, why: Diagnosis) -> Ending:
    """The outcome of a session whose node is gone. If it pushes yet, then only to its own ref."""
    pod, abandoned = job.pod or {}, session.status.abandoned
    reason, text = why.reason, why.message
    if session.spec.stop is not None:
        reason, text = session.spec.stop.reason, f"stopped; {text}"
    elif pods.is_disrupted(pod):
        reason = Reason.DISRUPTED
    elif abandoned is not None:
        reason, text = _given_up(abandoned, started=pods.has_started(pod, AGENT))
    ended = failed(reason, text, started=pods.has_started(pod, AGENT))
    return Ending(outcome=ended, usage=_reported(session))


def _reported(session: AgentSession) -> UsageCounts | None:
    return session.status.report.usage if session.status.report else None


def counts(usage: Usage) -> UsageCounts:
    """A program's usage as statuses carry it."""
    return UsageCounts(
        input=_count(usage.input),
        output=_count(usage.output),
        cache_read=_count(usage.cache_read),
        cache_write=_count(usage.cache_write),
    )


def _count(tokens: int) -> int:
    return min(max(tokens, 0), MOST_TOKENS)


def _recorded(pod: Object) -> RecorderResult | None:
    return _result(RecorderResult, pod, RECORDER)


def _reported_end(session: AgentSession, pod: Object) -> RecorderResult | None:
    """What the server heard from a recorder that ended well, but whose message is lost or cut.

    It says nothing of what changed, so that every condition of a gate counts as met.
    """
    report, pushed = session.status.report, _pushed(pod)
    if report is None or not report.finished or report.outcome is None:
        return None
    if pushed is None or (report.checkpoint or pushed.base) != pushed.sha:
        return None
    usage = report.usage or UsageCounts()
    final = FinalRecord(
        report.outcome,
        no_change=bool(report.no_change),
        low_confidence=report.low_confidence or "",
    )
    tokens = Usage(usage.input, usage.output, usage.cache_read, usage.cache_write)
    return _without_message(pod, pushed, final, tokens)


def _committed_end(pod: Object) -> RecorderResult | None:
    """The same, by the trailers of the last commit, which the pusher has read: no server heard it.

    They tell no tokens.
    """
    pushed = _pushed(pod)
    if pushed is None or not pushed.final or pushed.sha == pushed.base:
        return None
    if pushed.outcome not in trailers.OUTCOMES:
        return None
    stopped = Reason.STALLED if pushed.outcome == Reason.STALLED else None
    final = FinalRecord(pushed.outcome, low_confidence=pushed.unsure)
    found = _without_message(pod, pushed, final, Usage())
    return replace(found, stopped=stopped) if found is not None else None


def _without_message(
    pod: Object, pushed: PusherResult, final: FinalRecord, usage: Usage
) -> RecorderResult | None:
    """What a recorder that ended well has said of this end; None: it did not end well."""
    ended = pods.terminated(pod, RECORDER)
    if ended is None or ended.get("exitCode") != 0:
        return None
    changed = Changed(files=int(pushed.sha != pushed.base), python=True, tests=True, deps=True)
    return RecorderResult(pushed.base, pushed.sha, pushed.tree, changed, usage, final)


def _pushed(pod: Object) -> PusherResult | None:
    return _result(PusherResult, pod, PUSHER)


def _result(kind: type[T], pod: Object, program: str) -> T | None:
    """What the program left; None: nothing, or nothing that can be read."""
    ended = pods.terminated(pod, program)
    try:
        return load(kind, (ended or {}).get("message") or "")
    except ValueError:
        return None


def _work(session: AgentSession, pod: Object, recorded: RecorderResult | None) -> Work | None:
    """The commit that the pusher left on the remote; None: it left none.

    It is final only where it is the commit that the recorder made last.
    """
    pushed = _pushed(pod)
    if pushed is None:
        return None
    changed = recorded.changed if recorded is not None and recorded.sha == pushed.sha else None
    return Work(
        base=pushed.base,
        sha=pushed.sha,
        tree=pushed.tree,
        ref=session.spec.work_ref,
        final=pushed.final and changed is not None,
        **candidate.facts_of(changed or _UNKNOWN),
    )


def _outcome(
    session: AgentSession, pod: Object, recorded: RecorderResult | None, work: Work | None
) -> Outcome:
    started = pods.has_started(pod, AGENT)
    agent = pods.terminated(pod, AGENT) or {}
    code = agent.get("exitCode")
    early = diagnosis.failure_of(pod, CHECKOUT)
    if early is not None and early.reason != Reason.INFRASTRUCTURE_ERROR:
        return failed(early.reason, early.message, started=False)
    ended = _ended_from_outside(session, pod, finished=_finished(pod, work))
    setup = executed.setup_failure(pod, SETUP)
    # The disk that it took is no agent's.
    if setup is not None and (ended is None or ended[0] == Reason.AGENT_DISK_FULL):
        return failed(setup.reason, setup.message, started=False)
    if ended is not None:
        reason, message = ended
        return failed(reason, message, started=started, exit_code=code)
    if agent.get("reason") == "OOMKilled":
        return failed(Reason.AGENT_OUT_OF_MEMORY, "the agent ran out of memory", started=True)
    if pods.could_not_start(agent) or _not_found(pod, agent, recorded):
        message, text = str(agent.get("message") or ""), "the agent's command was not found"
        # What does not start has said nothing: these are the runtime's words.
        text = (
            message or text
            if pods.could_not_start(agent)
            else quoting(text, message, MESSAGE_LIMIT)
        )
        return failed(Reason.AGENT_NOT_STARTED, text, started=False, exit_code=code)
    if early is not None:
        return failed(early.reason, early.message, started=False)
    if not agent:
        return failed(Reason.INFRASTRUCTURE_ERROR, "the agent did not run", started=started)
    return _after_run(pod, recorded, work, code)


def _finished(pod: Object, work: Work | None) -> bool:
    """Whether the agent had succeeded before the pod was told to end, and its work is pushed."""
    agent = pods.terminated(pod, AGENT) or {}
    if agent.get("exitCode") != 0 or work is None or not work.final:
        return False
    finished_at, told_to_end = agent.get("finishedAt"), pods.asked_to_end(pod)
    if told_to_end is None:
        return True
    return finished_at is not None and pods.parse_time(finished_at) < told_to_end


def _ended_from_outside(
    session: AgentSession, pod: Object, *, finished: bool
) -> tuple[str, str] | None:
    """(reason, message) when the pod was ended from outside, and not by its own containers."""
    deadline = pods.reason(pod) == "DeadlineExceeded" and pods.has_started(pod, AGENT)
    if deadline and not finished:
        return Reason.TIMEOUT, f"not done after {session.spec.timeout_seconds} s"
    if session.spec.stop is not None:
        return session.spec.stop.reason, "stopped"
    if session.status.abandoned is not None and not finished:
        return _given_up(session.status.abandoned, started=pods.has_started(pod, AGENT))
    if pods.is_disrupted(pod):
        return Reason.DISRUPTED, "the pod was disrupted"
    if pods.reason(pod) == "Evicted":
        return Reason.AGENT_DISK_FULL, str(pod["status"].get("message", ""))
    if pods.is_deleting(pod) and not finished:
        return Reason.POD_LOST, "the pod was deleted by someone else"
    return None


def _given_up(abandoned: Abandoned, *, started: bool) -> tuple[str, str]:
    """(reason, message) of a run that was given up.

    Where its agent started all the same, what was said to be missing was there: it is no evidence
    for other Tasks, and a run was paid for, which counts to the cap.
    """
    if not started or abandoned.reason not in diagnosis.KEEP_FROM_STARTING:
        return abandoned.reason, abandoned.message
    text = f"its pod was given up just before its agent started: {abandoned.message}"
    return Reason.POD_LOST, text


def _not_found(pod: Object, agent: Object, recorded: RecorderResult | None) -> bool:
    """Whether the launcher could not start the command: it costs no attempt.

    A command that ran may end with the same exit code, but later, or it has left something; and it
    may keep the recorder from telling. Its own record of the end is not asked: it can forge that.
    """
    if agent.get("exitCode") not in (126, 127):
        return False
    if recorded is None and (pods.terminated(pod, RECORDER) or {}).get("exitCode"):
        return False
    end = agent.get("finishedAt")
    if not agent.get("startedAt") or not end:
        return True
    if recorded is None or recorded.let_go is None:
        return pods.ran_for(pod, AGENT).total_seconds() <= WAITS_SECONDS
    did_nothing = recorded.sha == recorded.base and recorded.usage == Usage()
    return did_nothing and pods.parse_time(end).timestamp() - recorded.let_go <= AT_ONCE_SECONDS


def _after_run(
    pod: Object, recorded: RecorderResult | None, work: Work | None, code: int | None
) -> Outcome:
    for name in (RECORDER, PUSHER):
        problem = diagnosis.failure_of(pod, name)
        if problem is not None and not pods.ran_out_of_memory(pod, name):
            return failed(problem.reason, problem.message, started=True, exit_code=code)
    if recorded is None or work is None or not work.final:
        if pods.ran_out_of_memory(pod, RECORDER):
            text = "the recorder ran out of memory on the tree that the agent left"
            return failed(Reason.SNAPSHOT_TOO_LARGE, text, started=True, exit_code=code)
        text = "the agent ran, but its work could not be taken"
        return failed(Reason.INFRASTRUCTURE_ERROR, text, started=True, exit_code=code)
    final = recorded.final
    facts = {
        "exit_code": code,
        "text": sanitise(final.text, TEXT_LIMIT),
        "no_change": final.no_change,
        "low_confidence": line(final.low_confidence, 64) or None,
    }
    if recorded.stopped == Reason.STALLED:
        text = "no sign of activity; it was stopped"
        return failed(Reason.STALLED, text, started=True).model_copy(update=facts)
    if final.outcome == Reason.BLOCKED:
        named = tuple(filter(blocked.is_name, final.waits_for[: blocked.MOST_TASKS]))
        waits = failed(Reason.BLOCKED, _told(final, code), started=True)
        return waits.model_copy(update={**facts, "waits_for": named or None})
    if final.outcome != "Succeeded":
        if final.retry_after is not None:
            facts["retry_after_seconds"] = min(max(final.retry_after, 0), RETRY_LIMIT)
        return failed(final.outcome, _told(final, code), started=True).model_copy(update=facts)
    if code != 0:
        text = f"the agent ended with exit code {code}"
        return failed(Reason.AGENT_FAILED, text, started=True).model_copy(update=facts)
    ignored = line(recorded.ignored, MESSAGE_LIMIT)
    return Outcome(reason="Succeeded", message=ignored, started=True).model_copy(update=facts)


def _told(final: FinalRecord, code: int | None) -> str:
    """How the agent's output says that it ended: what that means, and its own words as a quote."""
    failed_ = f"the agent ended with exit code {code}" if code else "the agent reports a failure"
    return quoting(_ENDS.get(final.outcome, failed_), final.message, MESSAGE_LIMIT)
