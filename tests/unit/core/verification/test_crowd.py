"""Many Tasks of which the same check waits for the same thing: one of them tries it for all."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from bernstein.core import labels, progress
from bernstein.core.reasons.waits import LATER_ON_SECONDS, PROBE_SECONDS, SOON_SECONDS
from bernstein.core.verification.crowd import (
    FOLLOW_INTO_ROOM,
    FOLLOW_PER_SECOND,
    follows,
    is_lacking,
    is_told_by,
    shown,
    shown_by_mover,
)
from bernstein.core.verification.look import Question
from bernstein.core.waiting import (
    JOBS_PER_SECOND,
    failed_at,
    held,
    seconds_left,
    seconds_to_next_try,
)
from tests.unit.core import objects
from tests.unit.core.objects import at, checked, ended, job, pod, running, waiting
from tests.unit.core.verification.kinds import TASK
from tests.unit.core.verification.test_rerun import Rounds, asked, cut_short, without_image

TASKS = 1000
HOUR = 3600
BEGINS_SECONDS = 3
"""What the first one's pod takes until it begins."""
GONE = 'secret "git-read" not found'


class Beside(Rounds):
    """A tree whose check lacks its image, as those of others do."""

    crowd, resting = 0, 0
    follows: datetime | None = None

    def question(self) -> Question:
        question = replace(super().question(), crowd=self.crowd, resting=self.resting)
        return replace(question, follows=self.follows)

    def tries(self, since: float, until: float) -> int:
        """How often it is tried in this time, in seconds; never does the image turn up."""
        passed, number, now = checked(self.name("signal-0")), 0, since
        while now < until:
            name = self.name("lint", self.status.verification.round)
            self.look(passed, now=at(now))
            self.look(passed, without_image(name), now=at(now))
            self.look(passed, cut_short(name), now=at(now))
            number += 1
            left = self.look(passed, now=at(now)).requeue_after
            assert left is not None
            assert left >= SOON_SECONDS, "it rests after each try"
            now += left
        return number


def beside(crowd: int = 0, resting: int = 0) -> Beside:
    tree = Beside(TASK)
    tree.crowd, tree.resting = crowd, resting
    return tree


def test_the_checks_of_1000_tasks_that_wait_for_an_image_ask_for_few_jobs() -> None:
    first, other = beside(0).tries(0, HOUR), beside(TASKS).tries(0, HOUR)

    assert first == HOUR / SOON_SECONDS
    assert other == HOUR / PROBE_SECONDS
    assert first + (TASKS - 1) * other < JOBS_PER_SECOND * HOUR


@pytest.mark.parametrize("plans", [2, 32, 33, 200, 1000])
def test_the_checks_of_many_plans_ask_for_few_jobs_a_second(plans: int) -> None:
    """Each Plan tries for itself."""
    one = beside(resting=plans - 1).tries(0, HOUR)

    assert plans * one <= (JOBS_PER_SECOND + 0.2) * HOUR
    if plans <= SOON_SECONDS * JOBS_PER_SECOND:
        assert one == HOUR / SOON_SECONDS


def test_the_checks_of_a_plan_follow_when_others_get_on_and_the_first_one_tries_soon() -> None:
    tree = beside(resting=200)
    passed = checked(tree.name("signal-0"))
    tree.tries(0, 1)
    assert tree.look(passed, now=at(1)).requeue_after == 49

    tree.follows = at(12)

    assert tree.look(passed, now=at(11)).requeue_after == 1
    assert asked(tree.look(passed, now=at(12))) == [tree.name("lint", 1)]


def test_a_plan_that_is_the_last_to_wait_tries_soon_again() -> None:
    tree = beside(resting=200)
    passed = checked(tree.name("signal-0"))
    tree.tries(0, 1)

    assert tree.look(passed, now=at(1)).requeue_after == 49
    tree.resting = 0
    assert tree.look(passed, now=at(1)).requeue_after == SOON_SECONDS - 1


@pytest.mark.parametrize(("crowd", "seconds"), [(2, 60), (60, 60), (200, 200), (5000, 300)])
def test_who_does_not_try_for_all_tries_the_more_rarely_the_more_there_are(
    crowd: int, seconds: int
) -> None:
    tree = beside(crowd)
    tree.tries(0, 1)

    assert seconds_left(tree.status.waiting, tree.project, at(0)) == seconds


def test_who_comes_first_by_now_tries_at_once_and_not_when_it_was_said() -> None:
    tree = beside(TASKS)
    passed = checked(tree.name("signal-0"))
    tree.tries(0, 1)

    assert asked(tree.look(passed, now=at(SOON_SECONDS))) == []
    tree.crowd = 0
    assert tree.look(passed, now=at(SOON_SECONDS - 1)).requeue_after == 1
    assert asked(tree.look(passed, now=at(SOON_SECONDS))) == [tree.name("lint", 1)]


@pytest.mark.parametrize("crowd", [0, TASKS])
def test_a_job_that_a_policy_refuses_for_long_is_asked_for_as_rarely_as_one_without_an_image(
    crowd: int,
) -> None:
    tree, passed = beside(crowd), checked(beside(0).name("signal-0"))
    asked_at = []
    for second in range(HOUR):
        name = tree.name("lint", tree.status.verification.round)
        before = objects.task(plan=None, status=tree.status)
        if asked(tree.look(passed, now=at(second))) == [name]:
            asked_at.append(second)
            refused = replace(job(name), refused="denied by a policy")
            tree.look(passed, refused, now=at(second))
            # Both in one turn of the controller: it goes on to wait for the same.
            tree.status = progress.of_task(before, tree.status, at(second))

    rest = PROBE_SECONDS if crowd else SOON_SECONDS
    assert asked_at == list(range(0, HOUR, rest))


def test_who_comes_first_after_many_tries_rests_after_each() -> None:
    tree = beside(TASKS)
    tree.tries(0, HOUR)
    tree.crowd = 0

    assert tree.tries(HOUR, 2 * HOUR) == HOUR / SOON_SECONDS


def test_the_others_try_no_sooner_because_they_are_fewer() -> None:
    tree = beside(TASKS)
    passed = checked(tree.name("signal-0"))
    tree.tries(0, 1)
    tree.crowd = 2

    assert tree.look(passed, now=at(LATER_ON_SECONDS + 1)).requeue_after == 239


def test_who_comes_first_by_now_tries_no_sooner_what_no_new_pod_alone_shows() -> None:
    """What lacks its image is shown beside it, and comes before it."""
    tree = beside(TASKS)
    tree.tries(0, 1)
    judged, project = tree.status.verification, tree.project
    errored = next(r for r in judged.checks if r.verdict == "Errored")
    assert is_lacking(errored.verdict, errored.reason)
    resting = held(tree.status, "GateErrored", "no tool", project, at(0), PROBE_SECONDS)
    tree.status, tree.crowd = resting, 0

    assert tree.look(now=at(LATER_ON_SECONDS)).requeue_after == PROBE_SECONDS - LATER_ON_SECONDS


def test_what_fails_otherwise_waits_as_long_whoever_waits_beside_it() -> None:
    """A tool that the image lacks is no matter of a new pod."""
    waits = [seconds_to_next_try("ToolMissing", "", 1, objects.project(), crowd=c) for c in (0, 9)]

    assert waits == [PROBE_SECONDS, PROBE_SECONDS]


# --- the pod of another one has begun

IMAGE, ROOM = ("ImagePullFailed",), ("PodRejected",)


@pytest.mark.parametrize("place", [1, 20, 59])
def test_all_that_wait_for_an_image_try_within_seconds_of_the_first_pod_that_has_it(
    place: int,
) -> None:
    """With the first one's rest of 8 s, and some seconds for its pod, 15 s after it is there."""
    begun = at(200)
    tree = beside(TASKS)
    passed = checked(tree.name("signal-0"))
    tree.tries(0, 1)
    assert asked(tree.look(passed, now=begun)) == []

    tree.follows = follows(place, at(0), [begun], IMAGE)

    left = tree.look(passed, now=begun).requeue_after
    assert 0 < left < 2
    assert asked(tree.look(passed, now=at(200 + left))) == [tree.name("lint", 1)]


def test_who_follows_rests_after_its_own_failure_all_the_same() -> None:
    tree = beside(60)
    passed = checked(tree.name("signal-0"))
    tree.tries(0, 1)

    tree.follows = follows(1, at(0), [at(2)], IMAGE)

    assert tree.look(passed, now=at(3)).requeue_after == SOON_SECONDS - 3


def test_who_has_followed_in_vain_rests_as_one_of_the_crowd() -> None:
    tree = beside(60)
    tree.tries(0, 1)
    tree.follows = follows(1, at(0), [at(200)], IMAGE)

    assert tree.tries(201, 202) == 1

    assert seconds_left(tree.status.waiting, tree.project, at(201)) == 60


def test_a_pod_that_began_before_it_failed_shows_it_nothing() -> None:
    assert follows(1, at(10), [at(9)], IMAGE) is None
    assert follows(1, at(10), [], IMAGE) is None
    assert follows(0, at(10), [at(9), at(10)], IMAGE) == at(10)


def test_a_pod_that_began_in_the_second_in_which_it_failed_counts() -> None:
    """Nodes tell whole seconds; who is shown too much has one try more."""
    tree = beside(TASKS)
    tree.tries(0.7, 1)

    failed = failed_at(tree.status.waiting)

    assert failed == at(0)
    assert follows(0, failed, [at(0)], IMAGE) == at(0)


def test_a_thousand_do_not_follow_at_once() -> None:
    turns = [follows(place, at(0), [at(5)], IMAGE) for place in range(TASKS)]

    assert len(set(turns)) == TASKS
    first, last = min(filter(None, turns)), max(filter(None, turns))
    took = (last - first).total_seconds()
    assert took == pytest.approx((TASKS - 1) / FOLLOW_PER_SECOND, abs=1e-5)
    assert SOON_SECONDS + BEGINS_SECONDS + took <= 15


def test_one_pod_shows_room_for_a_few_and_each_further_pod_for_as_many() -> None:
    """A quota that is always full lets a pod begin whenever another one ends."""

    def let(begun: list[datetime]) -> int:
        return sum(follows(p, at(0), begun, ROOM) is not None for p in range(TASKS))

    assert let([at(5)]) == FOLLOW_INTO_ROOM
    assert let([at(5)] * 3) == 3 * FOLLOW_INTO_ROOM
    assert let([at(5)] * (FOLLOW_INTO_ROOM + 1)) > 256
    assert let([at(-1)] * 99) == 0


@pytest.mark.parametrize("reasons", [IMAGE, ROOM])
def test_each_is_told_of_the_pod_that_lets_it_try_and_of_no_later_one(
    reasons: tuple[str, ...],
) -> None:
    crowd, begun = range(100), [at(each) for each in range(5, 15)]

    told = [
        place
        for number in range(1, len(begun) + 1)
        for place in crowd
        if is_told_by(begun[number - 1], place, at(0), begun[:number], reasons)
    ]

    assert sorted(told) == list(crowd)


STARTED = running("checkout")
CLONES, PULLS = waiting("checkout"), waiting("check", "ErrImagePull")
POD_OF_A_CHECK = {
    "nothing was started": ((CLONES, waiting("check")), ()),
    "it clones": ((STARTED, waiting("check")), ROOM),
    "its image is missing": ((ended("checkout"), PULLS), ROOM),
    "it runs": (
        (ended("checkout"), running("check")),
        ("SecretNotFound", "PodRejected", "ImagePullFailed", "ImageUnusable"),
    ),
    "it lists before it compares": (
        (ended("checkout"), running("before"), waiting("check")),
        ("SecretNotFound", "PodRejected", "ImagePullFailed", "ImageUnusable"),
    ),
    "its command cannot be started": (
        (ended("checkout"), ended("check", 128, reason="StartError")),
        ROOM,
    ),
}


MOVES_REFS = {
    "nothing was started": ((waiting("land"),), ()),
    "only what a webhook has put before it": ((running("proxy"), waiting("land")), ROOM),
    "it runs": ((running("proxy"), running("land")), (*ROOM, *IMAGE)),
}


@pytest.mark.parametrize("case", MOVES_REFS)
def test_a_pod_that_moves_refs_shows_room_and_by_its_own_container_its_image(case: str) -> None:
    containers, past = MOVES_REFS[case]
    moves = {**pod(*containers), "metadata": {"labels": {labels.JOB: "land"}}}

    found = {r for r in (*ROOM, *IMAGE) if shown_by_mover(moves, (r,), ()) is not None}

    assert found == set(past)


def test_a_pod_that_moves_refs_shows_the_secrets_that_it_cannot_do_without() -> None:
    volumes = [
        {"name": "git", "secret": {"secretName": "git-deliver"}},
        {"name": "key", "secret": {"secretName": "signs", "optional": True}},
    ]
    moves = {**pod(running("land")), "metadata": {"labels": {labels.JOB: "land"}}}
    moves["spec"] = {"volumes": volumes}

    shows = [
        shown_by_mover(moves, ("SecretNotFound",), names) is not None
        for names in ((), ("git-deliver",), ("signs",), ("git-work",), ("git-deliver", "signs"))
    ]

    assert shows == [True, True, False, False, False]


@pytest.mark.parametrize("case", POD_OF_A_CHECK)
def test_a_pod_shows_what_it_has_got_past(case: str) -> None:
    containers, past = POD_OF_A_CHECK[case]
    every = ("SecretNotFound", "PodRejected", "ImagePullFailed", "ImageUnusable")

    found = {reason for reason in every if shown(pod(*containers), (reason,)) is not None}

    assert found == set(past)
    assert (shown(pod(*containers), every) is not None) == (len(past) == len(every))
