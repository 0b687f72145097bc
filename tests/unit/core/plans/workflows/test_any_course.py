"""Whatever a workflow says, and however its runs end: it comes to an end, by its own rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

from hypothesis import event, given
from hypothesis import strategies as st

from bernstein.api.plans.workflow import NodeState, NodeStatus, Workflow, WorkflowStatus
from bernstein.core.plans.workflows import course
from bernstein.core.plans.workflows.course import ENDED, Ending
from bernstein.core.plans.workflows.definition import Definition, Link
from bernstein.core.plans.workflows.expressions import Values
from bernstein.core.plans.workflows.reopening import reopened, retryable
from tests.unit.core.plans.workflows.generated import ends, right_workflow
from tests.unit.core.plans.workflows.play import Play
from tests.unit.core.plans.workflows.stories.story import Outcome

Ends = Mapping[str, Sequence[Outcome]]
chances = st.randoms(use_true_random=False)
STATUSES: Mapping[NodeState, str] = {
    "Done": "done",
    "Failed": "failed",
    "Cancelled": "cancelled",
    "Skipped": "skipped",
}


class Chance(Play):
    """Runs end in any order, and people answer at any time."""

    chance: Random

    def end_one(self) -> str | None:
        if self._running and self.chance.random() < 0.8:
            self.chance.shuffle(self._running)
            return super().end_one()
        return self.allow() or super().end_one()


class Careful(Chance):
    """And each step is looked at."""

    def stepped(self) -> WorkflowStatus:
        past = {
            name: Ending(run, "failed", "of the past", {"n": 2})
            for node in self.course.nodes
            for name, run in [(node.name, node.run - 1)]
        }
        quiet = self._advance(self.course, {})
        assert self._advance(self.course, past) == quiet

        taken = self._advance(self.course, self.endings)
        assert self._advance(taken, self.endings) is taken
        assert self._advance(quiet, self.endings) == taken
        assert self._stored(taken) == taken
        return taken

    def _advance(self, status: WorkflowStatus, given: Mapping[str, Ending]) -> WorkflowStatus:
        return course.advance(self.definition, status, given, self.may_enter)

    @staticmethod
    def _stored(status: WorkflowStatus) -> WorkflowStatus:
        return WorkflowStatus.model_validate_json(
            status.model_dump_json(by_alias=True, exclude_none=True)
        )


def played(kind: type[Chance], workflow: Workflow, said: Ends, chance: Random) -> Chance:
    play = begun(kind, workflow, said, chance)
    play.go()
    return play


def begun(kind: type[Chance], workflow: Workflow, said: Ends, chance: Random) -> Chance:
    def end(name: str, run: int) -> Outcome:
        outcomes = said.get(name, ())
        return outcomes[run - 1] if run <= len(outcomes) else Outcome()

    play = kind(workflow, end)
    play.chance = chance
    return play


def states(play: Play) -> dict[str, NodeState]:
    return {node.name: node.state for node in play.course.nodes}


def runs(play: Play) -> Counter[str]:
    return Counter({node.name: node.run for node in play.course.nodes})


@given(right_workflow(), ends, chances)
def test_a_step_that_is_taken_twice_or_late_changes_nothing(
    workflow: Workflow, said: Ends, chance: Random
) -> None:
    played(Careful, workflow, said, chance)


@given(right_workflow(), ends, chances)
def test_it_comes_to_an_end(workflow: Workflow, said: Ends, chance: Random) -> None:
    play = played(Chance, workflow, said, chance)

    assert set(states(play).values()) <= ENDED
    kind = course.standing(play.definition, play.course).kind
    assert kind != "Going"
    event(kind)
    event(f"with {len(play.definition.loops)} loops")
    most = {name: play.definition.most_runs(name) for name in play.definition.nodes}
    assert {name: n for name, n in runs(play).items() if n > most[name]} == {}


@given(right_workflow(), ends, chances)
def test_a_node_runs_when_its_edges_say_so(workflow: Workflow, said: Ends, chance: Random) -> None:
    """Told again from the end: what came of a node follows from what came of its sources."""
    play = played(Chance, workflow, said, chance)

    for name, node in play.definition.nodes.items():
        if name in play.definition.mends:
            continue
        links = play.definition.into[name]
        hold = [holds(play, link) for link in links]
        if node.join == "any" and links:
            ready = any(hold)
        else:
            ready = all(
                held
                or (any(hold) and link.condition is None and states(play)[link.source] == "Skipped")
                for link, held in zip(links, hold, strict=True)
            )
        assert (runs(play)[name] > 0) is ready
        assert (states(play)[name] == "Skipped") is not ready


def holds(play: Play, link: Link) -> bool:
    status = play.node(link.source)
    values = Values(STATUSES[status.state])
    if status.run:
        ending = play.endings[link.source]
        values = Values(values.status, ending.result, ending.output)
    if link.condition is None:
        return values.status == "done"
    return link.condition.holds(values)


@given(right_workflow(), ends, chances)
def test_what_is_mended_runs_again_after_each_run_that_mends_it(
    workflow: Workflow, said: Ends, chance: Random
) -> None:
    play = played(Chance, workflow, said, chance)

    for source, links in play.definition.loops.items():
        menders = [link.target for link in links]
        done = sum(
            play.ends(name, run).status == "done"
            for name in menders
            for run in range(1, runs(play)[name] + 1)
        )
        event("mended" if done else "not mended")
        assert runs(play)[source] == (0 if states(play)[source] == "Skipped" else done + 1)
        order = [run.partition("#")[0] for run in play.order]
        of_loop = [name for name in order if name in (source, *menders)]
        assert of_loop[:1] in ([], [source])


@given(right_workflow(), ends, chances)
def test_the_order_in_which_runs_end_changes_no_end(
    workflow: Workflow, said: Ends, chance: Random
) -> None:
    one = played(Chance, workflow, said, chance)
    other = played(Chance, workflow, said, Random(1))

    assert states(one) == states(other)
    assert runs(one) == runs(other)


# --- another round ------------------------------------------------------------------------------


@given(right_workflow(), ends, chances)
def test_another_round_comes_to_an_end_as_well(
    workflow: Workflow, said: Ends, chance: Random
) -> None:
    play = played(Chance, workflow, said, chance)
    again = retryable(play.definition, play.course)
    event(f"{len(again)} nodes again")
    begun = {name for name, run in runs(play).items() if run}

    play.course = reopened(play.definition, play.course, again)
    for name in again:
        assert play.node(name).state == "Running"
        play.run_again(name)
    play.ends = lambda *_: Outcome()
    play.go()

    assert set(states(play).values()) <= ENDED
    most = {name: play.definition.most_runs(name) for name in play.definition.nodes}
    assert {name: n for name, n in runs(play).items() if n > most[name]} == {}
    assert {name for name, run in runs(play).items() if run} >= begun


@given(right_workflow(), ends, chances, st.sets(st.sampled_from("abcdefgh")))
def test_a_round_for_any_nodes_at_any_time_keeps_it_going(
    workflow: Workflow, said: Ends, chance: Random, again: set[str]
) -> None:
    steps = chance.randint(0, 8)
    play = begun(Chance, workflow, said, chance)
    play.step()
    for _ in range(steps):
        play.end_one()
        play.step()
    before = {node.name: node for node in play.course.nodes}

    play.course = reopened(play.definition, play.course, again)
    for name, node in before.items():
        if node.state == "Failed" and play.node(name).state == "Running":
            play.run_again(name)
    play.go()

    assert set(states(play).values()) <= ENDED


def test_who_has_not_failed_gets_no_round() -> None:
    """Nothing is begun again that goes on, is done, was cancelled or skipped."""
    definition = Definition(
        Workflow.model_validate(
            {"phases": [{"name": "work"}], "nodes": [{"name": "a", "phase": "work"}]}
        )
    )
    for state in ("Pending", "Awaiting", "Running", "Looping", "Done", "Cancelled", "Skipped"):
        status = WorkflowStatus(digest="", nodes=(NodeStatus(name="a", state=state, run=1),))
        assert reopened(definition, status, ["a", "b"]) is status
