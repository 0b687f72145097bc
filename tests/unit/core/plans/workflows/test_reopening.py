"""Another round for what has failed: what runs again, and what is undecided for it."""

from __future__ import annotations

from collections.abc import Sequence

from bernstein.core.plans.workflows import course
from bernstein.core.plans.workflows.reopening import reopened, retryable
from tests.unit.core.plans.workflows.play import Play
from tests.unit.core.plans.workflows.stories.approvals import PIPELINE
from tests.unit.core.plans.workflows.stories.story import Outcome, Status, workflow

CHAIN = "nodes: {a: , b: {depends_on: [a]}, c: {depends_on: [b]}}"


def played(said: str, **ends: Sequence[Status]) -> Play:
    def end(name: str, run: int) -> Outcome:
        said_of = ends.get(name.replace("-", "_"), ())
        return Outcome(said_of[run - 1] if run <= len(said_of) else "done")

    play = Play(workflow(said), end)
    play.go()
    return play


def again(play: Play, *names: str, ends: Sequence[Outcome] = ()) -> None:
    """Another round, in which the runs that follow end like this."""
    following = iter(ends)
    play.ends = lambda *_: next(following, Outcome())
    play.order.clear()
    play.course = reopened(play.definition, play.course, names)
    for name in names:
        if play.node(name).state == "Running":
            play.run_again(name)
    play.go()


def standing(play: Play) -> str:
    return course.standing(play.definition, play.course).kind


def test_the_same_run_decides_anew_and_what_was_skipped_runs() -> None:
    play = played(CHAIN, a=["failed"])
    assert retryable(play.definition, play.course) == ("a",)

    play.course = reopened(play.definition, play.course, ["a"])

    assert [(node.state, node.run, node.edges) for node in play.course.nodes] == [
        ("Running", 1, ()),
        ("Pending", 0, ()),
        ("Pending", 0, ()),
    ]
    assert play.node("a").task == "plan-a-i1"


def test_it_goes_on_to_the_end() -> None:
    play = played(CHAIN, a=["failed"])

    again(play, "a")

    assert play.order == ["b#1", "c#1"]
    assert standing(play) == "Whole"


def test_it_may_fail_once_more() -> None:
    play = played(CHAIN, b=["failed"])

    again(play, "b", ends=[Outcome("failed")])

    assert play.order == []
    assert standing(play) == "Failed"
    assert retryable(play.definition, play.course) == ("b",)


def test_what_its_failure_has_begun_stays() -> None:
    handled = """
    nodes:
      a:
      b:
      tell: {depends_on: [{source: a, condition: "status == 'failed'"}]}
      ship: {depends_on: [a, b]}
    """
    play = played(handled, a=["failed"], b=["failed"])
    assert retryable(play.definition, play.course) == ("b",)

    again(play, "a", "b")

    assert play.order == ["ship#1"]
    assert (play.node("tell").state, play.node("tell").run) == ("Done", 1)
    assert play.node("tell").edges[0].satisfied


def test_what_was_cancelled_gets_none() -> None:
    play = played(CHAIN, a=["cancelled"])

    assert retryable(play.definition, play.course) == ()
    assert reopened(play.definition, play.course, ["a"]) is play.course


def test_a_retry_without_a_run_left_gets_one_round_and_no_run_more() -> None:
    play = played("nodes: {a: {retry: {max_attempts: 2}}, b: {depends_on: [a]}}", a=["failed"] * 2)
    assert standing(play) == "Exhausted"

    again(play, "a", ends=[Outcome("failed")])
    assert (standing(play), play.order) == ("Exhausted", [])

    again(play, "a")
    assert (standing(play), play.order) == ("Whole", ["b#1"])
    assert play.node("a").exhausted is None


def test_what_nothing_has_mended_is_tried_once_more() -> None:
    play = played(PIPELINE, run_tests=["failed"] * 4)
    assert retryable(play.definition, play.course) == ("run-tests",)

    again(play, "run-tests", ends=[Outcome("failed")])
    assert (standing(play), play.order) == ("Exhausted", [])

    again(play, "run-tests")
    assert (standing(play), play.order) == ("Whole", ["deploy#1"])
    assert {node.state for node in play.course.nodes} == {"Done"}


def test_a_fix_that_failed_gets_the_round_and_the_tests_run_after_it() -> None:
    play = played(PIPELINE, run_tests=["failed"], fix_bugs=["failed"] * 3)
    assert retryable(play.definition, play.course) == ("fix-bugs",)

    again(play, "fix-bugs")

    assert play.order == ["run-tests#2", "deploy#1"]
    assert standing(play) == "Whole"
    assert play.node("fix-bugs").run == 3


def test_of_a_fix_and_its_tests_the_fix_goes_first() -> None:
    play = played(PIPELINE, run_tests=["failed"], fix_bugs=["failed"] * 3)

    play.course = reopened(play.definition, play.course, ["run-tests", "fix-bugs"])

    states = {node.name: node.state for node in play.course.nodes}
    assert (states["run-tests"], states["fix-bugs"]) == ("Looping", "Running")


def test_a_loop_that_was_skipped_can_run_after_all() -> None:
    play = played(PIPELINE, build_api=["failed"])

    again(play, "build-api", ends=[Outcome(), Outcome("failed")])

    assert play.order == ["run-tests#1", "fix-bugs#1", "run-tests#2", "deploy#1"]
    assert standing(play) == "Whole"
