"""Each story of a workflow is the same one with all that is decided about its Plan."""

from __future__ import annotations

import random

import pytest

from tests.unit.core.objects import stalled_for
from tests.unit.core.plans.nodes.played import World, states
from tests.unit.core.plans.workflows.stories.every import STORIES
from tests.unit.core.plans.workflows.stories.story import Story

every_story = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
_ENDS = {
    "Whole": ("Succeeded", None),
    "Failed": ("Failed", "TaskFailed"),
    "Exhausted": ("Failed", "RetryExhausted"),
}


def assert_told(world: World, story: Story) -> None:
    assert world.order == story.order
    assert world.asked == list(story.asked)
    found = states(world.status)
    assert found == {name: story.states.get(name, "Done") for name in found}
    phase, reason = _ENDS[story.kind]
    assert (world.status.phase, stalled_for(world.status.conditions)) == (phase, reason)


@every_story
def test_a_story_goes_as_it_is_told(story: Story) -> None:
    world = World.of(story)

    world.go(story)

    assert_told(world, story)


@every_story
def test_an_operator_that_dies_anywhere_tells_the_same_story(story: Story) -> None:
    chance = random.Random(story.name)
    world = World.of(story, lambda: chance.random() < 0.4)

    world.go(story)

    assert_told(world, story)
