"""Words for what a Task or a Plan does, waits for or ended with, and for what helps."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.meta import Condition
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Move, Task, TaskStatus
from bernstein.api.verification import Verification
from bernstein.api.waiting import Waiting, WaitReason
from bernstein.cli.output import asked
from bernstein.core import names
from bernstein.core.approvals import answers
from bernstein.core.owners import plan_of
from bernstein.core.plans.field_errors import did_you_mean
from bernstein.core.reasons import policy
from bernstein.core.reasons.row import Retry
from bernstein.core.sanitise import ELLIPSIS, line, quoted, some, text
from bernstein.core.serializers import plan_standing, task_status
from bernstein.core.verification import summary
from bernstein.core.waiting import is_stalled, parted, stands_still

_MENDED_FROM_OUTSIDE = (
    *(Reason.BUDGET_EXCEEDED, Reason.PROJECT_NOT_FOUND, Reason.PROJECT_NOT_READY),
    *(Reason.AGENT_NOT_FOUND, Reason.OPERATOR_TOO_OLD, Reason.TOKENS_NOT_REPORTED),
)
"""What nothing tries again by itself, because it is seen when it is mended."""
_FIELD = re.compile(r"; status\.(\w+) has (?:its words|more)")
"""How messages of ours name the field of a Task's status that quotes somebody."""
_UNKNOWN = re.compile(r"(?:no agent|the model) '(.*)', (?:it has|but): (.*)")
"""How messages of ours name an agent or a model that nobody knows, and what there is instead."""
MOST_COMPARED = 150
"""Words that an unknown one is compared with: more than a message mostly has."""
_CI = {"Pending": ", CI runs", "Passed": ", CI passed", "Failed": ", CI failed"}
_DELIVERED = ("Merged", "NoChange")
_LONGEST = 4096
LONGEST_NOTE = 200
"""Characters of what somebody else says that a terminal shows."""
_UNSEEN_SECONDS = 10
SHORT_SHA = 8
NOT_LOOKED_AT = "the operator has not looked at it yet: `bernstein doctor` tells whether it works"


def note(task: Task, progress: str, plan: Plan | None = None) -> str:
    """What a Task does, waits for, or ended with; one line, which a terminal's table cuts. `plan`:
    that it is of, where that is known."""
    status, word = task.status, task_status(task)
    match word:
        case "in_progress" | "claimed":
            attempt = f"attempt {status.attempt + 1}" if status.attempt else ""
            doing = line(progress, _LONGEST)
            doing = doing or ("starting" if word == "claimed" else "at work")
            return ": ".join(part for part in (attempt, doing) if part)
        case "done":
            return _verifying(task)
        case "closed":
            return _closed(task, plan)
        case "cancelled":
            return shortened(task.spec.cancel.reason, _LONGEST) if task.spec.cancel else ""
    if status.waiting is None:
        return line(_rejected(task), _LONGEST)
    return shortened(waits(status.waiting, task), _LONGEST)


def waits(waiting: Waiting, task: Task | None = None) -> str:
    """What is waited for, and until when. `task`: which waits, if it is one."""
    message = with_words(parted(waiting.message or waiting.reason)[0], waiting.reason, task)
    if waiting.until is None:
        return message
    return f"{message.removesuffix('.')} (again at {waiting.until.astimezone(UTC):%H:%M:%S} UTC)"


def last_failure(task: Task) -> Move | None:
    """The last change to Failed: work of the Task was refused, or an attempt failed."""
    failures = [move for move in task.status.history if move.to_state == TaskState.FAILED]
    return failures[-1] if failures else None


def ending(plan: Plan) -> tuple[str, str]:
    """(message, remedy): how a Plan ended, why it stands still or what it does, and what helps.

    Both may be empty.
    """
    reason, message = plan_standing(plan)
    if plan.status.waiting is None or not is_stalled(plan.status):
        return parted(text(message, _LONGEST))[0], asked.own_remedy(plan)
    message, remedy = explanation(plan.status.waiting)
    return labelled(reason, message), naming(plan.metadata.name, remedy)


def pull_request(pull: PullRequest) -> str:
    """Which one it is, how it stands, and what CI says of it."""
    told = f"pull request {pull.number}, {pull.state.lower()}{_CI.get(pull.ci or '', '')}"
    return f"{told}: {line(pull.url, _LONGEST)}"


def naming(plan: str, remedy: str) -> str:
    """The remedy with the Plan's own name in its command."""
    return remedy.replace("bplan NAME`", f"bplan {plan}`")


def labelled(reason: str, message: str) -> str:
    """The message with its reason before it, once."""
    return message if message.startswith(f"{reason}: ") else f"{reason}: {message}"


def how_it_goes_on(plan: Plan) -> str:
    """How a Plan that stands still goes on; "" for one that has ended or moves."""
    waiting = plan.status.waiting
    if waiting is None or not stands_still(plan.status):
        return ""
    mended = "It stands still, and goes on by itself once that is mended"
    if waiting.until is not None:
        moment = f"{waiting.until.astimezone(UTC):%H:%M:%S} UTC"
        return f"{mended}: it is tried again at {moment}, and at once when the Project changes."
    if waiting.reason == Reason.MERGE_CONFLICT:
        return f"It stands still: nothing is tried by itself.{_another_round(plan)}"
    retry = policy(waiting.reason).retry
    if waiting.reason in _MENDED_FROM_OUTSIDE:
        return f"{mended}."
    if retry is Retry.NEVER:
        return ""
    if retry is Retry.AT_ONCE or waiting.reason == Reason.GATE_ERRORED:
        return "It stands still: nothing is tried by itself until the Project changes."
    return f"{mended}, and at once when the Project changes."


def _another_round(plan: Plan) -> str:
    """How to give it another round, where the remedy does not say so."""
    if "`bernstein retry" in ending(plan)[1]:
        return ""
    return f" Another round: `bernstein retry {plan.metadata.name}`."


def unseen(plan: Plan, now: datetime, changed: datetime | None = None) -> str:
    """That the operator has not looked at a Plan that was made a while ago, or `changed` then, as
    far as somebody knows; or ""."""
    since = changed if plan.status.phase else plan.metadata.creation_timestamp
    is_seen = plan.status.phase and plan.status.observed_generation >= plan.metadata.generation
    if is_seen or since is None or (now - since).total_seconds() <= _UNSEEN_SECONDS:
        return ""
    return NOT_LOOKED_AT


def with_words(message: str, reason: str, task: Task | None, longest: int = _LONGEST) -> str:
    """The message with what an agent or a git server said, where it only names the field.

    What is waited for because another Task has met it is that one's to tell.
    """
    named = _FIELD.search(message)
    if named is None:
        return message
    said = line(_words(task.status, named[1], reason), longest) if task is not None else ""
    return message.replace(named[0], f": {said}" if said else "")


def ready_message(ready: Condition, project: Project) -> tuple[str, str | None]:
    """What a Project's condition says, with the words of the probe that it only points at, and the
    remedy if it has one."""
    message, remedy = parted(ready.message)
    named, probe = _FIELD.search(message), project.status.probe
    if named is None or named[1] != "probe":
        return message, remedy
    met = probe.findings if probe is not None else ()
    silent = probe.silent if probe is not None else None
    of = met or ((silent,) if silent is not None else ())
    said = dict.fromkeys(line(quoted(each.message), LONGEST_NOTE).rstrip(".") for each in of)
    words = [each for each in said if each]
    told = some(words, len(words))
    return message.replace(named[0], f": {told}" if told else ""), remedy


def _words(status: TaskStatus, field: str, reason: str) -> str:
    delivery, attempts = status.delivery, status.attempts
    if field == "blocked" and status.blocked is not None:
        return status.blocked.text if status.state is TaskState.BLOCKED else ""
    if field == "delivery" and delivery is not None and delivery.reason == reason:
        return quoted(delivery.message or "")
    if field in ("attempts", "feedback") and attempts and attempts[-1].reason == reason:
        return quoted(attempts[-1].message)
    return ""  # what checks have printed is told with their verdicts


def explanation(
    waiting: Waiting,
    task: Task | None = None,
    longest: int = LONGEST_NOTE,
    *,
    guesses: bool = True,
) -> tuple[str, str]:
    """(message, remedy) of what needs a person; the remedy may be empty. `task`: which waits, if it
    is one; `longest`: characters of what somebody else has said of it. `guesses`: with what may
    have been meant."""
    message, remedy = parted(text(waiting.message, _LONGEST))
    message = with_words(message, waiting.reason, task, longest)
    if guesses and waiting.reason in (Reason.AGENT_NOT_FOUND, Reason.MODEL_NOT_FOUND):
        message = _with_guess(message)
    remedy = policy(waiting.reason).remedy if remedy is None else remedy
    if task is None:
        return message, remedy
    remedy = remedy.replace("unblock TASK", f"unblock {task.metadata.name}")
    plan = plan_of(task)
    return message, remedy if plan is None else naming(plan.name, remedy)


def _with_guess(message: str) -> str:
    """The message with the known agent or model that an unknown one is close to. The operator says
    none: to compare what people write with all that is known takes long."""
    unknown = _UNKNOWN.search(message)
    if unknown is None:
        return message
    known = unknown[2].removesuffix(".").split(", ")[:MOST_COMPARED]
    guess = did_you_mean(unknown[1], known)
    return f"{message.removesuffix('.')}{guess}" if guess else message


def shortened(words: str, limit: int) -> str:
    """Words on one line; what is too long ends behind a word."""
    whole = line(words, limit)
    cut = whole.endswith(ELLIPSIS) and not words.rstrip().endswith(ELLIPSIS)
    return f"{whole[:-1].rpartition(' ')[0] or whole[:-1]}{ELLIPSIS}" if cut else whole


def reason(waiting: Waiting | None) -> str:
    """For a column of a table."""
    return "" if waiting is None else line(waiting.reason, 64)


def _rejected(task: Task) -> str:
    failure = last_failure(task)
    return f"{failure.reason}, tried again" if failure else ""


def _verifying(task: Task) -> str:
    status = task.status
    if status.state is TaskState.PENDING_APPROVAL:
        asks = status.approval.because if status.approval is not None else ()
        return line(": ".join(("awaits approval", *asks[:1])), _LONGEST)
    if status.verification is None or status.verification.passed is None:
        return _judging(status.verification)
    pull = status.delivery.pull_request if status.delivery else None
    waits_for = status.waiting.reason if status.waiting is not None else None
    if pull is not None and waits_for == WaitReason.PULL_REQUEST_OPEN:
        return line(pull_request(pull), _LONGEST)
    step = status.delivery.step if status.delivery else None
    if step is None and status.waiting is not None:
        return shortened(waits(status.waiting, task), _LONGEST)
    return f"merging ({step.lower()})" if step else "verified"


def _judging(judged: Verification | None) -> str:
    if judged is None:
        return "verifying"
    again = " on a newer tip" if judged.candidate else ""
    out = f"; still out: {judged.outstanding.checks}" if judged.outstanding else ""
    return line(f"verifying{again}{out}", _LONGEST)


def _closed(task: Task, plan: Plan | None) -> str:
    delivery, attempts = task.status.delivery, task.status.attempt
    tries = f", {attempts} attempts" if attempts > 1 else ""
    if task.status.produced is not None:
        return f"Plan '{task.status.produced.plan}' is made{tries}"
    if delivery and delivery.state == "NoChange":
        return f"verified, nothing to merge{tries}"
    sha = f" {delivery.sha[:SHORT_SHA]}" if delivery and delivery.sha else ""
    told = f"{_whereabouts(task, plan)}{sha}{tries}"
    return f"{told}{_less_than_all(task.status.verification)}{_decided(task.status)}"


def _whereabouts(task: Task, plan: Plan | None) -> str:
    """Where the work of a Task is that is Closed: that of a Plan's gets to the branch with it."""
    delivery = task.status.delivery
    if delivery is None or not names.is_work_ref(delivery.onto or ""):
        return "merged"
    whole = _delivery_of(task, plan) if plan is not None else None
    pull = whole.pull_request if whole is not None else None
    if whole is not None and whole.state in _DELIVERED:
        return "merged"
    if pull is not None and pull.state != "Closed":  # that it is merged a forge alone may say
        return f"in pull request {pull.number}"
    return "in the plan"


def _delivery_of(task: Task, plan: Plan) -> Delivery | None:
    """That of the Plan's work in the repository that the Task works in."""
    if not plan.status.repositories:
        return plan.status.delivery
    row = next((row for row in plan.status.tasks if row.name == task.metadata.name), None)
    its = (each for each in plan.status.repositories if row and each.name == row.repository)
    return next((each.delivery for each in its), None)


def _decided(status: TaskStatus) -> str:
    """Who has let it go on without which gate, and who has approved it."""
    without = summary.without(status.verification.checks) if status.verification else ""
    yes = answers.approval_of(status)
    told = [f"without {without}"] if without else []
    told += [f"approved{answers.by_whom(yes.by, None)}"] if yes is not None else []
    return line("".join(f", {each}" for each in told), _LONGEST)


def _less_than_all(judged: Verification | None) -> str:
    """What did not pass of what kept nothing back, and the score where it is not the whole."""
    bad = [c.name for c in judged.checks if c.verdict in ("Failed", "TimedOut")] if judged else []
    told = f", {line(', '.join(bad), _LONGEST)} failed (not required)" if bad else ""
    whole = judged is None or judged.quality_score in (None, 100)
    return told if whole else f"{told}, {score(judged)}"


def landings(plan: Plan, tasks: Iterable[Task]) -> list[tuple[str, Delivery]]:
    """What each Task has brought to the branch, or proposes, with its name, in the Plan's order;
    nothing of a Plan that brings it there as a whole."""
    status, by_name = plan.status, {task.metadata.name: task for task in tasks}
    begun = [each.integration for each in status.repositories] or [status.integration]
    if not any(each is not None and each.per is not None for each in begun):
        return []
    found = ((row.name, by_name.get(row.name)) for row in status.tasks)
    each = ((name, task.status.delivery) for name, task in found if task is not None)
    return [
        (name, delivery)
        for name, delivery in each
        if delivery is not None and (delivery.pull_request is not None or delivery.sha)
    ]


def judged(subject: Task | Plan) -> list[tuple[str, Verification]]:
    """How its work was judged, in each repository of a Plan that works in several, by its name; the
    name of one that works in one is ""."""
    rows = subject.status.repositories if isinstance(subject, Plan) else ()
    each = [(row.name, row.verification) for row in rows] or [("", subject.status.verification)]
    return [(where, verification) for where, verification in each if verification is not None]


def score(judged: Verification | None) -> str:
    """The quality score, if there is one."""
    if judged is None or judged.quality_score is None:
        return ""
    return f"quality score {judged.quality_score} of 100"
