"""A session's next step: from a Job to an outcome, and never a second Job."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.meta import UsageCounts
from bernstein.api.pod import FENCE
from bernstein.api.session import AgentSession, PodRef, Report
from bernstein.api.states import SessionState
from bernstein.core import labels
from bernstein.core.actions import RunFence
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.runs import LOST_SECONDS
from bernstein.core.sessions import decide as sessions
from bernstein.core.sessions.actions import DeleteJob, Launch, ReleasePods, ReleaseSession
from bernstein.core.sessions.decide import STOP_SECONDS, SessionDecision, SessionSnapshot
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
) -> SessionDecision:
    return sessions.decide(SessionSnapshot(subject, job_, launchable, settled), at(now))


def launched(state: SessionState = STARTING, **more: Any) -> AgentSession:
    return session(state=state, job="work-s1", started_at=at(-30), **more)


def agent_job(pod_: Object | None = BUSY, **more: Any) -> JobView:
    return job("work-s1", pod_, **more)


# --- start --------------------------------------------------------------------------------------


def test_a_new_session_launches_its_job_and_remembers_its_name() -> None:
    decision = look(session())

    assert (decision.status.state, decision.status.job) == (STARTING, "work-s1")
    assert decision.actions == (Launch(),)


def test_a_job_that_a_crash_left_is_adopted() -> None:
    decision = look(session(), agent_job(None))

    assert (decision.status.state, decision.status.job) == (STARTING, "work-s1")
    assert decision.actions == ()


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
    fence: JobView | None = None
    for _ in range(4):
        decision = look(subject, fence, launchable=launchable)
        if fence is None:
            # A request to make the Job may still be on its way: it must find the name taken.
            assert decision.actions == (RunFence("work-s1"),)
            fence = job("work-s1", labels={labels.JOB: FENCE})
        else:
            dead = subject.status.state is SessionState.DEAD
            assert decision.actions == ((ReleasePods(),) if dead else ())
        states.append(decision.status.state)
        subject = subject.model_copy(update={"status": decision.status})

    assert states[-1] is SessionState.DEAD
    assert None not in states[1:]
    assert STARTING in states
    assert subject.status.outcome is not None
    assert (subject.status.outcome.reason, subject.status.outcome.started) == (reason, False)


def test_a_session_that_is_deleted_before_its_launch_never_starts_and_is_let_go() -> None:
    subject = session(deleting=True)
    fence = job("work-s1", labels={labels.JOB: FENCE})

    asked = look(subject)
    assert asked.actions == (RunFence("work-s1"),)
    dead = look(session(state=STARTING, deleting=True), fence)
    assert dead.status.state is SessionState.DEAD
    over_ = look(session(state=SessionState.DEAD, deleting=True), fence)
    assert over_.actions == (ReleasePods(), ReleaseSession())


def test_a_session_that_is_deleted_after_a_crash_in_its_launch_waits_for_the_pod() -> None:
    decision = look(session(deleting=True), agent_job())

    assert (decision.status.state, decision.status.job) == (STARTING, "work-s1")
    assert decision.actions == ()


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


def given_up(stuck: JobView) -> AgentSession:
    """The session after its stuck pod was looked at."""
    decision = look(launched(), stuck)
    assert decision.status.state is STARTING
    assert decision.actions == (DeleteJob(stuck),)
    return launched().model_copy(update={"status": decision.status})


@pytest.mark.parametrize("fact", STUCK)
def test_a_pod_that_cannot_start_is_given_up_and_judged_once_it_has_ended(fact: str) -> None:
    container, reason = STUCK[fact]
    subject = given_up(agent_job(pod(container, phase="Pending")))

    going = agent_job(pod(container, phase="Pending", deleting=30), deleting=True)
    assert look(subject, going).status.state is STARTING
    decision = look(subject, agent_job(over(container, phase="Failed", deleting=30)))

    assert decision.status.state is SessionState.DEAD
    assert decision.status.outcome is not None
    assert (decision.status.outcome.reason, decision.status.outcome.started) == (reason, False)
    assert decision.status.outcome.remedy


def test_an_agent_that_starts_while_its_pod_is_given_up_is_waited_for_and_counted() -> None:
    subject = given_up(agent_job(pod(waiting("agent", "ImagePullBackOff"), phase="Pending")))

    at_work = look(subject, agent_job(pod(running("agent"), deleting=30), deleting=True))
    assert at_work.status.state is WORKING
    subject = subject.model_copy(update={"status": at_work.status})
    ended_ = look(subject, agent_job(agent_pod(143, deleting=30))).status

    assert ended_.outcome is not None
    assert (ended_.outcome.reason, ended_.outcome.started) == ("PodLost", True)
    assert "'agent:1' cannot be pulled" in ended_.outcome.message
    assert ended_.usage is not None


def test_a_job_that_gets_no_pod_says_why() -> None:
    event = {"reason": "FailedCreate", "message": "exceeded quota: pods=5"}
    subject = given_up(agent_job(None, age=11, events=(event,)))
    assert look(subject, agent_job(None, deleting=True)).status.state is STARTING

    found = look(subject, None).status

    assert found.outcome is not None
    assert (found.outcome.reason, found.outcome.message) == (
        "PodRejected",
        "exceeded quota: pods=5",
    )


def test_a_young_job_without_a_pod_is_waited_for() -> None:
    decision = look(launched(), agent_job(None, age=2))

    assert (decision.status.state, decision.actions) == (STARTING, ())


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


def silent_node(*, grace_left: float, disrupted: bool = True) -> JobView:
    """The agent's Job on a node that does not answer; the pod was told to end."""
    found = pod(ended("checkout"), running("agent"), disrupted=disrupted, deleting=grace_left)
    return agent_job(found, deleting=True)


@pytest.mark.parametrize(("disrupted", "reason"), [(True, "Disrupted"), (False, "HeartbeatLost")])
def test_a_session_is_lost_with_its_node_only_after_the_grace(disrupted: bool, reason: str) -> None:
    """Before, its agent may still be at work, and another one would work beside it."""
    within = look(silent(200), silent_node(grace_left=-LOST_SECONDS, disrupted=disrupted))
    assert (within.status.state, within.actions) == (WORKING, ())

    decision = look(silent(200), silent_node(grace_left=-LOST_SECONDS - 1, disrupted=disrupted))

    assert decision.status.state is SessionState.DEAD
    assert decision.status.outcome is not None
    assert (decision.status.outcome.reason, decision.status.outcome.started) == (reason, True)
    assert decision.status.usage == UsageCounts(input=9)


@pytest.mark.parametrize(
    "more", [{"phase": "Unknown"}, {"reason": "NodeLost"}, {"disrupted": True}]
)
def test_a_silent_session_on_a_bad_node_is_no_end_by_itself(more: dict[str, Any]) -> None:
    assert look(silent(200), agent_job(pod(running("agent"), **more))).status.state is WORKING


def test_a_pod_that_outlives_its_deadline_by_far_is_ended() -> None:
    late = pod(running("agent"))
    late["spec"] |= {"activeDeadlineSeconds": 60, "terminationGracePeriodSeconds": 0}
    since = at(-61 - LOST_SECONDS).isoformat()
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": since}
    late["status"]["conditions"].append(scheduled)

    decision = look(launched(WORKING), agent_job(late))

    assert [type(i) for i in decision.actions] == [DeleteJob]
    assert decision.status.abandoned is not None
    assert decision.status.abandoned.reason == "HeartbeatLost"


# --- soft stop ----------------------------------------------------------------------------------


def test_a_running_agent_has_a_minute_to_end_by_itself() -> None:
    asked = look(launched(WORKING, stop="Cancelled"), agent_job())
    assert (asked.status.state, asked.actions) == (WORKING, ())
    assert asked.requeue_after == STOP_SECONDS

    later = session(state=WORKING, stop="Cancelled").model_copy(update={"status": asked.status})
    assert look(later, agent_job(), now=STOP_SECONDS - 1).actions == ()
    assert look(later, agent_job(), now=STOP_SECONDS).actions == (DeleteJob(agent_job()),)


@pytest.mark.parametrize("pod_", [None, pod(waiting("agent"), phase="Pending")])
def test_an_agent_that_does_not_run_yet_is_ended_at_once(pod_: Object | None) -> None:
    decision = look(launched(stop="Cancelled"), agent_job(pod_, age=2))

    assert decision.actions == (DeleteJob(agent_job(pod_, age=2)),)
    assert decision.status.state is STARTING


def test_a_job_that_is_being_deleted_is_waited_for() -> None:
    decision = look(launched(WORKING, stop="Cancelled"), agent_job(deleting=True), now=999)

    assert (decision.status.state, decision.actions) == (WORKING, ())


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
    assert first.actions == ()

    dead = session(state=WORKING).model_copy(update={"status": first.status})
    second = look(dead, ended_)
    assert second.actions == (ReleasePods(),)
    assert second.status == first.status


def test_the_job_of_a_dead_session_is_deleted_while_its_pod_has_not_ended() -> None:
    dead = launched(SessionState.DEAD)

    assert look(dead, agent_job()).actions == (ReleasePods(), DeleteJob(agent_job()))
    assert look(dead, None).actions == (ReleasePods(),), "pods whose Job was deleted before them"


@pytest.mark.parametrize(
    "lost", [None, agent_job(None, failed="BackoffLimitExceeded", no_pod=True)]
)
def test_a_job_that_somebody_deleted_is_a_lost_pod(lost: JobView | None) -> None:
    found = look(launched(WORKING), lost).status

    assert found.outcome is not None
    assert found.outcome.reason == "PodLost"


@pytest.mark.parametrize(
    "unsure", [agent_job(None, deleting=True), agent_job(None, failed="BackoffLimitExceeded")]
)
def test_no_pod_in_the_cache_is_not_yet_no_pod(unsure: JobView) -> None:
    decision = look(launched(WORKING), unsure)

    assert (decision.status.state, decision.actions) == (WORKING, ())


def test_a_deleted_session_ends_its_pod_and_waits_for_what_it_says() -> None:
    decision = look(launched(WORKING, deleting=True), agent_job())

    assert (decision.status.state, decision.actions) == (WORKING, (DeleteJob(agent_job()),))
    assert look(launched(WORKING, deleting=True), agent_job(deleting=True)).actions == ()


@pytest.mark.parametrize("settled", [True, False])
def test_a_deleted_session_stays_until_its_task_has_its_outcome(settled: bool) -> None:
    dead = launched(SessionState.DEAD, deleting=True)

    released = (ReleaseSession(),) if settled else ()
    assert look(dead, settled=settled).actions == (ReleasePods(), *released)
    assert look(dead, settled=settled).requeue_after == (None if settled else LOOK_AGAIN_SECONDS)
    assert look(launched(SessionState.DEAD), settled=settled).actions == (ReleasePods(),)


def test_a_pod_whose_job_was_deleted_beneath_it_is_waited_for() -> None:
    left = agent_job(deleting=True)

    decision = look(launched(WORKING), left)

    assert (decision.status.state, decision.actions) == (WORKING, ())
    assert decision.status.outcome is None


def test_a_stop_does_not_wait_for_ever_for_a_node_that_is_gone() -> None:
    found = look(silent(200, stop="Cancelled"), silent_node(grace_left=-LOST_SECONDS - 1)).status

    assert found.state is SessionState.DEAD
    assert found.outcome is not None
    assert found.outcome.reason == "Cancelled"


def test_a_deleted_session_records_what_its_pod_said() -> None:
    unreachable = over(failed("checkout", "RepositoryUnreachable"), waiting("agent"))

    found = look(launched(deleting=True), agent_job(unreachable)).status

    assert found.outcome is not None
    assert found.outcome.reason == "RepositoryUnreachable"
