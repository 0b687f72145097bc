"""A status that had no answer keeps its place while it may come, and is tried later and later."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.states import TaskState
from bernstein.controllers.scheduler.unanswered import FIRST_SECONDS, LAST_SECONDS, Unanswered
from bernstein.kube.clock import Clock
from bernstein.kube.guard import LATE_SECONDS
from bernstein.kube.resource import Key, Object
from bernstein.resources import TASKS
from tests.unit.core import objects

ONE = Key("team", "one")
CLAIMED = objects.status(TaskState.CLAIMED)


class Cache:
    """Of one Task, at a revision."""

    revision = 7

    def revision_shown(self, key: Key) -> int | None:
        return self.revision if key == ONE else None


class Sending:
    def __init__(self) -> None:
        self.now = 0.0
        self.cache = Cache()
        informers: Any = {TASKS: self.cache}
        self.unanswered = Unanswered(informers, Clock(monotonic=lambda: self.now))

    def fails(self, at_least: float = 0.0) -> bool:
        obj: Object = {
            "metadata": {
                "namespace": ONE.namespace,
                "name": ONE.name,
                "resourceVersion": str(self.cache.revision),
            }
        }
        return self.unanswered.note(TASKS, obj, CLAIMED, at_least)


@pytest.fixture
def sending() -> Sending:
    return Sending()


def test_pauses_grow_until_a_new_decision_is_due(sending: Sending) -> None:
    pauses = []
    for number in range(10):
        assert sending.fails() is (number > 0), "people are told of the second failure"
        pause = sending.unanswered.again()
        assert pause is not None
        pauses.append(pause)
        sending.now += pause - 0.1
        assert sending.unanswered.waits(TASKS, ONE)
        sending.now += 0.1
        assert not sending.unanswered.waits(TASKS, ONE)
        may_come = pause < LATE_SECONDS
        assert sending.unanswered.tasks() == ({"one": CLAIMED} if may_come else {})
    assert pauses[:4] == [FIRST_SECONDS * 2**n for n in range(4)]
    assert pauses[-1] == LAST_SECONDS > LATE_SECONDS


def test_a_server_is_not_asked_before_it_wants_to_be(sending: Sending) -> None:
    sending.fails(at_least=7.0)
    assert sending.unanswered.again() == 7.0
    sending.fails(at_least=0.5)
    assert sending.unanswered.again() == 14.0


def test_what_has_changed_since_is_not_waited_for(sending: Sending) -> None:
    sending.fails()
    sending.cache.revision = 8
    assert sending.unanswered.again() is None
    assert not sending.unanswered.tasks()
    assert not sending.unanswered.waits(TASKS, ONE)


def test_an_answer_ends_it(sending: Sending) -> None:
    sending.fails()
    sending.unanswered.answered(TASKS, ONE)
    assert sending.unanswered.again() is None
    assert sending.fails() is False
    assert sending.unanswered.again() == FIRST_SECONDS
