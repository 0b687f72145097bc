"""Every way on which work lands asks may_merge, and on none of them lands what is not verified.

Which ways there are is found in the program: whoever calls towards the action that merges, whatever
people can ask for or be asked, and every move of a Task. What no row of WAYS goes through fails.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

import pytest

from bernstein.api.requests import OF_A_PLAN, OF_A_TASK
from bernstein.api.states import TASK_MOVES, TaskState
from tests.unit.core.delivery.ways import callers
from tests.unit.core.delivery.ways.landings import Landings, Way, nothing, told
from tests.unit.core.delivery.ways.plans import OF_PLANS
from tests.unit.core.delivery.ways.tasks import OF_TASKS, first
from tests.unit.core.simulation.apiserver import Crash

WAYS = OF_TASKS | OF_PLANS
"""A row for each."""
MERGE = "bernstein.core.actions.RunLand"
"""The action by which a branch moves."""
ASKS = {"bernstein.core.delivery.plan", "bernstein.core.delivery.task"}
"""Who asks may_merge: a Task's delivery and a Plan's."""
LANDS = {"bernstein.core.delivery.landing"}
"""Who makes a Job that moves a branch: only the one who is handed the answer of those."""
QUESTIONS = {f"bernstein.core.approvals.{name}" for name in ("results", "bypass", "plans")}
"""Who asks people: about work, about a gate that has said no, about a Plan."""

_T = TaskState
NEVER_MADE = {
    *((_T.CLAIMED, b) for b in (_T.DONE, _T.BLOCKED, _T.WAITING_FOR_SUBTASKS)),
    (_T.ORPHANED, _T.DONE),
}
"""Moves that the API server takes and nobody makes: one that is Done, Blocked or split was
InProgress, and the work of a lost session is done anew."""
OF_SUBTASKS = {
    *((a, _T.WAITING_FOR_SUBTASKS) for a in (_T.OPEN, _T.IN_PROGRESS)),
    *((_T.WAITING_FOR_SUBTASKS, b) for b in (_T.DONE, _T.BLOCKED)),
}
"""Of a Task that is split: it lands nothing itself. tests/control_plane/controllers/subtasks has
them."""


# --- who there is -------------------------------------------------------------------------------


def names(tree: ast.AST) -> Iterator[str]:
    """Every name that it reads, also as an attribute of a module or under another name; a type that
    is only said in an annotation or a `case` is none."""
    passed_by = callers.said_types(tree)
    for node in ast.walk(tree):
        if id(node) in passed_by:
            continue
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.asname is not None)


def users(name: str) -> set[str]:
    speak = {module: text for module, text in callers.texts().items() if name in text}
    return {module for module, text in speak.items() if name in names(ast.parse(text))}


def test_may_merge_is_asked_where_a_task_and_where_a_plan_is_delivered() -> None:
    assert users("may_merge") == ASKS


def test_nobody_else_makes_a_job_that_lands() -> None:
    """A new one asks may_merge first; then it belongs into this list, and its way into `ways`."""
    assert users("RunLand") == LANDS
    assert users("forward") == ASKS


@pytest.mark.parametrize(
    "line",
    [
        "RunLand(job=name)",
        "actions.RunLand(job=name)",
        "from bernstein.core.actions import RunLand as Go\nGo(job=name)",
        "partial(RunLand, name)",
    ],
)
def test_whoever_makes_one_is_found(line: str) -> None:
    assert "RunLand" in names(ast.parse(line))


@pytest.mark.parametrize("line", ["def f(a: RunLand): ...", "match a:\n case RunLand(): ..."])
def test_whoever_only_speaks_of_one_is_none(line: str) -> None:
    assert "RunLand" not in names(ast.parse(line))


# --- every way has its row ----------------------------------------------------------------------


@cache
def undisturbed(name: str) -> Landings:
    way = WAYS[name]
    left = list(way.steps)
    world = told(way.world(nothing), left)
    assert left == [], "nobody has done what the way is named after"
    return world


@cache
def calls_to_merge() -> frozenset[callers.Call]:
    """Between what the controllers call and who makes the action."""
    every = callers.towards(MERGE, callers.texts())
    within = {call for call in every if call[0].startswith("bernstein.core.")}
    return frozenset((by, whom) for by, whom in within if whom != MERGE)


@pytest.mark.parametrize("name", WAYS)
def test_undisturbed_what_was_verified_lands(name: str) -> None:
    world = undisturbed(name)

    assert world.is_spoiled, "its moment never came"
    assert world.unverified == set()
    assert bool(world.seen.landed) is WAYS[name].lands


def test_every_caller_on_the_way_to_the_merge_is_told_of_in_some_way() -> None:
    """One that is new needs a row in which it is called."""
    wanted = calls_to_merge()
    assert len(wanted) > 30

    def tell_all() -> None:
        for way in WAYS.values():
            told(way.world(nothing), list(way.steps))

    assert wanted - callers.seen(wanted, tell_all) == set()


def test_the_controllers_reach_the_merge_by_the_decisions_alone() -> None:
    every = callers.towards(MERGE, callers.texts())
    into = {whom for by, whom in every if not by.startswith("bernstein.core.")}

    decides = {whom for whom in into if whom.startswith("bernstein.core.")}
    assert decides == {"bernstein.core.plans.decide.decide", "bernstein.core.tasks.decide.decide"}


@pytest.mark.parametrize(
    "text",
    [
        "from bernstein.core.delivery.task import deliver\ndef skip(): deliver()",
        "from bernstein.core.delivery.task import deliver as go\ndef skip(): return partial(go, 1)",
        "from bernstein.core.delivery import task\nclass skip:\n def f(self): task.deliver()",
        "from bernstein.core.delivery import task\nT = {1: task.deliver}\ndef skip(): T[1]()",
        "def skip():\n from bernstein.core.delivery.task import deliver\n deliver()",
    ],
)
def test_a_caller_that_is_new_is_found(text: str) -> None:
    modules = {name: callers.texts()[name] for name in (*LANDS, "bernstein.core.delivery.task")}

    found = callers.towards(MERGE, modules | {"new": text})

    assert ("new.skip", "bernstein.core.delivery.task.deliver") in found


def test_every_request_of_people_has_its_way() -> None:
    worlds = [undisturbed(name) for name in WAYS]
    objects = [each for w in worlds for each in (*w.tasks.values(), w.plan) if each is not None]
    answers = [answer for each in objects for answer in each.status.requests or ()]

    done = {answer.verb for answer in answers if answer.answer == "Done"}
    assert done == {*OF_A_TASK, *OF_A_PLAN}


def test_every_question_to_people_has_its_way() -> None:
    asked = [each.spec for name in WAYS for each in undisturbed(name).approvals.values()]

    kinds = {(spec.subject.kind, spec.asks.gate is not None) for spec in asked}
    assert kinds == {("Task", False), ("Task", True), ("Plan", False)}
    room = "bernstein.core.approvals."
    assert {each for each in users("Question") if each.startswith(room)} == QUESTIONS


def test_every_move_of_a_task_that_may_still_land_has_its_way() -> None:
    moves = {(a, b) for a, to in TASK_MOVES.items() for b in to if b is not TaskState.CANCELLED}

    made = {move for name in WAYS for move in undisturbed(name).moves}
    assert moves - made == NEVER_MADE | OF_SUBTASKS


# --- what lands ---------------------------------------------------------------------------------


def nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine as it would be if its answer were always yes."""
    for module in ASKS:
        monkeypatch.setattr(import_module(module), "may_merge", lambda *_, **__: True)


def nothing_forbids_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it would be if it were not asked, nor whether what is asked for has changed since."""
    plan, task = (import_module(module) for module in sorted(ASKS))
    monkeypatch.setattr(plan, "_may_not", lambda *_: None)
    monkeypatch.setattr(task, "_verify_again", lambda *_: None)


def tellings(way: Way, spoils: Callable[[Landings], None]) -> Iterator[Landings]:
    """The operator has died before its first write, its second, ...: the next one goes on.

    Of a Plan with several Tasks only from its moment on: how they come to it, other ways tell.
    """
    first_one = way.world(spoils)
    seen = [(first_one.copy(), list(way.steps))]
    end = told(first_one, list(way.steps), lambda w, left: seen.append((w.copy(), list(left))))
    assert end.seen.writes > 8
    several = end.plan is not None and len(end.tasks) > 1
    before_it = max(w.seen.writes for w, _ in seen if not w.is_spoiled)
    for after in range(before_it if several else 0, end.seen.writes):
        # The same up to here, so that only what follows is told once more.
        before, left = next(m for m in reversed(seen) if m[0].seen.writes <= after)
        world, left = before.copy(), list(left)
        world.budget = after - world.seen.writes
        with pytest.raises(Crash):
            told(world, left)
        world.budget = None
        yield told(world, left)


CASES = [
    pytest.param(way, spoils, id=f"{name}, {spoils.__name__}")
    for name, way in WAYS.items()
    for spoils in way.spoilt_by
]


@pytest.mark.parametrize(("way", "spoils"), CASES)
def test_an_unverified_tree_never_lands(way: Way, spoils: Callable[[Landings], None]) -> None:
    world = told(way.world(spoils), list(way.steps))

    assert world.is_spoiled
    assert world.unverified == set()


@pytest.mark.parametrize(("way", "spoils"), CASES)
def test_it_would_land_if_nothing_forbade_it(
    way: Way, spoils: Callable[[Landings], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_forbids_it(monkeypatch)

    world = told(way.world(spoils), list(way.steps))

    assert world.landed_unverified()


@pytest.mark.parametrize("name", [name for name, way in WAYS.items() if way.spoilt_by])
def test_whatever_write_is_the_operators_last_an_unverified_tree_never_lands(name: str) -> None:
    for world in tellings(WAYS[name], WAYS[name].spoilt_by[0]):
        assert world.is_spoiled
        assert world.unverified == set()


def test_an_operator_that_is_killed_would_land_it_if_nobody_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After each of its writes, also where it had begun to land before."""
    nobody_asks(monkeypatch)
    way = WAYS["normal"]

    assert all(world.landed_unverified() for world in tellings(way, way.spoilt_by[0]))


def test_a_dependant_of_a_rejected_upstream_has_no_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    way = WAYS["dependant of a rejected upstream"]
    spoils = way.spoilt_by[0]
    world = told(way.world(spoils), [])

    assert first(world).status.state is TaskState.FAILED
    assert world.tasks["b"].status.sessions == 0
    assert world.seen.landed == set()

    nobody_asks(monkeypatch)
    world = told(way.world(spoils), [])
    assert world.tasks["b"].status.sessions > 0
