"""Done: its work is judged, then delivered."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import partial

from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.waiting import WaitReason
from bernstein.core import names
from bernstein.core.actions import TaskDecision, give_up
from bernstein.core.approvals import bypass
from bernstein.core.delivery import conflict, formatting, landing, proposal, tip
from bernstein.core.delivery.proposed import outdated, pushed
from bernstein.core.delivery.task import deliver, way_to_format
from bernstein.core.feedback import listening
from bernstein.core.feedback.listening import Heard, Listening
from bernstein.core.fsm import may_retry
from bernstein.core.projects import repositories
from bernstein.core.scheduling import landing_turns, siblings
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks import judged_anew, produced, rejection
from bernstein.core.tasks.attempts import fail
from bernstein.core.tasks.pending import asked as asked_of_people
from bernstein.core.tasks.pending import said_no
from bernstein.core.verification import formatted, summary
from bernstein.core.verification import round as rounds
from bernstein.core.verification.candidate import is_of_people, origin_of
from bernstein.core.verification.look import judging
from bernstein.core.verification.round import CannotRun, Passed, Rejected
from bernstein.core.waiting import is_mended, waits


def decide_done(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step of a Task whose agent has reported success."""
    if status.verification is None:
        return TaskDecision(fail(snapshot, status, Reason.POD_LOST, now))
    work = origin_of(status.verification).sha
    moved = pushed.back(status, snapshot.project, lambda same: same, work)
    if moved is not status:
        return _deliver(snapshot, moved, now)
    merged = outdated.back(status, snapshot.project, ("Merged",))
    if merged is not status:
        return _deliver(snapshot, merged, now)
    if status.verification.passed is False and not landing.is_lost(status):
        return _rejected(snapshot, status, now)
    if status.verification.passed is not None or landing.is_lost(status):
        return _deliver(snapshot, status, now)
    if siblings.waits_for_them(status) and not _is_mended(snapshot, status):
        return _on_failing_base(snapshot, TaskDecision(status), now)
    return _verify(snapshot, status, now)


def _rejected(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """What follows from a no. Of what people have pushed it is no agent's: no attempt is spent."""
    assert status.verification is not None
    which = summary.which(status.verification.checks)
    stopped = pushed.stopped(status, which, now) if is_of_people(status.verification) else None
    return TaskDecision(stopped) if stopped is not None else said_no(snapshot, status, now)


def _is_mended(snapshot: TaskSnapshot, status: TaskStatus) -> bool:
    return status.waiting is not None and is_mended(status.waiting, snapshot.project)


def _deliver(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """What does not merge is done once more on the new tip, if an attempt is left. Before anything
    is moved, people are asked who must be."""
    proposed = proposal.is_proposed(status)
    pending = asked_of_people(snapshot, status, now) if not proposed else None
    if pending is not None:
        return pending
    decision = deliver(snapshot, status, now)
    if proposed:
        return _listens(snapshot, decision, now)
    after = decision.status
    if after.state is TaskState.CLOSED:
        return produced.closed(snapshot, status, decision, now)
    if landing.is_queued(after) and not landing.is_queued(snapshot.status):
        return replace(decision, status=_in_line(snapshot, after, now))
    if not conflict.is_met(after) or conflict.is_met(status):
        return decision
    if after.resolved or not may_retry(after, snapshot.task.spec.max_retries):
        return decision
    anew = fail(snapshot, conflict.begins_anew(after), Reason.MERGE_CONFLICT, now)
    return replace(decision, status=anew)


def _listens(snapshot: TaskSnapshot, decision: TaskDecision, now: datetime) -> TaskDecision:
    """What is said of its pull request goes back to its agent, where the Project wants that."""
    status, project = decision.status, snapshot.project
    if project is None or status.state is not TaskState.DONE:
        return decision
    left = may_retry(status, snapshot.task.spec.max_retries)
    way = Listening(
        job=partial(names.session_job, snapshot.prefix_of_jobs(status)),
        whose="Task",
        project=project,
        jobs=snapshot.jobs,
        late=snapshot.late,
        refusal=_refusal(status, left=left),
    )
    match listening.step(status, way, now):
        case Heard(status):
            anew = fail(snapshot, rejection.by_feedback(status), Reason.REJECTED, now)
            return replace(decision, status=anew)
        case step:
            again = [t for t in (decision.requeue_after, step.requeue_after) if t is not None]
            actions = (*decision.actions, *step.actions)
            return TaskDecision(step.status, actions, min(again, default=None))


def _refusal(status: TaskStatus, *, left: bool) -> str | None:
    if pushed.holds(status.delivery):
        return pushed.HOLDS
    return None if left else "no attempt of the Task is left"


def _in_line(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    """The status of a Task that asks for its turn to land, with whom it lands after: the schedule
    would say that next. The turn itself is the schedule's to give."""
    own = snapshot.task.model_copy(update={"status": status})
    rivals = [
        other
        for other in snapshot.beside.values()
        if other.status.state is TaskState.DONE  # few of thousands are
        and other.status.project == status.project
        and other.metadata.uid != own.metadata.uid
    ]
    assert snapshot.project is not None
    called = partial(repositories.called, snapshot.project.whole.spec)
    turns = landing_turns.turns([*rivals, own], now, called)
    told = next((s for t, s in turns if t is own), status)
    return told if landing.step_of(told) is None else status


def _verify(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    assert status.verification is not None
    if not bypass.hold(snapshot, status.verification):
        anew = rounds.again(status, rounds.afresh(status.verification))
        return TaskDecision(anew, give_up(judging(snapshot.jobs)))
    if formatted.is_open(status.verification):
        step = formatting.take(status, way_to_format(snapshot, status), now)
        again = step.requeue_after if isinstance(step, formatting.AtWork) else None
        return TaskDecision(step.status, step.actions, again)
    match judged_anew.judge(snapshot, status, status.verification, now):
        case Passed(status, actions):
            delivered = _deliver(
                snapshot, status.model_copy(update={"feedback": None, "rejected": None}), now
            )
            return replace(delivered, actions=(*actions, *delivered.actions))
        case Rejected(status, _, actions):
            rejected = _rejected(snapshot, status, now)
            return replace(rejected, actions=(*actions, *rejected.actions))
        case CannotRun(status, actions):
            return _on_failing_base(snapshot, TaskDecision(status, actions), now)
        case rounds.Lost(status, why, actions):
            return TaskDecision(landing.lose(status, why, snapshot.project, now), actions)
        case rounds.Undecided(status, actions, again):
            return _on_failing_base(snapshot, TaskDecision(status, actions, again), now)


def _on_failing_base(snapshot: TaskSnapshot, decision: TaskDecision, now: datetime) -> TaskDecision:
    """What is decided of a Task whose base fails, too, so that only another base tells more.

    Tasks of its Plan that are at work are waited for; on what has landed since, the same work is
    judged anew. Where neither is left it stands still.
    """
    status, project, before = decision.status, snapshot.project, snapshot.status.waiting
    waits_on = siblings.waits_for_them(status)
    if project is None or not (waits_on or rounds.is_of_base(status)) or snapshot.plan is None:
        return decision
    assert status.verification is not None
    if before is None or before.reason != Reason.BASE_FAILS:
        since = before.since if before is not None and waits_on else now
        others = siblings.awaited_on_base(snapshot, status, since)
        if others is not None:
            told = rounds.told_of_base(status.verification)
            text = f"{told}: judged anew when {others} landed or"
            waiting = waits(status, WaitReason.SIBLINGS_AT_WORK, f"{text} ended", now)
            return replace(decision, status=landing.without_turn(waiting))
    if tip.known_tip(snapshot) not in (None, status.verification.base):
        anew = _deliver(snapshot, landing.on_newer_tip(status), now)
        return replace(anew, actions=(*decision.actions, *anew.actions))
    if waits_on:
        return replace(decision, status=rounds.fails_on_base(status, project, now))
    return decision
