"""A sample of the model check that `make test` has time for; `make test-model` plays many more."""

from __future__ import annotations

import pytest

from tests.model import stories
from tests.model.mutations import REPAIRS
from tests.model.scenario import RATES, generate
from tests.model.shrink import shrink
from tests.model.stories import MENDED, story
from tests.model.world import play

SEEDS = range(1, 41)
FOUND_BY = {
    "live-list": "the-pods-stream-lags-behind-the-jobs",
    "certain-end": "a-pod-goes-on-after-it-is-told-to-end",
    "lost-nodes": "a-node-dies-for-ever",
    "kubelet-times": "the-end-of-a-check-is-seen-late",
    "refusals": "a-policy-refuses-a-job",
    "fences": "a-cancel-while-the-job-is-on-its-way",
    "vanished-jobs": "a-job-is-deleted-before-a-late-request-for-it",
    "check-fences": "a-check-is-made-after-the-cancel",
    "uncertain-writes": "a-claim-is-written-and-not-answered",
    "unanswered-statuses": "a-session-is-launched-while-its-end-is-on-its-way",
    "ordered-refresh": "a-live-read-is-overtaken-by-a-deletion",
    "plan-jobs": "a-plan-is-cancelled-while-it-begins",
    "job-deletions": "a-job-is-deleted-before-its-pod-is-seen",
    "ended-sessions": "an-agent-that-was-given-up-starts-after-all",
    "ended-checks": "an-optional-check-ends-slowly-after-its-time",
    "ended-landings": "a-land-job-that-was-given-up-pushes-after-all",
    "ended-begins": "a-begin-job-that-was-given-up-starts-after-all",
    "given-up-names": "a-job-that-was-given-up-is-made-again-by-a-late-request",
    "landing-doubts": "a-task-is-cancelled-whose-land-job-said-nothing",
    "disruptions": "a-node-is-drained-while-it-checks",
    "optional-checks": "a-policy-refuses-an-optional-check",
    "late-sessions": "a-session-is-made-after-the-cancel",
    "overdue-runs": "a-node-dies-and-nobody-notices",
    "orphan-policy": "an-orphaned-agent-and-a-late-request",
    "kept-for-others": "the-time-of-a-task-is-over-while-another-waits-for-it",
    "launched-sessions": "a-job-is-deleted-before-anything-is-told-of-it",
    "live-losses": "a-node-is-back-while-the-stream-of-pods-is-late",
    "live-runs": "a-list-of-pods-from-before-a-merge-comes-after-it",
    "single-probes": "a-project-is-changed-while-its-credentials-are-tried",
}
"""The story that finds what is missing without a repair."""


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_found_in_a_seed(seed: int) -> None:
    rates = list(RATES)[seed % len(RATES)]

    outcome = play(generate(seed, rates))

    assert [str(v) for v in outcome.violations] == [], f"seed {seed}, rates {rates}"


@pytest.mark.parametrize("name", [*FOUND_BY.values(), *MENDED])
def test_nothing_is_found_in_a_story(name: str) -> None:
    assert [str(v) for v in play(story(name)).violations] == []


@pytest.mark.parametrize("repair", REPAIRS)
def test_without_a_repair_its_story_finds_a_fault(repair: str) -> None:
    with REPAIRS[repair]():
        outcome = play(story(FOUND_BY[repair]))

    assert outcome.violations


def test_every_story_is_played() -> None:
    listed = [*FOUND_BY.values(), *MENDED]

    assert sorted(listed) == stories.names()


def test_a_seed_is_played_the_same_way_each_time() -> None:
    with REPAIRS["certain-end"]():
        first, second = (play(generate(1001, "rough")) for _ in range(2))

    assert first.violations
    assert first == second


def test_what_a_scenario_does_not_need_is_taken_out() -> None:
    told = story("a-pod-goes-on-after-it-is-told-to-end")
    noise = {"at": 1.0, "do": "push", "pick": 0.5}
    with REPAIRS["certain-end"]():
        small = shrink(
            stories.with_events(told, noise, noise | {"at": 2.0}), "an end is an end", play
        )

    assert [event["do"] for event in small.events] == ["fate", "apply task", "delete"]
