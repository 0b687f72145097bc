"""The operator dies before each of its writes in turn, while people ask for things and decide.

Every request has one answer, every decision one effect, and it ends as if nothing had crashed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from bernstein.api.requests import TaskRequest
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.waiting import is_kept_back
from tests.unit.core import objects
from tests.unit.core.simulation.apiserver import Crash
from tests.unit.core.simulation.world import World

NO_GATES = {"pipeline": [{"name": name, "enabled": False} for name in ("lint", "pii_scan")]}
SIGNAL = {"type": "test_passes", "command": "pytest"}

Step = Callable[[World], bool]
"""What somebody does once its moment has come; whether that was now."""


def one(world: World) -> Task:
    (found,) = world.tasks.values()
    return found


def state_of(world: World) -> TaskState | None:
    return one(world).status.state if world.tasks else None


# --- requests -------------------------------------------------------------------------------------


def asks(verb: str, when: Callable[[World], bool]) -> Step:
    def step(world: World) -> bool:
        if not when(world):
            return False
        made = one(world).spec.requests
        new = TaskRequest(id=f"r-{len(made) + 1}", verb=verb, by="ann", reason="once more")
        world.ask(one(world).metadata.name, *made, new)
        return True

    return step


def is_claimed(world: World) -> bool:
    return state_of(world) is TaskState.CLAIMED and "work-s1" in world.jobs


def is_blocked(world: World) -> bool:
    return state_of(world) is TaskState.BLOCKED


def third_works(world: World) -> bool:
    return state_of(world) is TaskState.IN_PROGRESS and one(world).status.session == "work-s3"


def has_failed(world: World) -> bool:
    return state_of(world) is TaskState.FAILED


def is_judged_anew(world: World) -> bool:
    judged = one(world).status.verification
    return has_failed(world) and judged is not None and judged.passed is True


def does_not_land(world: World) -> bool:
    return state_of(world) is TaskState.DONE and is_kept_back(one(world).status)


OF_SESSIONS: tuple[Step, ...] = (
    asks("Unclaim", is_claimed),
    asks("Unblock", is_blocked),
    asks("Kill", third_works),
)
OF_WORK: tuple[Step, ...] = (
    asks("Verify", has_failed),
    asks("Retry", is_judged_anew),
    asks("Remerge", does_not_land),
)


def alone(**fates: str) -> World:
    """One Task, with the fates of its Jobs."""
    task = objects.task(
        plan=None, stage=None, files=["a.py"], maxRetries=0, completionSignals=[SIGNAL]
    )
    world = World(objects.project(gates=NO_GATES), None, [task])
    world.fates |= {f"work-{job.replace('_', '-')}": fate for job, fate in fates.items()}
    return world


def with_sessions() -> World:
    """A pod that does not start, an agent that waits, and one that runs wild."""
    return alone(s1="stuck", s2="blocked")


def with_work() -> World:
    """Work that fails its check, and then does not land."""
    return alone(s1_signal_0_0="bad", s2_land_1="bad")


# --- decisions ------------------------------------------------------------------------------------


def decides(kind: str, decision: str, attempt: int | None = None) -> Step:
    def step(world: World) -> bool:
        found = list(asked(world, kind, attempt))
        for name in found:
            world.decide(name, decision, reason=f"{decision} it")
        return bool(found)

    return step


def asked(world: World, kind: str, attempt: int | None) -> Iterator[str]:
    for name, approval in world.approvals.items():
        about = approval.spec.subject.kind, approval.spec.asks.attempt
        if about == (kind, attempt) and approval.spec.decision is None:
            yield name


def deletes_what_is_asked(world: World) -> bool:
    """It is made again."""
    found = list(asked(world, "Task", 1))
    for name in found:
        del world.approvals[name]
    return bool(found)


DECISIONS: tuple[Step, ...] = (
    decides("Plan", "Approve"),
    decides("Task", "Retry", attempt=1),
    decides("Task", "Approve", attempt=2),
)


def with_decisions() -> World:
    """A Plan of one Task; people are asked whether it may begin, and about its work."""
    steps = [{"title": "Do a.py", "files": ["a.py"]}]
    plan = objects.plan(begun=False, stages=[{"name": "build", "steps": steps}])
    policy = {"plan": "Always", "result": "Always"}
    return World(objects.project(gates=NO_GATES, approval=policy), plan)


# --- how it is told -------------------------------------------------------------------------------


def told(world: World, left: list[Step], look: Callable[[], None] = lambda: None) -> None:
    """To the end; each step once, in turn. Goes on where a crash has stopped it."""
    for moment in world.moments():
        look()
        if left and left[0](moment):
            del left[0]
    if left and left[0](world):  # of what was over
        del left[0]
        told(world, left, look)


def end_of(world: World) -> dict[str, Any]:
    """What it came to, without what differs between two tellings."""
    return {
        "tasks": {name: _end_of(task) for name, task in world.tasks.items()},
        "phase": world.plan.status.phase if world.plan is not None else None,
        "approvals": sorted(
            (
                a.spec.subject.kind,
                a.spec.asks.attempt or 0,
                str(a.spec.decision),
                str(a.status.state),
            )
            for a in world.approvals.values()
        ),
        "sessions": sorted(world.sessions),
        "jobs": sorted(world.jobs),
        "landed": len(world.seen.landed),
        "agents": dict(world.seen.spent),
    }


def _end_of(task: Task) -> dict[str, Any]:
    status = task.status
    return {
        "state": status.state,
        "attempts": [(a.session, a.reason, a.counted) for a in status.attempts],
        "moves": [(m.to_state, m.actor, m.reason) for m in status.history],
        "answers": [(a.id, a.verb, a.answer, a.reason) for a in status.requests or ()],
        "decided": (status.approval.decision, status.approval.by) if status.approval else None,
        "spent": status.spend_usd,
    }


@dataclass
class Moment:
    """Where the operator has done what it can, with what people have yet to do."""

    world: World
    left: list[Step]


def moments(make: Callable[[], World], steps: tuple[Step, ...]) -> list[Moment]:
    """All of them undisturbed, up to the end."""
    world, left = make(), list(steps)
    found = [Moment(world.copy(), list(left))]
    told(world, left, lambda: found.append(Moment(world.copy(), list(left))))
    assert left == []
    return [*found, Moment(world, left)]


def undisturbed(make: Callable[[], World], steps: tuple[Step, ...]) -> World:
    return moments(make, steps)[-1].world


@pytest.mark.parametrize(
    ("make", "steps", "verbs"),
    [
        (with_sessions, OF_SESSIONS, ["Unclaim", "Unblock", "Kill"]),
        (with_work, OF_WORK, ["Verify", "Retry", "Remerge"]),
    ],
)
def test_every_request_that_makes_sense_is_done(
    make: Callable[[], World], steps: tuple[Step, ...], verbs: list[str]
) -> None:
    world = undisturbed(make, steps)

    answers = one(world).status.requests or ()
    assert [(a.verb, a.answer) for a in answers] == [(verb, "Done") for verb in verbs]
    assert state_of(world) is TaskState.CLOSED


def test_work_that_is_sent_back_and_then_approved_lands() -> None:
    world = undisturbed(with_decisions, DECISIONS)

    assert world.plan is not None
    assert world.plan.status.phase == "Succeeded"
    assert end_of(world)["approvals"] == [
        ("Plan", 0, "Approve", "Approved"),
        ("Task", 1, "Retry", "Rejected"),
        ("Task", 2, "Approve", "Approved"),
    ]


@pytest.mark.parametrize(
    ("make", "steps"),
    [
        pytest.param(with_sessions, OF_SESSIONS, id="Unclaim, Unblock and Kill"),
        pytest.param(with_work, OF_WORK, id="Verify, Retry and Remerge"),
        pytest.param(
            with_decisions, (DECISIONS[0], deletes_what_is_asked, *DECISIONS[1:]), id="decisions"
        ),
    ],
)
def test_whatever_write_is_the_operators_last_it_ends_the_same(
    make: Callable[[], World], steps: tuple[Step, ...]
) -> None:
    told_whole = moments(make, steps)
    end, writes = end_of(told_whole[-1].world), told_whole[-1].world.seen.writes
    assert writes > 20
    for after in range(writes):
        # The same up to here, so that only what follows is told once more.
        whole = next(m for m in reversed(told_whole) if m.world.seen.writes <= after)
        world, left = whole.world.copy(), list(whole.left)
        world.budget = after - world.seen.writes
        with pytest.raises(Crash):
            told(world, left)
        world.budget = None
        told(world, left)
        assert (left, end_of(world)) == ([], end), f"it died after {after} writes"
