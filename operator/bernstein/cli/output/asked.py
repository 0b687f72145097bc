"""What people must decide, and the commands that do."""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import WaitReason
from bernstein.core.approvals.commands import approve
from bernstein.core.waiting import is_stalled

SHOWN = 3
"""Commands on one line."""


def is_asked(subject: Plan | Task) -> bool:
    """Whether a person must decide about it, and nobody has."""
    if isinstance(subject, Plan):
        pending = subject.status.phase == TaskState.PENDING_APPROVAL or _asks_of_phase(subject)
    else:
        pending = subject.status.state is TaskState.PENDING_APPROVAL
    asked = question_of(subject)
    decided = asked is not None and asked.decision is not None
    return (
        pending and not decided and subject.spec.cancel is None and not is_stalled(subject.status)
    )


def question_of(subject: Plan | Task) -> AskedApproval | None:
    """What is asked about it: of a Plan the first that nobody has decided, else the last one."""
    if isinstance(subject, Task):
        return subject.status.approval
    every = subject.status.asked
    undecided = (asked for asked in every if asked.decision is None)
    return next(undecided, every[-1] if every else None)


def questions_of(subject: Plan | Task) -> tuple[AskedApproval, ...]:
    """All that is known to have been asked about it: of a Task the last one alone."""
    if isinstance(subject, Plan):
        return subject.status.asked
    asked = subject.status.approval
    return () if asked is None else (asked,)


def _asks_of_phase(plan: Plan) -> bool:
    """Whether a phase of its workflow waits for a person, while other nodes may be at work."""
    asked = question_of(plan)
    waits = asked is not None and asked.asks.phase is not None and asked.decision is None
    return waits and plan.status.ended_at is None


def remedy(*subjects: Plan | Task) -> str:
    """How to decide what these ask; "" where they ask nothing. Of a Plan whose Task asks and is not
    among them it is where that is told."""
    asking = [subject for subject in subjects if is_asked(subject)]
    if not asking:
        waits = any(map(_waits_for_a_person, subjects))
        return "decide what `bernstein pending` lists" if waits else ""
    commands = ", ".join(f"`{_command(subject)}`" for subject in asking[:SHOWN])
    more = len(asking) - SHOWN
    return f"decide with {commands}" + (f"; `bernstein pending` lists {more} more" * (more > 0))


def _command(subject: Plan | Task) -> str:
    """With the question, where one was decided before: without it the call could be that decision
    once more, and nothing would be written."""
    name, asked = subject.metadata.name, question_of(subject)
    if asked is None:
        return approve(name, None)
    return approve(name, asked.asks, *(("--approval", asked.name) if _was_decided(subject) else ()))


def _was_decided(subject: Plan | Task) -> bool:
    if isinstance(subject, Plan):
        return any(asked.decision is not None for asked in subject.status.asked)
    history = subject.status.history
    return any(move.from_state == TaskState.PENDING_APPROVAL for move in history)


def own_remedy(subject: Plan | Task) -> str:
    """The same of this one alone; "" where it is not itself what a person must decide."""
    return remedy(subject) if is_asked(subject) else ""


def _waits_for_a_person(subject: Plan | Task) -> bool:
    """Whether nothing of it moves before somebody has decided, about it or about what it holds."""
    waiting, cancel = subject.status.waiting, subject.spec.cancel
    awaited = waiting is not None and waiting.reason == WaitReason.AWAITING_APPROVAL
    return is_asked(subject) or (awaited and cancel is None)


def with_remedy(message: str, subject: Plan | Task) -> str:
    """The message, with how to decide where the subject itself is asked about."""
    return "; ".join(filter(None, (message, own_remedy(subject))))


def or_goes_on(subjects: Iterable[Plan | Task]) -> str:
    """What becomes of it while nobody looks: a person must decide or merge, or it goes on."""
    every = tuple(subjects)
    if helps := remedy(*every):
        return f"a person must {helps}"
    return next(filter(None, map(_merged_by_people, every)), "it goes on")


def stands_until_somebody_acts(plan: Plan) -> bool:
    """Whether it waits for what no run of ours does: something to be mended, or a merge."""
    waiting = plan.status.waiting
    return waiting is not None and (waiting.needs_person or bool(_merged_by_people(plan)))


def _merged_by_people(subject: Plan | Task) -> str:
    """Who merges which pull request, where one is waited for; "" elsewhere."""
    waiting = subject.status.waiting
    if waiting is None or waiting.reason != WaitReason.PULL_REQUEST_OPEN:
        return ""
    return waiting.message
