"""A session's next step: from a Job to an outcome, and never a second Job."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.meta import UsageCounts
from bernstein.api.plan import PlanStatus, PlanTask, Settled
from bernstein.api.session import AgentSession, PodRef, Report
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Attempt, Task
from bernstein.core import session as sessions
from bernstein.core.pods import JobView
from bernstein.core.session import (
    LOOK_AGAIN_SECONDS,
    STALE_SECONDS,
    STOP_SECONDS,
    Decision,
    DeleteJob,
    Launch,
    ReleasePod,
    ReleaseSession,
    Snapshot,
)
from tests.unit.core import objects
from tests.unit.core.objects import (
    Object,
    agent_pod,
    at,
    ended,
    failed,
    job,
    over,
    pod,
    running,
    session,
    told,
    waiting,
)

STARTING = SessionState.STARTING
WORKING = SessionState.WORKING
BUSY = pod(ended("checkout"), running("pusher"), running("recorder"), running("agent"))


def look(
    subject: AgentSession,
    job_: JobView | None = None,
    *,
    launchable: bool = True,
    settled: bool = True,
    now: float = 0,
) -> Decision:
    return sessions.decide(Snapshot(subject, job_, launchable, settled), at(now))


def launched(state: SessionState = STARTING, **more: Any) -> AgentSession:
    return session(state=state, job="work-s1", started_at=at(-30), **more)


def agent_job(pod_: Object | None = BUSY, **more: Any) -> JobView:
    return job("work-s1", pod_, **more)


# --- start --------------------------------------------------------------------------------------


def test_a_new_session_launches_its_job_and_remembers_its_name() -> None:
    decision = look(session())

    assert (decision.status.state, decision.status.job) == (STARTING, "work-s1")
    assert decision.intents == (Launch(),)


def test_a_job_that_a_crash_left_is_adopted() -> None:
    decision = look(session(), agent_job(None))

    assert (decision.status.state, decision.status.job) == (STARTING, "work-s1")
    assert decision.intents == ()


@pytest.mark.parametrize(
    ("subject", "launchable", "reason"),
    [
        (session(stop="Cancelled"), True, "Cancelled"),
        (session(), False, "Cancelled"),
        (session(state=STARTING, stop="Cancelled"), True, "Cancelled"),
    ],
)
def test_what_was_stopped_before_its_job_never_starts_and_dies_one_legal_step_after_another(
    subject: AgentSession, launchable: bool, reason: str
) -> None:
    states = [subject.status.state]
    for _ in range(3):
        decision = look(subject, launchable=launchable)
        assert decision.intents == ()
        states.append(decision.status.state)
        subject = subject.model_copy(update={"status": decision.status})

    assert states[-1] is SessionState.DEAD
    assert None not in states[1:]
    assert STARTING in states
    assert subject.status.outcome is not None
    assert (subject.status.outcome.reason, subject.status.outcome.started) == (reason, False)


def test_a_session_that_is_deleted_before_its_launch_is_let_go() -> None:
    decision = look(session(deleting=True))

    assert decision.status.state is None
    assert decision.intents == (ReleaseSession(),)


def test_a_session_that_is_deleted_after_a_crash_in_its_launch_waits_for_the_pod() -> None:
    decision = look(session(deleting=True), agent_job())

    assert (decision.status.state, decision.status.job) == (STARTING, "work-s1")
    assert decision.intents == ()


# --- while it runs ------------------------------------------------------------------------------


def test_a_session_works_when_the_agent_runs_and_knows_its_pod() -> None:
    decision = look(launched(), agent_job())

    assert decision.status.state is WORKING
    assert decision.status.pod == PodRef(name="pod", uid="uid-pod", node="node-1")


def test_a_pod_without_a_node_is_not_yet_known() -> None:
    found = look(launched(), agent_job(pod(waiting("agent"), phase="Pending", node=None))).status

    assert (found.state, found.pod) == (STARTING, None)


STUCK: dict[str, tuple[Object, str]] = {
    "no such image": (waiting("agent", "ErrImagePull", "not found"), "ImagePullFailed"),
    "back-off": (waiting("agent", "ImagePullBackOff"), "ImagePullFailed"),
    "no such Secret": (
        waiting("pusher", "CreateContainerConfigError", 'secret "git-work" not found'),
        "SecretNotFound",
    ),
    "no such key": (
        waiting("agent", "CreateContainerConfigError", "couldn't find key x in Secret team/y"),
        "SecretNotFound",
    ),
    "runs as root": (
        waiting("agent", "CreateContainerConfigError", "container has runAsNonRoot"),
        "ImageUnusable",
    ),
}


@pytest.mark.parametrize("fact", STUCK)
def test_a_pod_that_cannot_start_ends_the_session_with_a_reason(fact: str) -> None:
    container, reason = STUCK[fact]
    stuck = agent_job(pod(container, phase="Pending"))

    decision = look(launched(), stuck)

    assert decision.status.state is SessionState.DEAD
    assert decision.status.outcome is not None
    assert (decision.status.outcome.reason, decision.status.outcome.started) == (reason, False)
    assert decision.status.outcome.remedy
    assert decision.intents == (DeleteJob(stuck),)


def test_a_job_that_gets_no_pod_says_why() -> None:
    event = {"reason": "FailedCreate", "message": "exceeded quota: pods=5"}
    refused = agent_job(None, age=11, events=(event,))

    found = look(launched(), refused).status

    assert found.outcome is not None
    assert (found.outcome.reason, found.outcome.message) == (
        "PodRejected",
        "exceeded quota: pods=5",
    )


def test_a_young_job_without_a_pod_is_waited_for() -> None:
    decision = look(launched(), agent_job(None, age=2))

    assert (decision.status.state, decision.intents) == (STARTING, ())


def test_a_session_is_at_work_until_it_has_ended() -> None:
    """As kstatus reads it: `kubectl wait` and GitOps tools see it in progress."""
    begun = look(session()).status
    assert told(begun.conditions)["Reconciling"] == ("True", "Starting")

    works = look(session(state=STARTING, job="work-s1"), agent_job()).status
    assert told(works.conditions)["Reconciling"] == ("True", "Working")

    over_ = session(state=WORKING).model_copy(update={"status": works})
    dead = look(over_, None).status
    assert dead.state is SessionState.DEAD
    assert "Reconciling" not in told(dead.conditions)


# --- heartbeats ---------------------------------------------------------------------------------


def silent(seconds: float, **more: Any) -> AgentSession:
    report = Report(seq=3, heartbeat_time=at(-seconds), usage=UsageCounts(input=9)).model_dump()
    return launched(WORKING, report=report, pod=PodRef(name="pod", uid="u").model_dump(), **more)


@pytest.mark.parametrize(("seconds", "stale"), [(15, False), (120, False), (121, True)])
def test_silence_is_noted_after_two_minutes(seconds: float, stale: bool) -> None:
    found = look(silent(seconds), agent_job()).status

    assert found.state is WORKING
    assert ("Stale" in told(found.conditions)) is stale


def test_a_heartbeat_ends_the_silence() -> None:
    stale = look(silent(200), agent_job()).status
    heard = stale.model_copy(update={"report": Report(seq=4, heartbeat_time=at(0))})

    again = look(session(state=WORKING).model_copy(update={"status": heard}), agent_job()).status

    assert "Stale" not in told(again.conditions)


def test_a_server_that_is_down_makes_no_session_an_orphan() -> None:
    assert look(silent(10_000), agent_job()).status.state is WORKING


@pytest.mark.parametrize(
    "bad",
    [
        {**BUSY, "status": BUSY["status"] | {"phase": "Unknown"}},
        {**BUSY, "status": BUSY["status"] | {"reason": "NodeLost"}},
        pod(ended("checkout"), running("agent"), disrupted=True),
    ],
)
def test_silent_and_its_node_gone_is_lost_with_the_tokens_that_were_reported(bad: Object) -> None:
    decision = look(silent(200), agent_job(bad))

    assert decision.status.state is SessionState.DEAD
    assert decision.status.outcome is not None
    assert decision.status.outcome.reason == "HeartbeatLost"
    assert decision.status.usage == UsageCounts(input=9)
    assert [type(i) for i in decision.intents] == [DeleteJob]
    assert look(silent(STALE_SECONDS - 1), agent_job(bad)).status.state is WORKING


# --- soft stop ----------------------------------------------------------------------------------


def test_a_running_agent_has_a_minute_to_end_by_itself() -> None:
    asked = look(launched(WORKING, stop="Cancelled"), agent_job())
    assert (asked.status.state, asked.intents) == (WORKING, ())
    assert asked.requeue_after == STOP_SECONDS

    later = session(state=WORKING, stop="Cancelled").model_copy(update={"status": asked.status})
    assert look(later, agent_job(), now=STOP_SECONDS - 1).intents == ()
    assert look(later, agent_job(), now=STOP_SECONDS).intents == (DeleteJob(agent_job()),)


@pytest.mark.parametrize("pod_", [None, pod(waiting("agent"), phase="Pending")])
def test_an_agent_that_does_not_run_yet_is_ended_at_once(pod_: Object | None) -> None:
    decision = look(launched(stop="Cancelled"), agent_job(pod_, age=2))

    assert decision.intents == (DeleteJob(agent_job(pod_, age=2)),)
    assert decision.status.state is STARTING


def test_a_job_that_is_being_deleted_is_waited_for() -> None:
    decision = look(launched(WORKING, stop="Cancelled"), agent_job(deleting=True), now=999)

    assert (decision.status.state, decision.intents) == (WORKING, ())


# --- the end ------------------------------------------------------------------------------------


def test_an_ended_pod_ends_the_session_before_its_job_says_so() -> None:
    found = look(launched(WORKING), agent_job(agent_pod())).status

    assert found.state is SessionState.DEAD
    assert found.outcome is not None
    assert found.outcome.reason == "Succeeded"
    assert found.work is not None
    assert found.usage is not None


def test_the_outcome_is_recorded_before_the_pod_is_let_go() -> None:
    ended_ = agent_job(agent_pod())
    first = look(launched(WORKING), ended_)
    assert first.intents == ()

    dead = session(state=WORKING).model_copy(update={"status": first.status})
    second = look(dead, ended_)
    assert second.intents == (ReleasePod(ended_),)
    assert second.status == first.status


def test_the_job_of_a_dead_session_is_deleted_while_its_pod_has_not_ended() -> None:
    dead = launched(SessionState.DEAD)

    assert look(dead, agent_job()).intents == (ReleasePod(agent_job()), DeleteJob(agent_job()))
    assert look(dead, None).intents == ()


@pytest.mark.parametrize(
    "lost", [None, agent_job(None, deleting=True), agent_job(None, failed="BackoffLimitExceeded")]
)
def test_a_job_that_somebody_deleted_is_a_lost_pod(lost: JobView | None) -> None:
    found = look(launched(WORKING), lost).status

    assert found.outcome is not None
    assert found.outcome.reason == "PodLost"


def test_a_deleted_session_ends_its_pod_and_waits_for_what_it_says() -> None:
    decision = look(launched(WORKING, deleting=True), agent_job())

    assert (decision.status.state, decision.intents) == (WORKING, (DeleteJob(agent_job()),))
    assert look(launched(WORKING, deleting=True), agent_job(deleting=True)).intents == ()


@pytest.mark.parametrize("settled", [True, False])
def test_a_deleted_session_stays_until_its_task_has_its_outcome(settled: bool) -> None:
    dead = launched(SessionState.DEAD, deleting=True)

    assert look(dead, settled=settled).intents == ((ReleaseSession(),) if settled else ())
    assert look(dead, settled=settled).requeue_after == (None if settled else LOOK_AGAIN_SECONDS)
    assert look(launched(SessionState.DEAD), settled=settled).intents == ()


def known(sessions_: int, uid: str = "uid-work") -> PlanStatus:
    """A Plan's status that holds the cost of so many sessions of the Task `work`."""
    return PlanStatus(tasks=(PlanTask(name="work", stage="s", uid=uid, sessions=sessions_),))


THERE = objects.task(status=objects.with_session(TaskState.IN_PROGRESS))
TOOK = THERE.model_copy(update={"status": objects.with_session(TaskState.DONE)})
LEAVING = THERE.model_copy(
    update={"metadata": THERE.metadata.model_copy(update={"deletion_timestamp": at(0)})}
)
ANOTHER = THERE.model_copy(
    update={"metadata": THERE.metadata.model_copy(update={"uid": "uid-another"})}
)
"""A Task that has the name now."""


@pytest.mark.parametrize(
    ("task", "settled"),
    [(THERE, False), (TOOK, True), (LEAVING, True), (ANOTHER, True), (None, True)],
)
def test_without_a_plan_a_session_is_settled_by_its_task_or_when_that_is_gone(
    task: Task | None, settled: bool
) -> None:
    attempt = Attempt(session="work-s1", attempt=1, counted=True, reason="Succeeded")
    if task is TOOK:
        status = TOOK.status.model_copy(update={"attempts": (attempt,)})
        task = TOOK.model_copy(update={"status": status})

    assert sessions.is_settled(session(), task, None) is settled
    another = objects.plan(status=known(1)).metadata.model_copy(update={"uid": "uid-another"})
    elsewhere = objects.plan(status=known(1)).model_copy(update={"metadata": another})
    assert sessions.is_settled(session(), task, elsewhere) is settled
    assert sessions.is_settled(session(), task, objects.plan(deleting=True)) is settled


@pytest.mark.parametrize("task", [THERE, TOOK, LEAVING, ANOTHER, None])
@pytest.mark.parametrize(
    ("status", "settled"),
    [
        (known(0), False),
        (known(1), True),
        (known(1, uid="uid-another"), False),
        (PlanStatus(settled=Settled(sessions=("uid-work-s2",))), False),
        (PlanStatus(settled=Settled(sessions=("uid-work-s1",))), True),
    ],
)
def test_a_session_of_a_plan_is_settled_when_the_plan_keeps_its_cost(
    task: Task | None, status: PlanStatus, settled: bool
) -> None:
    assert sessions.is_settled(session(), task, objects.plan(status=status)) is settled


def test_a_pod_whose_job_was_deleted_beneath_it_is_waited_for() -> None:
    left = agent_job(deleting=True)

    decision = look(launched(WORKING), left)

    assert (decision.status.state, decision.intents) == (WORKING, ())
    assert decision.status.outcome is None


def test_a_stop_does_not_wait_for_a_node_that_is_gone() -> None:
    gone = pod(ended("checkout"), running("agent"), disrupted=True)

    found = look(silent(200, stop="Cancelled"), agent_job(gone)).status

    assert found.state is SessionState.DEAD
    assert found.outcome is not None
    assert found.outcome.reason == "Cancelled"


def test_a_deleted_session_records_what_its_pod_said() -> None:
    unreachable = over(failed("checkout", "RepositoryUnreachable"), waiting("agent"))

    found = look(launched(deleting=True), agent_job(unreachable)).status

    assert found.outcome is not None
    assert found.outcome.reason == "RepositoryUnreachable"
