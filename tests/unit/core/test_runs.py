"""How far a run is, by what the Job, the pod and the API server say of it."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import FENCE
from bernstein.core import jobs, labels, runs
from bernstein.core.jobs import JobView
from bernstein.core.runs import LOST_SECONDS, State
from tests.unit.core.objects import NOW, Object, at, ended, job, pod, running, waiting

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
    "ended, and a later pod of its Job is at work": (
        job("j", pod(phase="Failed"), another=True),
        State.ABANDONED,
    ),
    "its node is silent, and a later pod of its Job is at work": (
        job("j", pod(running("agent"), deleting=-LOST_SECONDS - 1), another=True),
        State.ABANDONED,
    ),
    "at work, and so is a later pod of its Job": (job("j", WORKS, another=True), State.RUNNING),
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


def left(*ends: Object, limit: int | None = 100, began: float = -60, **more: Any) -> JobView:
    """A Job whose pod's containers ended like this, and whose phase is still Running."""
    told = pod(*ends, **more)
    told["spec"]["initContainers"] = [{"name": "checkout"}, {"name": "recorder"}]
    told["spec"]["containers"] = [{"name": "agent"}]
    if limit is not None:
        told["spec"]["activeDeadlineSeconds"] = limit
    told["status"]["startTime"] = at(began).isoformat()
    return job("j", told)


WELL = (ended("checkout"), ended("recorder"), ended("agent"))


@pytest.mark.parametrize("limit", [None, 61])
def test_a_run_has_ended_once_all_its_containers_ended_well(limit: int | None) -> None:
    """The kubelet says so of the pod seconds later."""
    assert runs.state(left(*WELL, limit=limit), NOW) is State.ENDED


@pytest.mark.parametrize("said", ["", '{"base": "cut thr'])
def test_a_message_that_is_lost_or_cut_is_not_waited_for(said: str) -> None:
    """The kubelet writes it together with the end of its container, or never."""
    view = left(ended("checkout"), ended("recorder", said=said), ended("agent"))

    assert runs.state(view, NOW) is State.ENDED


@pytest.mark.parametrize(
    "view",
    [
        left(ended("checkout"), running("recorder"), ended("agent")),
        left(ended("recorder"), ended("agent")),
        left(ended("checkout"), ended("recorder"), ended("agent", 1)),
        left(ended("checkout"), ended("recorder", 143), ended("agent")),
        left(*WELL, disrupted=True),
        left(*WELL, limit=60),
    ],
    ids=["one runs", "one is not told of", "failed", "killed", "disrupted", "at its deadline"],
)
def test_any_other_end_is_read_with_the_phase_of_the_pod(view: JobView) -> None:
    assert runs.state(view, NOW) is State.RUNNING


def test_the_end_of_a_pod_that_is_told_to_end_is_read_with_its_phase() -> None:
    assert runs.state(left(*WELL, deleting=30), NOW) is State.ABANDONED
