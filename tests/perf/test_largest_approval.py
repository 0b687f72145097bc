"""What the largest Approval that the API takes costs the operator's loop at once.

It shows a person the work of a Task that as many checks have judged as a Task may have.
"""

from __future__ import annotations

from bernstein.api.approvals import approval as approvals
from bernstein.api.approvals.approval import MOST_SHOWN, AskedApproval
from bernstein.api.task import Task
from bernstein.api.verification import MOST_CHECKS
from bernstein.core.approvals.decide import ApprovalSnapshot, status_of
from bernstein.kube.patches import json_patch
from tests.perf.pace import allowed
from tests.perf.test_largest_objects import MOST_SECONDS, Longest
from tests.perf.test_largest_session import MONEY, SHA, text
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object

NAME = "a" * 60
ASKS = {"attempt": 1_000_000, "work": SHA, "sha": SHA, "base": SHA, "digest": "d" * 64}


def spec() -> Object:
    """Every field as long as it may be."""
    return {
        "subject": {"kind": "Task", "name": "t" * 40, "uid": "u" * 64},
        "asks": {**ASKS, "notBy": text(300)},
        "decision": "Retry",
        "decidedBy": "b" + text(299),
        "reason": text(1024),
    }


def subject() -> Task:
    """A Task that asks for it, with the longest verdicts."""
    judged = {"kind": "gate", "verdict": "Failed", "asked": "d" * 16}
    judged |= {"title": text(300), "excerpt": text(80)}
    checks = [{"name": f"gate-{number}", **judged} for number in range(MOST_CHECKS)]
    asked = {"name": NAME, "asks": ASKS, "because": [text(300)] * 11, "since": NOW}
    status = objects.done(
        verification=objects.verification(ref="r" * 300, checks=checks),
        approval=AskedApproval.model_validate(asked),
        spend_usd=MONEY,
    )
    return objects.task(title=text(300), author=text(300), status=status)


def test_no_step_of_the_largest_approval_takes_the_loop_200_ms() -> None:
    longest, asking = Longest(), subject()
    obj: Object = {
        "metadata": objects.metadata(NAME, "uid-approval"),
        "spec": spec(),
        "status": {"observedGeneration": 1, "state": "Pending"},
    }

    read = longest.of("parse", lambda: approvals.parse(obj))
    look = ApprovalSnapshot(read, asking)
    found = longest.of("look at what it is about", lambda: status_of(look, NOW))
    longest.of("patch", lambda: json_patch({}, found.dump(), "/status"))

    assert found.shown is not None
    assert len(found.shown.checks) == MOST_SHOWN
    shown = ", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in longest.steps.items())
    print(f"\n{shown}")
    assert max(longest.steps.values()) < allowed(MOST_SECONDS), shown
