"""What people ask for and decide is carried through once, whatever write was the engine's last."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from bernstein.api.encoding import dump
from bernstein.api.pod import Failure
from bernstein.kube.resource import JOBS
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.kubelet import Pod, Script, ends, exited, works
from tests.control_plane.controllers.mortal import Life, after_each_write, mortal, over_or
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import QUIET, World, stage, state_of
from tests.control_plane.objects import APPROVALS, PLANS, TASKS

MOST = 3
"""Writes of each story at which the engine dies, where it is not every one."""
NEVER = 10**6
"""Writes that no story has."""
SIGNAL = {"completionSignals": [{"type": "test_passes", "command": "pytest"}]}
DECLINED = exited(1, dump(Failure("BranchProtected", "hook declined")))


@dataclass(frozen=True)
class Story:
    """One Task, `one`, whose engine dies at some write after somebody has acted."""

    verb: str
    """What is asked for, or the decision."""
    moment: Callable[[World], Awaitable[object]]
    """Until somebody has a reason to act."""
    scripts: Mapping[str, Script]
    end: str
    moves: tuple[tuple[str, str], ...]
    """Made in the name of who acts: to which state, and why."""
    ran: tuple[str, ...]
    """Jobs whose pods there were, each once."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    project: Mapping[str, Any] = field(default_factory=dict)
    more_than: int = 3


async def is_bound(world: World) -> None:
    await world.until(JOBS, "one-s1", lambda job: job["status"].get("active"))


async def is_at_work(world: World) -> None:
    await world.task_in("one", "InProgress")


async def is_blocked(world: World) -> None:
    await world.task_in("one", "Blocked")


async def has_failed(world: World) -> None:
    await world.task_in("one", "Failed")


async def does_not_land(world: World) -> None:
    await world.stalled(TASKS, "one", "BranchProtected")


async def is_asked_about(world: World) -> None:
    task = await world.until(TASKS, "one", lambda t: t["status"]["approval"])
    name = task["status"]["approval"]["name"]
    await world.until(APPROVALS, name, lambda a: state_of(a) == "Pending")


STORIES = (
    Story(
        "Unclaim",
        is_bound,
        {"one-s1": Pod.bind},
        "Closed",
        (("Open", "Unclaimed"),),
        ("one-s1", "one-s2", "one-s2-land-1"),
    ),
    Story(
        "Kill",
        is_at_work,
        {"one-s1": Pod.start},
        "Closed",
        (("Orphaned", "Killed"), ("Open", "Killed")),
        ("one-s1", "one-s2", "one-s2-land-1"),
    ),
    Story(
        "Unblock",
        is_blocked,
        {"one-s1": works(outcome="Blocked", message="the API")},
        "Closed",
        (("Open", "Unblocked"),),
        ("one-s1", "one-s2", "one-s2-land-1"),
    ),
    Story(
        "Verify",
        has_failed,
        {"one-s1-signal-0-0": ends("Failed", check=exited(1, "1 failed"))},
        "Failed",
        (),
        ("one-s1", "one-s1-signal-0-0", "one-s1-signal-0-1"),
        spec={"maxRetries": 0, **SIGNAL},
    ),
    Story(
        "Retry",
        has_failed,
        {"one-s1": works(outcome="AgentFailed", message="it cannot be done")},
        "Closed",
        (("Open", "Retry"),),
        ("one-s1", "one-s2", "one-s2-land-1"),
        spec={"maxRetries": 0},
    ),
    Story(
        "Remerge",
        does_not_land,
        {"one-s1-land-1": ends("Failed", land=DECLINED)},
        "Closed",
        (),
        ("one-s1", "one-s1-land-1", "one-s1-land-2"),
    ),
    Story(
        "Approve",
        is_asked_about,
        {},
        "Closed",
        (("Done", "Approved"),),
        ("one-s1", "one-s1-land-1"),
        project={"approval": {"result": "Always"}},
    ),
    Story(
        "Reject",
        is_asked_about,
        {},
        "Cancelled",
        (("Cancelled", "Rejected"),),
        ("one-s1",),
        project={"approval": {"result": "Always"}},
        more_than=1,
    ),
)
DECIDED = {"Approve": "Approved", "Reject": "Rejected"}
"""By the decision: the state of an Approval that was acted upon."""


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.verb)
async def test_it_is_carried_through_once_whatever_write_was_the_last(
    story: Story, make_world: MakeWorld, user: str
) -> None:
    async def tell(life: Life) -> None:
        await _told(story, await make_world(), user, life)

    await after_each_write(tell, more_than=story.more_than, most=MOST)


async def _told(story: Story, world: World, user: str, life: Life) -> None:
    for job, script in story.scripts.items():
        world.kubelet.on(job, script)
    await world.project(gates=QUIET, **story.project)

    async def before() -> None:
        await world.task("one", **story.spec)
        await story.moment(world)

    await _replayed(world, life, before, lambda: _acts(story, world, user))
    await _ends_as_told(story, world, user)


async def _replayed(
    world: World,
    life: Life,
    before: Callable[[], Awaitable[None]],
    acts: Callable[[], Coroutine[Any, Any, None]],
) -> None:
    """What comes before is told often enough elsewhere: only what follows is replayed."""
    lasts, life.lasts = life.lasts, NEVER
    first = await world.start(client=mortal(life))
    await before()
    life.writes.clear()
    life.lasts = lasts

    async def until_rest() -> None:
        # The last writes come after all that a person sees.
        await acts()
        await world.at_rest()

    done = asyncio.create_task(until_rest())
    if await over_or(done, life):
        await first.kill()
        await world.start(lease="second")
    await done


async def _acts(story: Story, world: World, user: str) -> None:
    if story.verb in DECIDED:
        (name,) = await world.all(APPROVALS)
        await world.change(APPROVALS, name, decision=story.verb, decidedBy=user)
        await world.until(APPROVALS, name, lambda a: state_of(a) == DECIDED[story.verb])
    else:
        asked = {"id": "r-1", "verb": story.verb, "by": user, "reason": "once more"}
        await world.change(TASKS, "one", requests=[asked])
        await world.until(TASKS, "one", lambda t: t["status"].get("requests"))
    await world.task_in("one", story.end)


async def _ends_as_told(story: Story, world: World, user: str) -> None:
    task = await world.get(TASKS, "one")
    answers = [(a["verb"], a["answer"]) for a in task["status"].get("requests") or ()]
    assert answers == ([] if story.verb in DECIDED else [(story.verb, "Done")])
    moves = [(m["toState"], m["reason"]) for m in task["status"]["history"] if m["actor"] == user]
    assert tuple(moves) == story.moves
    assert sorted(world.kubelet.ran) == sorted(story.ran)
    landed = [MAIN] if story.end == "Closed" else []
    assert [ref for ref, _ in world.kubelet.remote.landed] == landed


# --- of a Plan ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlanStory:
    """A Plan, `web`, of the Tasks `one` and `two`, of which `two` has failed for good."""

    verb: str
    end: str
    tasks: Mapping[str, str]
    """The state of each at the end."""
    moves: tuple[tuple[str, str], ...]
    """Of `two`, in the name of who asks: to which state, and why."""
    ran: int
    """Sessions of `two`."""


PLAN_STORIES = (
    PlanStory(
        "Retry",
        "Succeeded",
        {"web-a-one": "Closed", "web-a-two": "Closed"},
        (("Open", "Retry"),),
        5,
    ),
    PlanStory(
        "DeliverPartial",
        "DeliveredPartially",
        {"web-a-one": "Closed", "web-a-two": "Failed"},
        (),
        4,
    ),
)


@pytest.mark.parametrize("story", PLAN_STORIES, ids=lambda story: story.verb)
async def test_what_is_asked_of_a_plan_is_carried_through_once_whatever_write_was_the_last(
    story: PlanStory, make_world: MakeWorld, user: str
) -> None:
    async def tell(life: Life) -> None:
        await _told_of_a_plan(story, await make_world(), user, life)

    await after_each_write(tell, more_than=3, most=MOST)


async def _told_of_a_plan(story: PlanStory, world: World, user: str, life: Life) -> None:
    fails = works(outcome="AgentFailed", message="it cannot be done")
    world.kubelet.on("web-a-two-s[1-4]", fails)
    await world.project(gates=QUIET)

    async def before() -> None:
        await world.plan("web", [stage("a", "one", "two")])
        await _plan_is(world, "Failed")

    async def acts() -> None:
        asked = {"id": "r-1", "verb": story.verb, "by": user, "reason": "once more"}
        await world.change(PLANS, "web", requests=[asked])
        await world.until(PLANS, "web", lambda p: p["status"].get("requests"))
        await _plan_is(world, story.end)

    await _replayed(world, life, before, acts)
    await _plan_ends_as_told(story, world, user)


async def _plan_is(world: World, phase: str) -> None:
    await world.until(PLANS, "web", lambda p: p["status"].get("phase") == phase)


async def _plan_ends_as_told(story: PlanStory, world: World, user: str) -> None:
    plan, tasks = await world.get(PLANS, "web"), await world.all(TASKS)
    answers = [(answer["verb"], answer["answer"]) for answer in plan["status"]["requests"]]
    assert answers == [(story.verb, "Done")]
    assert {name: state_of(task) for name, task in tasks.items()} == story.tasks
    history = tasks["web-a-two"]["status"]["history"]
    moves = [(m["toState"], m["reason"]) for m in history if m["actor"] == user]
    assert tuple(moves) == story.moves
    sessions = {f"web-a-two-s{number}" for number in range(1, story.ran + 1)}
    assert set(await world.sessions()) == {"web-a-one-s1", *sessions}
    ran = world.kubelet.ran
    assert sorted(ran) == sorted(set(ran))
    remote = world.kubelet.remote
    assert [ref for ref, _ in remote.landed].count(MAIN) == 1
    closed = sum(state == "Closed" for state in story.tasks.values())
    assert len(remote.content(MAIN)) == closed
