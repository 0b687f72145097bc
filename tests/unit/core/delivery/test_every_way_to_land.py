"""Every way on which work lands asks may_merge, and on none of them lands what is not verified."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

import pytest

from bernstein.api.states import TaskState
from tests.unit.core.delivery.ways import WAYS, Landings, Step, Way, first
from tests.unit.core.simulation.apiserver import Crash
from tests.unit.rooms import PACKAGE

ASKS = {"bernstein.core.delivery.plan", "bernstein.core.delivery.task"}
"""Who asks may_merge: a Task's delivery and a Plan's."""
LANDS = {"bernstein.core.delivery.landing"}
"""Who makes a Job that moves a branch: only the one who is handed the answer of those."""


# --- who there is -------------------------------------------------------------------------------


@cache
def texts() -> dict[str, str]:
    """Every module of the program, by its name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path.read_text()
    return found


def names(tree: ast.AST) -> Iterator[str]:
    """Every name that it reads, also as an attribute of a module or under another name; a type that
    is only said in an annotation or a `case` is none."""
    passed_by = {id(each) for node in ast.walk(tree) for each in _types(node)}
    for node in ast.walk(tree):
        if id(node) in passed_by:
            continue
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.asname is not None)


def _types(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case (
            ast.arg(annotation=said)
            | ast.FunctionDef(returns=said)
            | ast.AnnAssign(annotation=said)
        ):
            wholes = [said] if said is not None else []
        case ast.MatchClass(cls=said):
            wholes = [said]
        case ast.Assign(value=ast.BinOp(op=ast.BitOr()) as said):  # a name for one of several types
            wholes = [said]
        case _:
            wholes = []
    for whole in wholes:
        yield from ast.walk(whole)


def users(name: str) -> set[str]:
    speak = {module: text for module, text in texts().items() if name in text}
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


# --- what lands ---------------------------------------------------------------------------------


Look = Callable[[Landings, list[Step]], None]


def told(world: Landings, left: list[Step], look: Look = lambda *_: None) -> Landings:
    """To its end; each step once, in turn."""
    for _ in world.moments():
        look(world, left)
        if left and left[0](world):
            del left[0]
    return world


def nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine as it would be if its answer were always yes."""
    for module in ASKS:
        monkeypatch.setattr(import_module(module), "may_merge", lambda *_, **__: True)


def tellings(way: Way, spoils: Callable[[Landings], None]) -> Iterator[Landings]:
    """The operator has died before its first write, its second, ...: the next one goes on."""
    first_one = way.world(spoils)
    seen = [(first_one.copy(), list(way.steps))]
    end = told(first_one, list(way.steps), lambda w, left: seen.append((w.copy(), list(left))))
    assert end.seen.writes > 8
    for after in range(end.seen.writes):
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
def test_it_would_land_if_nobody_asked(
    way: Way, spoils: Callable[[Landings], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody_asks(monkeypatch)

    world = told(way.world(spoils), list(way.steps))

    assert world.landed_unverified()


@pytest.mark.parametrize("name", WAYS)
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
