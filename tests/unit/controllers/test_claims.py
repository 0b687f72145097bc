"""Which claims count while a process that led before may still be heard."""

from __future__ import annotations

from bernstein.api.states import TaskState
from bernstein.controllers.claims import Claims
from tests.unit.core import objects
from tests.unit.core.objects import with_session

CLAIMED = objects.task(status=with_session(TaskState.CLAIMED))
OPEN = objects.task(status=objects.status())


def test_one_that_was_there_is_not_late() -> None:
    assert not Claims([CLAIMED, OPEN]).is_late(CLAIMED)


def test_one_that_nobody_knows_is_late() -> None:
    claims = Claims([OPEN])

    assert claims.is_late(CLAIMED)
    assert not claims.is_late(OPEN), "nobody has claimed it"


def test_one_that_is_written_is_known_before_it_has_an_answer() -> None:
    claims = Claims()
    claims.note(OPEN, CLAIMED.status)

    assert not claims.is_late(CLAIMED)


def test_another_one_of_the_same_task_is_not_known_with_it() -> None:
    next_one = CLAIMED.status.model_copy(update={"sessions": CLAIMED.status.sessions + 1})

    assert Claims([CLAIMED]).is_late(CLAIMED.model_copy(update={"status": next_one}))


def test_another_status_of_a_task_is_no_claim() -> None:
    claims = Claims()
    claims.note(CLAIMED, CLAIMED.status.model_copy(update={"state": TaskState.IN_PROGRESS}))

    assert claims.is_late(CLAIMED)


def test_those_of_a_task_that_is_gone_are_forgotten() -> None:
    claims = Claims([CLAIMED])
    obj = {"metadata": CLAIMED.metadata.dump()}
    claims.task_changed(obj, obj)
    assert len(claims) == 1

    claims.task_changed(obj, None)

    assert len(claims) == 0
