"""A sample of the model check that `make test` has time for; `make test-model` plays many more."""

from __future__ import annotations

import asyncio

import pytest

from bernstein.resources import TASKS
from tests.model import stories
from tests.model.loop import run
from tests.model.mutations import REPAIRS
from tests.model.scenario import RATES, Scenario, generate
from tests.model.shrink import shrink
from tests.model.stories import MENDED, story
from tests.model.world import World, lived, play

SEEDS = range(1, 41)
FOUND_BY = {
    "live-list": ("the-pods-stream-lags-behind-the-jobs", "spend is counted once"),
    "certain-end": ("a-pod-goes-on-after-it-is-told-to-end", "an end is an end"),
    "lost-nodes": ("a-node-dies-for-ever", "it ends, or says why it waits"),
    "kubelet-times": ("the-end-of-a-check-is-seen-late", "a verdict is what the check said"),
    "refusals": ("a-policy-refuses-a-job", "it ends, or says why it waits"),
    "fences": ("a-cancel-while-the-job-is-on-its-way", "an end is an end"),
    "vanished-jobs": ("a-job-is-deleted-before-a-late-request-for-it", "one agent per Task"),
    "check-fences": ("a-check-is-made-after-the-cancel", "an end is an end"),
    "uncertain-writes": ("a-claim-is-written-and-not-answered", "no more agents than allowed"),
    "unanswered-statuses": (
        "a-session-is-launched-while-its-end-is-on-its-way",
        "one agent per Task",
    ),
    "inherited-statuses": (
        "the-operator-dies-while-a-session-is-refused-its-job",
        "one agent per Task",
    ),
    "late-claims": (
        "a-place-is-given-away-before-a-late-claim-of-it",
        "no more agents than allowed",
    ),
    "ordered-refresh": ("a-live-read-is-overtaken-by-a-deletion", "a cache shows what there is"),
    "plan-jobs": ("a-plan-is-cancelled-while-it-begins", "an end is an end"),
    "job-deletions": ("a-job-is-deleted-before-its-pod-is-seen", "an end is an end"),
    "ended-sessions": ("an-agent-that-was-given-up-starts-after-all", "an end is an end"),
    "ended-checks": ("an-optional-check-ends-slowly-after-its-time", "an end is an end"),
    "ended-landings": (
        "a-land-job-that-was-given-up-pushes-after-all",
        "refs are moved one by one",
    ),
    "ended-begins": ("a-begin-job-that-was-given-up-starts-after-all", "refs are moved one by one"),
    "given-up-names": (
        "a-job-that-was-given-up-is-made-again-by-a-late-request",
        "refs are moved one by one",
    ),
    "landing-doubts": ("a-task-is-cancelled-whose-land-job-said-nothing", "cancelled is cancelled"),
    "disruptions": ("a-node-is-drained-while-it-checks", "a verdict is what the check said"),
    "optional-checks": ("a-policy-refuses-an-optional-check", "what is not required holds nothing"),
    "late-sessions": ("a-session-is-made-after-the-cancel", "an end is an end"),
    "overdue-runs": ("a-node-dies-and-nobody-notices", "time is limited"),
    "orphan-policy": ("an-orphaned-agent-and-a-late-request", "one agent per Task"),
    "kept-for-others": (
        "the-time-of-a-task-is-over-while-another-waits-for-it",
        "what goes by its age has ended",
    ),
    "launched-sessions": ("a-job-is-deleted-before-anything-is-told-of-it", "one agent per Task"),
    "live-losses": ("a-node-is-back-while-the-stream-of-pods-is-late", "spend is counted once"),
    "live-runs": (
        "a-list-of-pods-from-before-a-merge-comes-after-it",
        "who has said how it ended may stay",
    ),
    "pinned-prices": (
        "a-price-changes-while-an-agent-works",
        "the price is pinned at the start",
    ),
    "pinned-projects": (
        "a-project-is-made-again-while-an-agent-works",
        "the Project is pinned at the start",
    ),
    "pinned-policies": (
        "a-gate-is-given-more-time-while-it-runs",
        "what judges is pinned at the start",
    ),
    "known-risks": (
        "an-agent-changes-what-ci-runs-and-another-one-a-test",
        "work lands when a person has said yes to exactly it",
    ),
    "policies-of-plans": (
        "a-plan-asks-for-more-than-its-project",
        "a Plan begins when a person has said yes",
    ),
    "protected-lists": (
        "more-is-protected-while-an-agent-works",
        "work lands when a person has said yes to exactly it",
    ),
    "known-trees": (
        "an-agent-leaves-another-tree",
        "what is known is of the same question",
    ),
    "bound-bypasses": (
        "work-that-was-let-go-on-without-a-gate-is-sent-back",
        "a gate is bypassed that has said no to exactly this",
    ),
    "single-probes": (
        "a-project-is-changed-while-its-credentials-are-tried",
        "one probe per Project",
    ),
}
"""The story that finds what is missing without a repair, and the rule that is broken then: a repair
that cannot be taken out any more would break another one, `no defects`."""
STORIES = [name for name, _ in FOUND_BY.values()]


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_found_in_a_seed(seed: int) -> None:
    rates = list(RATES)[seed % len(RATES)]

    outcome = play(generate(seed, rates))

    assert [str(v) for v in outcome.violations] == [], f"seed {seed}, rates {rates}"


@pytest.mark.parametrize("name", [*STORIES, *MENDED])
def test_nothing_is_found_in_a_story(name: str) -> None:
    assert [str(v) for v in play(story(name)).violations] == []


@pytest.mark.parametrize("repair", REPAIRS)
def test_without_a_repair_its_story_finds_a_fault(repair: str) -> None:
    name, broken = FOUND_BY[repair]
    with REPAIRS[repair]():
        outcome = play(story(name))

    assert outcome.what == broken


def test_what_a_policy_has_against_one_task_keeps_no_other_from_work() -> None:
    world, _ = lived(story("a-policy-refuses-the-prompt-of-one-task"))

    states = {obj["metadata"]["name"]: obj["status"]["state"] for obj in world.store.all(TASKS)}
    assert states == {"task-0": "Open", "task-1": "Closed", "task-2": "Closed"}


def test_every_story_is_played() -> None:
    listed = [*STORIES, *MENDED]

    assert sorted(listed) == stories.names()


@pytest.mark.parametrize(
    ("lag", "found"), [(0.0, []), (60.0, ["Project default"])], ids=["on its way", "unheard of"]
)
def test_what_a_cache_goes_on_to_show_instead_of_what_there_is_is_found(
    lag: float, found: list[str]
) -> None:
    async def main() -> list[str]:
        world = World(Scenario(seed=7, rates="calm"))
        world.people.make_project(generate(7).project)
        world.policies.begin()
        working = asyncio.create_task(world.replicas[0].run())
        await asyncio.sleep(60.0)
        world.troubles.lag("projects", lag)
        world.policies.change({"policy": {"plan": "Always"}})
        ghosts = await world.ghosts()
        working.cancel()
        world.kubelets.stop()
        await asyncio.gather(working, return_exceptions=True)
        return ghosts

    assert run(main()) == found


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
