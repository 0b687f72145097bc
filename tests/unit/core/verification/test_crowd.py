"""Many Tasks of which the same check waits for the same thing: one of them tries it for all."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core import labels, progress
from bernstein.core.reasons.waits import LATER_ON_SECONDS, PROBE_SECONDS, SOON_SECONDS
from bernstein.core.verification import round as rounds
from bernstein.core.verification.crowd import (
    FOLLOW_EACH,
    follows,
    is_lacking,
    is_told_by,
    shows,
    sought,
    told,
)
from bernstein.core.verification.look import Question
from bernstein.core.waiting import (
    JOBS_PER_SECOND,
    failed_at,
    held,
    seconds_left,
    seconds_to_next_try,
)
from bernstein.kube.resource import Object
from tests.unit.core import objects
from tests.unit.core.objects import at, checked, ended, job, pod, running, waiting
from tests.unit.core.verification.kinds import (
    BOTH,
    TASK,
    Kind,
    Rounds,
    asked,
    cannot_run,
    cut_short,
    without_image,
)

TASKS = 1000
HOUR = 3600
BEGINS_SECONDS = 3
"""What the first one's pod takes until it begins."""


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


@pytest.mark.parametrize("place", [1, 20, 31])
def test_who_waits_for_an_image_tries_within_a_second_of_the_first_pod_that_has_it(
    place: int,
) -> None:
    begun = at(200)
    tree = beside(TASKS)
    passed = checked(tree.name("signal-0"))
    tree.tries(0, 1)
    assert asked(tree.look(passed, now=begun)) == []

    tree.follows = follows(place, at(0), [begun])

    left = tree.look(passed, now=begun).requeue_after
    assert 0 < left < 1
    assert asked(tree.look(passed, now=at(200 + left))) == [tree.name("lint", 1)]


def test_who_follows_rests_after_its_own_failure_all_the_same() -> None:
    tree = beside(60)
    passed = checked(tree.name("signal-0"))
    tree.tries(0, 1)

    tree.follows = follows(1, at(0), [at(2)])

    assert tree.look(passed, now=at(3)).requeue_after == SOON_SECONDS - 3


def test_1200_that_follow_again_and_again_and_never_get_on_ask_for_150_jobs_a_second() -> None:
    tree = beside(TASKS)
    tree.follows = at(0)

    assert 1200 * tree.tries(0, HOUR) / HOUR == 150


def test_who_has_followed_in_vain_rests_as_one_of_the_crowd() -> None:
    tree = beside(60)
    tree.tries(0, 1)
    tree.follows = follows(1, at(0), [at(200)])

    assert tree.tries(201, 202) == 1

    assert seconds_left(tree.status.waiting, tree.project, at(201)) == 60


def test_a_pod_that_began_before_it_failed_shows_it_nothing() -> None:
    assert follows(1, at(10), [at(9)]) is None
    assert follows(1, at(10), []) is None
    assert follows(0, at(10), [at(9), at(10)]) == at(10)


def test_a_pod_that_began_in_the_second_in_which_it_failed_counts() -> None:
    """Nodes tell whole seconds; who is shown too much has one try more."""
    tree = beside(TASKS)
    tree.tries(0.7, 1)

    failed = failed_at(tree.status.waiting.until_alone)

    assert failed == at(0)
    assert follows(0, failed, [at(0)]) == at(0)


def test_a_thousand_follow_in_two_waves_and_within_15_s_all_in_all() -> None:
    """The first one rests 8 s at most after what they wait for is there; then its pod has to begin,
    and those of the first wave."""
    first = at(SOON_SECONDS + BEGINS_SECONDS)
    wave = [turn for place in range(TASKS) if (turn := follows(place, at(0), [first]))]
    begun = [first, *(turn + timedelta(seconds=BEGINS_SECONDS) for turn in wave)]

    turns = [follows(place, at(0), begun) for place in range(TASKS)]

    assert len(wave) == FOLLOW_EACH
    assert max(filter(None, turns)) <= at(15)
    assert None not in turns


def test_what_is_shown_to_be_there_by_mistake_lets_a_few_try_for_each_pod() -> None:
    """A quota that is always full lets a pod begin whenever another one ends, too."""

    def let(begun: list[datetime]) -> int:
        return sum(follows(p, at(0), begun) is not None for p in range(TASKS))

    assert let([at(5)]) == FOLLOW_EACH
    assert let([at(5)] * 3) == 3 * FOLLOW_EACH
    assert let([at(-1)] * 99) == 0


def test_each_is_told_of_the_pod_that_lets_it_try_and_of_no_later_one() -> None:
    crowd, begun = range(300), [at(each) for each in range(5, 15)]

    found = [
        place
        for number in range(1, len(begun) + 1)
        for place in crowd
        if is_told_by(begun[number - 1], place, at(0), begun[:number])
    ]

    assert sorted(found) == list(crowd)


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 20)), max_size=200),
    st.lists(st.integers(0, 20), min_size=1, max_size=12),
    st.data(),
)
def test_nobody_has_to_be_told_outside_of_the_places_that_are_looked_at(
    failures: list[int | None], times: list[int], data: st.DataObject
) -> None:
    failed, begun = [at(f) if f is not None else None for f in failures], sorted(map(at, times))
    new = data.draw(st.sampled_from(begun))

    looked_at = range(len(failed))[told(new, sorted(filter(None, failed)), begun)]

    all_ = {p for p, f in enumerate(failed) if f is not None and is_told_by(new, p, f, begun)}
    assert all_ <= {*looked_at}


def test_of_those_that_failed_before_all_pods_as_many_are_looked_at_for_each_pod() -> None:
    begun = [at(each) for each in range(1, 40)]

    looked_at = range(2000)[told(begun[-1], [at(0)] * 2000, begun)]

    assert len(looked_at) == FOLLOW_EACH


EVERY = ("SecretNotFound", "ConfigMapNotFound", "PodRejected", "ImagePullFailed", "ImageUnusable")
ROOM, IMAGES = ("PodRejected",), ("PodRejected", "ImagePullFailed", "ImageUnusable")
STARTED = running("checkout")
CLONED, PULLS = ended("checkout"), waiting("check", "ErrImagePull")
POD_OF_A_CHECK = {
    "nothing was started": ("check", (waiting("checkout"), waiting("check")), ()),
    "it clones": ("check", (STARTED, waiting("check")), ROOM),
    "its image is missing": ("check", (CLONED, PULLS), ROOM),
    "it runs": ("check", (CLONED, running("check")), EVERY),
    "a sidecar runs before it": ("check", (running("istio-proxy"), CLONED, PULLS), ROOM),
    "a sidecar runs beside it": ("check", (CLONED, PULLS, running("linkerd-proxy")), ROOM),
    "a webhook's container was before it": ("check", (CLONED, ended("vault-init"), PULLS), ROOM),
    "it lists before it compares": (
        *("check", (CLONED, running("list-before"), waiting("check"))),
        IMAGES,
    ),
    "it formats before it pushes": (
        *("format", (CLONED, running("formatter"), waiting("collect"), waiting("format"))),
        IMAGES,
    ),
    "it asks a model": ("judge", (CLONED, running("judge")), EVERY),
    "its command cannot be started": (
        *("check", (CLONED, ended("check", 128, reason="StartError"))),
        ROOM,
    ),
    "it moves no ref yet": ("land", (waiting("land"),), ()),
    "a sidecar is there before it moves refs": ("land", (running("proxy"), waiting("land")), ROOM),
    "it moves refs": ("land", (running("proxy"), running("land")), EVERY),
}


def of(main: str, *containers: Object, volumes: tuple[Object, ...] = ()) -> Object:
    return {
        **pod(*containers),
        "metadata": {"labels": {labels.JOB: main}},
        "spec": {"volumes": [*volumes]},
    }


@pytest.mark.parametrize("case", POD_OF_A_CHECK)
def test_a_pod_shows_what_its_own_containers_have_got_past(case: str) -> None:
    main, containers, past = POD_OF_A_CHECK[case]
    found = shows(of(main, *containers))

    assert {reason for reason in EVERY if {*sought((reason,))} <= found.keys()} == set(past)
    assert ({*sought(EVERY)} <= found.keys()) == (len(past) == len(EVERY))


def test_a_pod_that_moves_refs_shows_the_secrets_that_it_cannot_do_without() -> None:
    volumes = (
        {"name": "git", "secret": {"secretName": "git-deliver"}},
        {"name": "key", "secret": {"secretName": "signs", "optional": True}},
    )
    found = shows(of("land", running("land"), volumes=volumes))

    seen = [
        {*sought(("SecretNotFound",), names)} <= found.keys()
        for names in ((), ("git-deliver",), ("signs",), ("git-work",), ("git-deliver", "signs"))
    ]

    assert seen == [True, True, False, False, False]


# --- several of one round ------------------------------------------------------------------------


@BOTH
def test_what_could_not_run_beside_it_either_is_run_again_with_it(kind: Kind) -> None:
    """It became known a moment later, when the first was waited for already."""
    tree = Rounds(kind)
    cannot_run(tree, without_image(tree.name("signal-0")))
    late = cut_short(tree.name("signal-0"))

    told = tree.look(late, now=at(SOON_SECONDS + 1))

    assert isinstance(told, rounds.Undecided)
    again = tree.look(now=at(SOON_SECONDS + 1))
    assert {*asked(again)} == {tree.name("lint", 1), tree.name("signal-0", 2)}


@BOTH
def test_what_cannot_run_once_more_is_waited_for_once_more(kind: Kind) -> None:
    tree = Rounds(kind)
    cannot_run(tree, checked(tree.name("signal-0")))
    tree.look(now=at(SOON_SECONDS + 1))

    assert isinstance(cannot_run(tree, number=1), rounds.CannotRun)
    assert asked(tree.look(cut_short(tree.name("lint", 1)), now=at(SOON_SECONDS + 1))) == [
        tree.name("lint", 2)
    ]
