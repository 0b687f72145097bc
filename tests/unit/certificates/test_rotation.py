"""What is done with the server's certificate, and when: no session is cut off."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bernstein.certificates.rotation import EXPIRES, GRACE, TOLD, Held, Pair, Step, step

NAMES = frozenset(["server.example.svc"])
DAY = timedelta(days=1)
START = datetime(2030, 1, 1, tzinfo=UTC)
SERVED = Pair(START, START + 90 * DAY, NAMES)
NEXT = Pair(START + 60 * DAY, START + 150 * DAY, NAMES)
ONCE_TOLD = Held(SERVED, NEXT, told=START + 60 * DAY)


def test_where_nothing_can_be_used_one_is_made() -> None:
    assert step(Held(), NAMES, START) is Step.MAKE
    assert step(Held(SERVED), NAMES, SERVED.ends) is Step.MAKE


def test_what_is_served_is_kept_for_two_thirds_of_its_time() -> None:
    assert step(Held(SERVED), NAMES, START) is Step.KEEP
    assert step(Held(SERVED), NAMES, START + 60 * DAY - timedelta(seconds=1)) is Step.KEEP
    assert step(Held(SERVED), NAMES, START + 60 * DAY) is Step.TELL


def test_the_next_one_is_served_when_no_session_is_left_that_was_not_told_of_it() -> None:
    told = START + 60 * DAY

    assert step(ONCE_TOLD, NAMES, told) is Step.KEEP
    assert step(ONCE_TOLD, NAMES, told + TOLD - timedelta(seconds=1)) is Step.KEEP
    assert step(ONCE_TOLD, NAMES, told + TOLD) is Step.SERVE


def test_the_authority_before_is_dropped_when_all_replicas_serve_the_new_one() -> None:
    switched = START + 68 * DAY
    held = Held(NEXT, switched=switched)

    assert step(held, NAMES, switched) is Step.KEEP
    assert step(held, NAMES, switched + GRACE - timedelta(seconds=1)) is Step.KEEP
    assert step(held, NAMES, switched + GRACE) is Step.DROP


def test_what_is_about_to_end_is_replaced_however_short_the_next_one_was_told() -> None:
    late = Held(SERVED, NEXT, told=SERVED.ends - DAY)

    assert step(late, NAMES, SERVED.ends - EXPIRES - timedelta(seconds=1)) is Step.KEEP
    assert step(late, NAMES, SERVED.ends - EXPIRES) is Step.SERVE
    assert step(late, NAMES, SERVED.ends + DAY) is Step.SERVE


def test_a_new_name_is_told_as_a_new_certificate_is() -> None:
    more = NAMES | {"another.example.com"}

    assert step(Held(SERVED), more, START) is Step.TELL
    assert step(ONCE_TOLD, more, START + 61 * DAY) is Step.TELL
    assert step(Held(Pair(START, SERVED.ends, more)), NAMES, START) is Step.KEEP


@pytest.mark.parametrize("told", [None, START + 99 * DAY])
def test_a_time_that_cannot_be_is_that_of_the_certificate_itself(told: datetime | None) -> None:
    held = Held(SERVED, NEXT, told=told)

    assert step(held, NAMES, NEXT.begins + TOLD) is Step.SERVE


def test_a_next_one_that_has_ended_is_made_anew() -> None:
    ended = Held(Pair(START, START + 900 * DAY, NAMES), NEXT, told=NEXT.begins)

    assert step(ended, NAMES, NEXT.ends) is Step.TELL


def test_a_short_lived_one_is_told_early_enough() -> None:
    short = Pair(START, START + 12 * DAY, NAMES)

    assert step(Held(short), NAMES, START + DAY) is Step.KEEP
    assert step(Held(short), NAMES, short.ends - TOLD - 2 * GRACE) is Step.TELL
