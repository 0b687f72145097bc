"""When it is told that a node's Task is gone before all was decided on it."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from bernstein.controllers.events.losses import Losses
from tests.unit.core.plans.nodes.played import World
from tests.unit.core.plans.workflows.stories.story import Outcome, Story

LOOP = "nodes: {a: {retry: {max_attempts: 3, until: output.ok}}, b: {depends_on: [a]}}"
MENDED = """
phases: [work, check]
nodes:
  check: {phase: check}
  mend:
    depends_on: [{source: check, condition: "not output.ok"}]
    retry: {max_attempts: 3, until: output.ok}
"""
DECIDED = "nodes: {a: , b: {depends_on: [{source: a, condition: output.ok}]}}"
STATUS_ALONE = "nodes: {a: {retry: {max_attempts: 3}}}"


def told(losses: Losses, world: World) -> list[str]:
    writer: Any = Mock()
    losses.tell(writer, {}, world.snapshot())
    assert {call.kwargs["reason"] for call in writer.events.record.call_args_list} <= {"OutputLost"}
    return [call.kwargs["message"] for call in writer.events.record.call_args_list]


def running(said: str) -> World:
    """Its first node has a Task."""
    world = World.of(Story("a workflow", said, order=""))
    world.settle()
    world.settle()
    return world


def test_a_task_on_whose_words_something_is_decided_is_told_of_once_when_it_is_deleted() -> None:
    world, losses = running(LOOP), Losses()
    assert told(losses, world) == []
    del world.tasks["web-a-i1"]

    assert told(losses, world) == [
        "the Task 'web-a-i1' of node 'a' is deleted: conditions take its result and its output as "
        "null"
    ]
    assert told(losses, world) == []
    assert len(told(Losses(), world)) == 1, "another replica tells of it, too"


def test_one_that_has_ended_is_told_of_while_its_loop_goes_on_and_not_behind_it() -> None:
    world, losses = running(MENDED), Losses()
    world.end("web-check-i1", Outcome("done", output={"ok": False}))
    world.settle()
    world.settle()
    assert world.order == "check#1 mend#1"
    gone = world.tasks.pop("web-check-i1")

    assert len(told(losses, world)) == 1
    assert told(losses, world) == []
    world.tasks["web-check-i1"] = gone
    world.end("web-mend-i1", Outcome("done"))
    world.settle()
    world.end("web-check-i2", Outcome("done", output={"ok": True}))
    world.settle()
    world.tasks.clear()
    assert told(Losses(), world) == []


@pytest.mark.parametrize("said", [STATUS_ALONE, "nodes: {a: , b: {depends_on: [a]}}"])
def test_where_only_the_status_counts_nothing_is_lost(said: str) -> None:
    world = running(said)
    del world.tasks["web-a-i1"]

    assert told(Losses(), world) == []


def test_one_that_is_yet_to_be_made_is_not_lost() -> None:
    world = World.of(Story("a decision", DECIDED, order=""))
    while not world.status.tasks:
        world.look()
    world.tasks.clear()

    assert told(Losses(), world) == []


def test_of_very_many_only_the_last_ones_are_known() -> None:
    losses = Losses(most=1)
    first, second = running(LOOP), running(DECIDED)
    for world in (first, second):
        del world.tasks["web-a-i1"]
    second.plan = second.plan.model_copy(
        update={"metadata": second.plan.metadata.model_copy(update={"uid": "another"})}
    )

    assert [len(told(losses, world)) for world in (first, second, second, first)] == [1, 1, 0, 1]
