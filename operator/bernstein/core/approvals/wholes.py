"""What people have pushed to the work of a whole Plan: whether all have said yes who must.

Models and people are asked about one step's work each. Of a whole nobody is asked, so that what
needs their yes cannot have it: nothing of that is taken for granted.
"""

from __future__ import annotations

from bernstein.api.verification import Verification
from bernstein.checks.changes import digest_of
from bernstein.core.approvals import policy
from bernstein.core.sanitise import line, some
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.verification.expected import plan as verification

_LONGEST = 600


def without_model(snapshot: PlanSnapshot) -> str:
    """Why nothing that people push can be verified as a whole, as a sentence without a full stop;
    "": it can."""
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
    if why := without_model(snapshot):
        return why
    rules = policy.effective(project.spec, snapshot.plan.spec)
    protected = digest_of(project.spec.protected_paths)
    because = policy.why_whole(rules, snapshot.tasks.values(), judged, protected)
    if not because:
        return ""
    told = "a person would have to say yes, and nobody is asked about a Plan as a whole: "
    return line(told + "; ".join(because), _LONGEST)
