"""A workflow's counts are of its nodes, however often each of them runs."""

from __future__ import annotations

from bernstein.api.plan import Counts
from tests.unit.core.plans.nodes.played import World
from tests.unit.core.plans.workflows.stories.story import Outcome, Story

STORY = Story(
    "what fails is mended",
    """
    phases: [work, check, ship]
    nodes:
      build: {phase: work}
      test: {phase: check, depends_on: [build]}
      fix:
        phase: work
        depends_on: [{source: test, condition: "status == 'failed'"}]
        retry: {max_attempts: 2, until: "status == 'done'"}
      ship: {phase: ship, depends_on: [test]}
      tell: {phase: ship, depends_on: [{source: test, condition: "status == 'failed'"}]}
    """,
    order="",
)


def counts(world: World) -> Counts:
    world.settle()
    return world.status.counts


def end(world: World, status: str = "done") -> Counts:
    (running,) = world.running()
    world.end(running, Outcome(status))  # type: ignore[arg-type]
    return counts(world)


def test_nodes_that_have_yet_to_begin_are_among_them() -> None:
    found = counts(World.of(STORY))

    assert (found.closed, found.total) == (0, 5)
    assert found.open + found.running == 5


def test_a_run_that_is_mended_is_no_failure_and_no_node_counts_twice() -> None:
    world = World.of(STORY)
    world.settle()
    end(world)
    end(world, "failed")
    mending = counts(world)
    end(world)
    end(world)
    found = end(world)

    assert (mending.failed, mending.closed, mending.total) == (0, 1, 5)
    assert world.order == "build#1 test#1 fix#1 test#2 ship#1"
    # Nobody had to be told of a failure: that node is skipped.
    assert (found.closed, found.failed, found.total) == (4, 0, 4)


def test_a_loop_without_a_run_left_has_failed() -> None:
    world = World.of(STORY)
    world.settle()
    end(world)
    for _ in range(2):
        end(world, "failed")
        end(world)
    end(world, "failed")
    found = end(world)

    assert (found.failed, found.closed) == (1, 3)
