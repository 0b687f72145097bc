"""The Plans and Tasks of the namespace that stand still until a person acts, or decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bernstein.api.approvals.approval import Approval
from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.api.waiting import LONGEST_MESSAGE
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor.finding import Finding, Outcome, unreadable
from bernstein.cli.commands.pending import is_pending
from bernstein.cli.naming import called
from bernstein.cli.output.notes import naming
from bernstein.core.approvals.commands import approve
from bernstein.core.owners import plan_of
from bernstein.core.sanitise import line, some
from bernstein.core.waiting import parted, stands_still
from bernstein.kube.errors import Forbidden

_CAUSES = 5
"""So many causes are told of each reason."""


async def look(cluster: Cluster) -> list[Finding]:
    here = f"in namespace '{cluster.namespace}'"
    subjects: list[Plan | Task] = []
    asked: list[Approval] = []
    unread: list[Finding] = []
    try:
        subjects = [*await cluster.plans(), *await cluster.tasks()]
    except Forbidden:
        unread.append(unreadable("work", f"Plans and Tasks {here}"))
    try:
        asked = [approval for approval in await cluster.approvals() if is_pending(approval)]
    except Forbidden:
        unread.append(unreadable("work", f"Approvals {here}"))
    found = [*unread, *by_cause(subjects), *paused(subjects), *_asked(asked)]
    return found or [Finding("work", Outcome.GOOD, f"nothing {here} needs a person")]


def by_cause(subjects: Iterable[Plan | Task]) -> list[Finding]:
    """One finding for each reason and what is said of it, however many stand still for it: of a
    reason the first few, and one for the rest. What has ended needs nobody."""
    stalled: dict[str, dict[str, list[Plan | Task]]] = {}
    for subject in subjects:
        waiting = subject.status.waiting
        if waiting is not None and stands_still(subject.status):
            causes = stalled.setdefault(waiting.reason, {})
            causes.setdefault(waiting.message, []).append(subject)
    found = []
    for reason, causes in sorted(stalled.items()):
        groups = list(causes.values())
        found += [_of(reason, those) for those in groups[:_CAUSES]]
        rest = [subject for those in groups[_CAUSES:] for subject in those]
        found += [_rest(reason, rest)] if rest else []
    return found


def _of(reason: str, those: Sequence[Plan | Task]) -> Finding:
    first = those[0]
    assert first.status.waiting is not None
    cause, remedy = parted(first.status.waiting.message)
    text = f"{_need(those, reason)}: {line(cause, LONGEST_MESSAGE)}"
    plans = {*map(_plan_of, those)}
    if remedy and len(plans) == 1:
        remedy = naming(plans.pop(), remedy)
    return Finding("work", Outcome.BAD, text, remedy or _shows(first), first.metadata.name)


def paused(subjects: Iterable[Plan | Task]) -> list[Finding]:
    """One finding for each cause for which something is tried again by itself although somebody
    can help, the first few of them."""
    causes: dict[str, list[Plan | Task]] = {}
    for subject in subjects:
        waiting = subject.status.waiting
        if waiting is None or waiting.until is None or stands_still(subject.status):
            continue
        if parted(waiting.message)[1]:
            causes.setdefault(waiting.message, []).append(subject)
    return [_tried(message, those) for message, those in list(causes.items())[:_CAUSES]]


def _tried(message: str, those: Sequence[Plan | Task]) -> Finding:
    cause, remedy = parted(message)
    names, first = some(map(called, those), len(those)), those[0]
    goes_on = "is tried again by itself" if len(those) == 1 else "are tried again by themselves"
    assert first.status.waiting is not None
    why = f"{first.status.waiting.reason}: {line(cause, LONGEST_MESSAGE)}"
    text = f"{names} {goes_on}: {why}"
    return Finding("work", Outcome.WARNING, text, remedy or "", first.metadata.name)


def _plan_of(subject: Plan | Task) -> str:
    """The name of the Plan that it is or belongs to; that of a Task which belongs to none."""
    owner = plan_of(subject) if isinstance(subject, Task) else None
    return owner.name if owner is not None else subject.metadata.name


def _rest(reason: str, those: Sequence[Plan | Task]) -> Finding:
    text = f"{_need(those, reason)}, for other causes"
    return Finding("work", Outcome.BAD, text, _shows(those[0]), those[0].metadata.name)


def _shows(subject: Plan | Task) -> str:
    """What helps where nothing better is known."""
    command = "status" if isinstance(subject, Plan) else "logs"
    return f"`bernstein {command} {subject.metadata.name}` says why"


def _need(those: Sequence[Plan | Task], reason: str) -> str:
    names = some(map(called, those), len(those))
    return f"{names} {'needs' if len(those) == 1 else 'need'} a person ({reason})"


def _asked(approvals: Sequence[Approval]) -> list[Finding]:
    """What people are asked about is no fault; it goes on when they have decided."""
    if not approvals:
        return []
    subjects = [approval.spec.subject for approval in approvals]
    names = some((f"{each.kind} '{each.name}'" for each in subjects), len(subjects))
    text, shown, command = f"{names} wait", "them", approve("NAME", None)
    if len(subjects) == 1:
        command = approve(subjects[0].name, approvals[0].spec.asks)
        text, shown = f"{names} waits", "it"
    remedy = f"`bernstein pending` shows {shown}; decide with `{command}`"
    text = f"{text} for a person's decision"
    return [Finding("work", Outcome.WARNING, text, remedy, subjects[0].name)]
