"""Workflows from their first run to their end: which runs there are, in which order, and why."""

from __future__ import annotations

from collections import Counter

import pytest

from bernstein.api.plans.workflow import WorkflowStatus
from bernstein.core.plans.workflows import course
from bernstein.core.plans.workflows.problems import problems
from tests.unit.core.plans.workflows.play import Play
from tests.unit.core.plans.workflows.stories.every import STORIES
from tests.unit.core.plans.workflows.stories.story import Outcome, Story, workflow

every_story = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)


def playing(story: Story, kind: type[Play] = Play) -> Play:
    return kind(story.workflow, story.outcome, frozenset(story.slow))


def assert_told(play: Play, story: Story) -> None:
    assert " ".join(play.order) == story.order
    states = {node.name: node.state for node in play.course.nodes}
    assert states == {name: story.states.get(name, "Done") for name in states}
    standing = course.standing(play.definition, play.course)
    assert (standing.kind, standing.nodes) == (story.kind, tuple(story.nodes))
    assert play.asked == list(story.asked)


@every_story
def test_a_story_goes_as_it_is_told(story: Story) -> None:
    play = playing(story)

    play.go()

    assert_told(play, story)


class Crashing(Play):
    """Each step is lost before it was written, and again after it; the course is read anew."""

    def stepped(self) -> WorkflowStatus:
        stored = self.course.model_dump_json(by_alias=True, exclude_none=True)
        self.course = WorkflowStatus.model_validate_json(stored)
        lost = super().stepped()
        taken = super().stepped()
        assert taken == lost

        before, self.course = self.course, taken
        assert super().stepped() is taken
        self.course = before
        return taken


@every_story
def test_a_step_that_is_taken_twice_changes_nothing(story: Story) -> None:
    play = playing(story, Crashing)

    play.go()

    assert_told(play, story)


class Sparing(Play):
    """Gives only the endings that are asked for."""

    def stepped(self) -> WorkflowStatus:
        needed = course.needed(self.definition, self.course)
        given = {name: ending for name, ending in self.endings.items() if name in needed}
        return course.advance(self.definition, self.course, given, self.may_enter)


@every_story
def test_only_the_endings_that_are_asked_for_are_needed(story: Story) -> None:
    play = playing(story, Sparing)

    play.go()

    assert_told(play, story)


@every_story
def test_no_node_runs_more_often_than_it_may(story: Story) -> None:
    play = playing(story)

    play.go()

    runs = Counter(run.partition("#")[0] for run in play.order)
    most = {name: play.definition.most_runs(name) for name in play.definition.nodes}
    assert {name: runs[name] for name in most if runs[name] > most[name]} == {}


@pytest.mark.parametrize(
    ("until", "order"),
    [
        ("status == 'done'", "a#1"),
        ("result == 'run 2'", "a#1 a#2"),
        ("result == 'run 9'", "a#1 a#2 a#3"),
    ],
)
def test_a_node_runs_again_until_what_it_says_holds(until: str, order: str) -> None:
    said = f'nodes: {{a: {{retry: {{max_attempts: 3, until: "{until}"}}}}}}'
    play = Play(workflow(said), lambda _, run: Outcome(result=f"run {run}"))

    play.go()

    assert " ".join(play.order) == order


@every_story
def test_nothing_is_wrong_with_what_the_stories_say(story: Story) -> None:
    assert list(problems(story.workflow)) == []


def test_stories_have_names_of_their_own() -> None:
    assert [name for name, n in Counter(s.name for s in STORIES).items() if n > 1] == []
