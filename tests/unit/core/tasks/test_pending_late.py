"""A person's decision ends nothing beside a check that a late request has begun."""

from __future__ import annotations

import pytest

from bernstein.api.approvals.approval import Approval
from bernstein.api.pod import CHECK, INSPECT, JUDGE
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import DeleteJobs, TaskDecision
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from tests.unit.core import objects, scheduled
from tests.unit.core.approvals.asked import DIGEST, asking, decided, known, made
from tests.unit.core.delivery.tasks import verified
from tests.unit.core.objects import COMPARED, NOW, ended, job, over, pod, running, snapshot

ATTEMPT = {"session": "work-s1", "attempt": 1, "counted": True, "reason": "Succeeded"}
NAME = "work-s1-inspect-0"


def look(status: TaskStatus, *approvals: Approval, jobs: tuple[JobView, ...] = ()) -> TaskDecision:
    subject = objects.task(status=status, maxRetries=0)
    given = snapshot(subject, project=asking(), approvals=known(*approvals), jobs=jobs)
    return scheduled.decide(given, NOW)


def pending() -> TaskStatus:
    judged = {"digest": DIGEST, "protected_by": COMPARED}
    return look(verified(verification=judged, attempts=(ATTEMPT,))).status


@pytest.mark.parametrize("decision", ["Approve", "Retry", "Reject"])
@pytest.mark.parametrize("check", [CHECK, INSPECT, JUDGE])
def test_what_is_decided_counts_once_no_check_is_at_work(check: str, decision: str) -> None:
    waits = pending()
    approval = decided(made(look(waits)), decision)
    late = job(NAME, pod(running("checkout"), running(check)))

    found = look(waits, approval, jobs=(late,))

    assert found.status.state is TaskState.PENDING_APPROVAL
    assert found.status.ended_at is None
    assert (found.actions, found.requeue_after) == ((DeleteJobs((late,)),), LOOK_AGAIN_SECONDS)
    gone = job(NAME, over(ended("checkout"), ended(check)))
    assert look(waits, approval, jobs=(gone,)).status == look(waits, approval).status
    assert look(waits, approval).status.state is not TaskState.PENDING_APPROVAL
