"""What the commits say by which a Plan's work gets to the branch.

They are made of statuses and of the Plan's own words. As in the text of a pull request nobody is
mentioned in them, and no issue is linked or closed: forges read what is pushed, too.
"""

from __future__ import annotations

from bernstein.api.plan import PlanStatus
from bernstein.core.delivery.pull_request import defused, heading, landed
from bernstein.core.sanitise import text
from bernstein.core.snapshot import PlanSnapshot

MOST_STEPS = 50
"""Steps that are listed; of all others their number is told."""
_SUBJECT = 200
_STEP = 120
_GOAL = 2000


def merge(snapshot: PlanSnapshot, status: PlanStatus) -> str:
    """Of the commit that merges it with what was pushed meanwhile."""
    what = "plan" if status.partial is None else "part of plan"
    name = defused(snapshot.plan.spec.name, _SUBJECT) or snapshot.plan.metadata.name
    return _message(f"Merge {what} {name}", (), snapshot)


def squash(snapshot: PlanSnapshot, status: PlanStatus) -> str:
    """Of the one commit that it becomes: what was asked for, and the steps that are in it."""
    plan = snapshot.plan
    goal = "\n".join(
        defused(each, _GOAL) for each in text(plan.spec.description or "", _GOAL).split("\n")
    )
    subject = defused(plan.spec.name, _SUBJECT) or plan.metadata.name
    if status.partial is not None:
        subject = f"Part of {subject}"
    # Of subtasks only Tasks say the titles, and a commit that is made anew must not differ.
    rows = [*{piece.step.name: piece.step for piece in landed(status)}.values()]
    steps = [f"* {defused(heading(plan, row), _STEP)}" for row in rows[:MOST_STEPS]]
    if len(rows) > MOST_STEPS:
        steps.append(f"* and {len(rows) - MOST_STEPS} more")
    return _message(subject, (goal, "\n".join(steps)), snapshot)


def _message(subject: str, parts: tuple[str, ...], snapshot: PlanSnapshot) -> str:
    """With the trailers last, as a paragraph of their own: nothing before them is read as one."""
    meta = snapshot.plan.metadata
    paragraphs = (subject, *parts, f"Bernstein-Plan: {meta.namespace}/{meta.name}")
    return "\n\n".join(told for each in paragraphs if (told := each.strip())) + "\n"
