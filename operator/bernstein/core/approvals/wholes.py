"""What people have pushed to the work of a whole Plan: whether all have said yes who must.

Models and people are asked about one step's work each. Of a whole nobody is asked, so that what
needs their yes cannot have it: nothing of that is taken for granted.
"""

from __future__ import annotations

from bernstein.api.plans.rows import PlanTask
from bernstein.api.states import TaskState
from bernstein.api.verification import Verification
from bernstein.checks.changes import digest_of
from bernstein.core.approvals import policy
from bernstein.core.projects.protected import protected_paths
from bernstein.core.sanitise import line, some
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.verification.expected import plan as verification

_LONGEST = 600


def unverifiable(snapshot: PlanSnapshot) -> str:
    """Why nothing that people push can be verified as a whole, as a sentence without a full stop;
    "": it can."""
    if gone := _gone(snapshot):
        which = some((f"'{line(name, 63)}'" for name in gone), len(gone))
        return f"nobody knows any more what was asked of work that is in it, as {which} is deleted"
    left = verification.left_to_steps(snapshot)
    if not left:
        return ""
    which = some((f"'{line(title, 60)}'" for title in left), len(left))
    return f"models judge the work of one step, and {which} would not be asked"


def without_yes(snapshot: PlanSnapshot, judged: Verification) -> str:
    """Why this may not be delivered although every check has passed, in the same words."""
    project = snapshot.project
    if project is None:
        return "its Project is gone"
    if why := unverifiable(snapshot):
        return why
    rules = policy.effective(project.spec, snapshot.plan.spec)
    protected = digest_of(protected_paths(project.spec))
    because = (
        *policy.why_whole(rules, snapshot.tasks.values(), judged, protected),
        *policy.why_models(judged),
    )
    if not because:
        return ""
    told = "a person would have to say yes, and nobody is asked about a Plan as a whole: "
    return line(told + "; ".join(because), _LONGEST)


def _gone(snapshot: PlanSnapshot) -> tuple[str, ...]:
    """The Tasks whose work is in it, and that are not there any more: with each went its signals,
    and what it asked of models and people."""
    delivered = (
        row
        for row in snapshot.status.tasks
        if row.state == TaskState.CLOSED or row.landed is not None
    )
    return tuple(row.name for row in delivered if not _is_there(row, snapshot))


def _is_there(row: PlanTask, snapshot: PlanSnapshot) -> bool:
    task = snapshot.tasks.get(row.name)
    return task is not None and row.uid in (None, task.metadata.uid)
