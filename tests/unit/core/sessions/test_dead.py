"""What few fields tell of a Dead session: never that nothing is to be done where the decision about
all of it would do anything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bernstein.api.session import parse
from bernstein.api.states import SessionState
from bernstein.core.jobs import JobView
from bernstein.core.sessions import dead
from bernstein.core.sessions import decide as sessions
from bernstein.core.sessions.actions import ReleasePods
from bernstein.core.sessions.decide import LATEST_SECONDS, SessionSnapshot
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object, at
from tests.unit.core.tasks.closed.one_change import changed

OUTCOMES = ("Succeeded", "AgentFailed")
JUDGEMENTS = (None, "Verified", "GateFailed")


def served(outcome: str = "Succeeded", judged: str | None = "Verified") -> Object:
    """A Dead session of which all is written, as the API server serves it."""
    ended = objects.dead(outcome, work=objects.work())
    told = {"job": "work-s1", "started_at": at(-9000), "ended_at": at(-8000)}
    over = ended.model_copy(update={"status": ended.status.model_copy(update=told)})
    status = sessions.decide(SessionSnapshot(over, None, False, judged=judged), NOW).status
    made = over.model_copy(update={"status": status}).dump()
    return {**made, "status": status.dump()}


def by_fields(session: Object, judged: str | None, job: JobView | None = None) -> bool:
    found = dead.read(session)
    return found is not None and dead.is_done(found, judged, has_pods=job is not None, now=NOW)


def acts(obj: Object, judged: str | None, job: JobView | None, *, late: bool) -> bool:
    """Whether a look at all of it comes to anything."""
    session = parse(obj)
    subject = SessionSnapshot(session, job, False, judged=judged, late=late)
    decision = sessions.with_refusal(sessions.decide(subject, NOW), None, NOW)
    # Pods are let go where there are any; these are counted beside.
    actions = [action for action in decision.actions if not isinstance(action, ReleasePods)]
    asks = session.status.job is None
    again = decision.requeue_after is not None
    return bool(actions) or again or asks or decision.status != session.status


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("judged", JUDGEMENTS)
def test_of_whatever_session_few_fields_never_tell_that_there_is_nothing_to_do_where_there_is(
    outcome: str, judged: str | None
) -> None:
    told = []

    @settings(
        max_examples=400,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    )
    @given(
        changed(served(outcome, judged), "metadata", "spec", "status"),
        st.sampled_from(JUDGEMENTS),
        st.sampled_from([None, None, objects.job("work-s1")]),
        st.booleans(),
    )
    def tried(obj: Object, says: str | None, job: JobView | None, late: bool) -> None:
        try:
            parse(obj)
        except (ValueError, KeyError, TypeError):
            assume(False)
        told.append(by_fields(obj, says, job))
        if told[-1]:
            assert not acts(obj, says, job, late=late)

    tried()
    assert any(told)
    assert not all(told)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("judged", JUDGEMENTS)
def test_nothing_is_done_about_one_that_says_how_it_ended_and_was_judged(
    outcome: str, judged: str | None
) -> None:
    session = served(outcome, judged)

    assert by_fields(session, judged)
    assert by_fields(session, None), "what was judged once stays"


def test_one_that_was_judged_otherwise_is_looked_at_as_a_whole() -> None:
    assert not by_fields(served(judged=None), "Verified")
    assert not by_fields(served(judged="Verified"), "GateFailed")
    assert by_fields(served("AgentFailed"), "AgentFailed"), "how the run ended is its own"


def test_one_whose_pod_is_there_is_looked_at_as_a_whole() -> None:
    assert not by_fields(served(), "Verified", objects.job("work-s1"))


@pytest.mark.parametrize(("ago", "done"), [(LATEST_SECONDS - 1, False), (LATEST_SECONDS, True)])
def test_one_whose_job_may_come_late_is_looked_at_as_a_whole(ago: float, done: bool) -> None:
    session = served()
    session["status"]["endedAt"] = at(-ago).isoformat()

    assert by_fields(session, "Verified") is done
    assert acts(session, "Verified", None, late=True) is not done


@pytest.mark.parametrize("state", [s for s in SessionState if s is not SessionState.DEAD])
def test_in_any_other_state_it_is_looked_at_as_a_whole(state: SessionState) -> None:
    session = served()
    session["status"]["state"] = state

    assert dead.read(session) is None


def _deleted(session: Object) -> None:
    session["metadata"]["deletionTimestamp"] = at(-1).isoformat()


def _crashed(session: Object) -> None:
    session["status"]["conditions"] = []


def _older(session: Object) -> None:
    del session["status"]["reason"]


def _without_job(session: Object) -> None:
    del session["status"]["job"]


@pytest.mark.parametrize("other", [_deleted, _crashed, _older, _without_job])
def test_one_of_which_something_is_left_to_be_done_is_looked_at_as_a_whole(other: Any) -> None:
    session = served()
    other(session)

    assert dead.read(session) is None
    assert acts(session, "Verified", None, late=False)
