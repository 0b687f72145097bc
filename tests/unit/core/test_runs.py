"""How far a run is, by what the Job, the pod and the API server say of it."""

from __future__ import annotations

import pytest

from bernstein.api.pod import FENCE
from bernstein.core import jobs, labels, runs
from bernstein.core.jobs import JobView
from bernstein.core.runs import LOST_SECONDS, State
from tests.unit.core.objects import NOW, at, job, pod, running, waiting

WORKS = pod(running("agent"))
STATES: dict[str, tuple[JobView | None, State]] = {
    "no Job": (None, State.WANTED),
    "refused": (jobs.refusal("j", "exceeded quota", NOW), State.GONE),
    "a fence": (job("j", labels={labels.JOB: FENCE}), State.GONE),
    "nothing is left": (jobs.gone("j", NOW), State.GONE),
    "no pod yet": (job("j"), State.SEEN),
    "complete, its pod is not seen": (job("j", complete=True), State.ABANDONED),
    "failed, its pod is not seen": (job("j", failed="BackoffLimitExceeded"), State.ABANDONED),
    "complete, there is no pod": (job("j", complete=True, no_pod=True), State.GONE),
    "deleted, its pod is not seen": (job("j", deleting=True, complete=True), State.ABANDONED),
    "pending": (job("j", pod(waiting("agent"), phase="Pending")), State.SEEN),
    "at work": (job("j", WORKS), State.RUNNING),
    "at work, and its Job is complete": (job("j", WORKS, complete=True), State.RUNNING),
    "at work, and its Job is deleted": (job("j", WORKS, deleting=True), State.RUNNING),
    "unknown": (job("j", pod(running("agent"), phase="Unknown")), State.RUNNING),
    "succeeded": (job("j", pod(phase="Succeeded")), State.ENDED),
    "failed": (job("j", pod(phase="Failed")), State.ENDED),
    "failed and deleted": (job("j", pod(phase="Failed", deleting=True)), State.ENDED),
    "told to end": (job("j", pod(running("agent"), deleting=120)), State.ABANDONED),
    "told to end before it began": (
        job("j", pod(waiting("agent"), phase="Pending", deleting=True)),
        State.ABANDONED,
    ),
    "told to end before it had a node": (
        job("j", pod(waiting("agent"), phase="Pending", deleting=True, node=None)),
        State.GONE,
    ),
    "its node is silent, not for long": (
        job("j", pod(running("agent"), deleting=-LOST_SECONDS)),
        State.ABANDONED,
    ),
    "its node is silent": (
        job("j", pod(running("agent"), deleting=-LOST_SECONDS - 1)),
        State.LOST,
    ),
}


@pytest.mark.parametrize("fact", STATES)
def test_a_run_is_as_far_as_its_pod_is(fact: str) -> None:
    view, state = STATES[fact]

    assert runs.state(view, NOW) is state
    over = state in (State.ENDED, State.GONE, State.LOST) or view is None
    assert runs.is_over(view, NOW) is over


def test_a_node_that_does_not_end_a_pod_in_time_is_not_waited_for() -> None:
    alive = pod(running("agent"))
    alive["spec"] |= {"activeDeadlineSeconds": 100, "terminationGracePeriodSeconds": 20}
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(0).isoformat()}
    late = 100 + 20 + LOST_SECONDS

    assert not runs.is_overdue(job("j", alive), at(late + 1)), "it has no node"
    alive["status"]["conditions"].append(scheduled)
    assert not runs.is_overdue(job("j", alive), at(late))
    assert runs.is_overdue(job("j", alive), at(late + 1))
    alive["metadata"]["deletionTimestamp"] = at(late).isoformat()
    assert not runs.is_overdue(job("j", alive), at(late + 1)), "it was told already"
