"""How soon it is noticed that something outside is mended, and what waiting for it costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.project import Probe
from bernstein.core.jobs import JobView
from bernstein.core.waiting import is_stalled
from tests.unit.core import objects
from tests.unit.core.simulation.state import Job
from tests.unit.core.simulation.world import World

SECRET = ("CreateContainerConfigError", 'secret "git-work" not found')
IMAGE = ("ImagePullBackOff", "no such image")
QUOTA = ("FailedCreate", 'pods "x" is forbidden: exceeded quota: pods=4')
FAULTS = {"SecretNotFound": SECRET, "ImagePullFailed": IMAGE, "PodRejected": QUOTA}

NOTICED_SECONDS = 15
KUBELETS_SECONDS = 12
"""Between two looks for a Secret that a container waits for: 10 to 15."""
HOUR = 3600
STEP = 3
"""Seconds that go by at once in so long a time."""
JOBS_PER_HOUR = {SECRET: 90, IMAGE: 450, QUOTA: 300}
"""For a Secret another pod waits, and tells when it is there; of others a new pod alone does."""
WRITES_PER_JOB = 16
"""Claim, session, its Job and its states, the end of both, and what Task and Plan say of it."""


class Broken(World):
    """A cluster in which pods of some Jobs cannot start: only a pod made after the mend can."""

    def __init__(self, role: str, fault: tuple[str, str]) -> None:
        super().__init__(
            objects.project(gates={"pipeline": [{"name": "pii_scan", "enabled": False}]}),
            objects.plan(
                begun=False,
                stages=[{"name": "one", "steps": [{"title": "Do it", "files": ["a.py"]}]}],
            ),
        )
        self.role, self.fault = role, fault
        self.broken = True
        self.made = 0
        self.since_look = 0.0

    def second(self, seconds: float = 1) -> None:
        """A second goes by: everybody looks, and every pod gets one step further."""
        before = {job.uid for job in self.jobs.values()}
        self.settle()
        self.made += len({job.uid for job in self.jobs.values()} - before)
        for name, job in list(self.jobs.items()):
            if not (self._meets(job) and not job.deleting and job.pod is None and self._is_quota):
                self.play(name, "good")
        self.pass_time(seconds)
        self.since_look += seconds
        if self.since_look >= KUBELETS_SECONDS:
            self._look_for_the_secret()

    def _look_for_the_secret(self) -> None:
        """As the kubelet does for the pod of the Project's probe, which tells what it found."""
        self.since_look = 0.0
        missing = self.broken and self.fault is SECRET
        told = {"subject": "work", "reason": "SecretNotFound", "message": SECRET[1]}
        findings = [told] if missing else []
        probe = Probe.model_validate({"generation": 1, "number": 0, "findings": findings})
        status = self.project.status.model_copy(update={"probe": probe})
        self.project = self.project.model_copy(update={"status": status})

    def until_stalled(self) -> None:
        for _ in range(300):
            self.second()
            if self.plan is not None and is_stalled(self.plan.status):
                return
        raise AssertionError("it never stalls")

    def mend(self) -> None:
        """It plays until the mend is noticed, or the time for that is over."""
        self.broken = False
        for _ in range(NOTICED_SECONDS + 1):
            if self.starts():
                break
            self.second()

    def starts(self) -> bool:
        """Whether a pod of such a Job runs, or has."""
        return any(job.runs or job.ended for job in self.jobs.values() if job.role == self.role)

    @property
    def _is_quota(self) -> bool:
        return self.fault is QUOTA

    def _meets(self, job: Job) -> bool:
        return self.broken and job.role == self.role

    def _pending(self, job: Job, fate: str) -> objects.Object:
        if not self._meets(job):
            return super()._pending(job, fate)
        return self._pod(job, objects.waiting(job.main, *self.fault), phase="Pending")

    def _start(self, job: Job, fate: str) -> bool:
        assert job.pod is not None
        waits = job.pod["status"]["containerStatuses"][0]["state"]["waiting"]
        return waits["reason"] not in (SECRET[0], IMAGE[0]) and super()._start(job, fate)

    def _views(self, owner: str) -> dict[str, JobView]:
        event: dict[str, Any] = {"reason": QUOTA[0], "message": QUOTA[1]}
        views = super()._views(owner)
        for name, view in views.items():
            job = self.jobs[name]
            if self._is_quota and job.role == self.role and job.pod is None:
                views[name] = replace(view, events=(event,))
        return views


@pytest.mark.parametrize("reason", FAULTS)
@pytest.mark.parametrize("role", ["RunBegin", "agent", "RunCheck", "RunLand"])
@pytest.mark.parametrize("moment", [0, 5, 11])
def test_a_created_secret_a_freed_quota_and_a_corrected_image_are_noticed_within_15_s(
    reason: str, role: str, moment: int
) -> None:
    world = Broken(role, FAULTS[reason])
    world.until_stalled()
    for _ in range(moment):
        world.second()

    world.mend()

    assert world.starts()


@pytest.mark.parametrize(
    ("role", "reason"),
    [
        ("RunBegin", "SecretNotFound"),
        ("agent", "PodRejected"),
        ("agent", "SecretNotFound"),
        ("RunCheck", "ImagePullFailed"),
        ("RunLand", "SecretNotFound"),
    ],
)
def test_waiting_for_it_costs_little_however_long_it_takes(reason: str, role: str) -> None:
    world = Broken(role, FAULTS[reason])
    world.until_stalled()
    world.made = writes = 0
    writes = world.seen.writes
    for _ in range(HOUR // STEP):
        world.second(STEP)

    assert 30 <= world.made <= JOBS_PER_HOUR[FAULTS[reason]]
    assert world.seen.writes - writes <= WRITES_PER_JOB * world.made


@pytest.mark.parametrize("reason", FAULTS)
@pytest.mark.parametrize("role", ["RunBegin", "agent", "RunCheck", "RunLand"])
def test_all_three_are_noticed_within_15_s_after_a_quarter_of_an_hour_too(
    role: str, reason: str
) -> None:
    world = Broken(role, FAULTS[reason])
    world.until_stalled()
    for _ in range(HOUR // 4 // STEP):
        world.second(STEP)

    world.mend()

    assert world.starts()


@pytest.mark.parametrize("role", ["RunBegin", "agent"])
def test_a_plan_that_waits_for_it_stays_stalled_while_it_is_tried(role: str) -> None:
    world = Broken(role, SECRET)
    world.until_stalled()

    for _ in range(120):
        world.second()
        assert world.plan is not None
        assert world.plan.status.phase == "Stalled"
        assert is_stalled(world.plan.status)
    world.broken = False
    for _ in range(30):
        world.second()

    assert world.plan is not None
    assert world.plan.status.phase in ("Running", "Delivering", "Succeeded")
    assert not is_stalled(world.plan.status)


def test_what_is_tried_again_and_again_leaves_one_trace_in_the_status() -> None:
    world = Broken("agent", SECRET)
    world.until_stalled()
    for _ in range(600):
        world.second()

    (task,) = world.tasks.values()
    assert task.status.sessions > 20
    assert len(task.status.attempts) == 1
    assert len(task.status.history) <= 4
    assert task.status.attempt == 0
