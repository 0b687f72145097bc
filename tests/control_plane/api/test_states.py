"""State machines as the API server enforces them: every pair of states, legal or not."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import pytest

from bernstein.api.states import (
    SESSION_INITIAL,
    SESSION_MOVES,
    TASK_INITIAL,
    TASK_MOVES,
    SessionState,
    TaskState,
)
from bernstein.kube.client import Client
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import Object
from tests.control_plane.objects import KINDS, OURS, valid

Moves = Mapping[str, Sequence[str]]
MACHINES: dict[str, tuple[Moves, Sequence[str]]] = {
    "Task": (
        {str(s): [str(t) for t in targets] for s, targets in TASK_MOVES.items()},
        [str(s) for s in TASK_INITIAL],
    ),
    "AgentSession": (
        {str(s): [str(t) for t in targets] for s, targets in SESSION_MOVES.items()},
        [str(s) for s in SESSION_INITIAL],
    ),
}
STATES = {"Task": [str(s) for s in TaskState], "AgentSession": [str(s) for s in SessionState]}
PLACES = [(kind, state) for kind, states in STATES.items() for state in states]


def way_to(kind: str, state: str) -> list[str]:
    """The shortest legal way from a new object to this state."""
    moves, initial = MACHINES[kind]
    ways = deque([[first] for first in initial])
    while ways:
        way = ways.popleft()
        if way[-1] == state:
            return way
        ways.extend([*way, following] for following in moves[way[-1]] if following not in way)
    raise AssertionError(f"{state} cannot be reached")


async def put(client: Client, kind: str, namespace: str, name: str, state: str | None) -> None:
    status = {"status": {"state": state, "observedGeneration": 1}}
    await client.patch(KINDS[kind], name, namespace, status, subresource="status")


def ours(kind: str, namespace: str, name: str = "one") -> Object:
    """As the operator makes it."""
    obj = valid(kind, namespace, name)
    obj["metadata"]["labels"] = OURS
    return obj


async def bring(client: Client, kind: str, namespace: str, name: str, state: str) -> None:
    await client.create(KINDS[kind], ours(kind, namespace, name))
    for step in way_to(kind, state):
        await put(client, kind, namespace, name, step)


@pytest.mark.parametrize(("kind", "state"), PLACES)
async def test_from_a_state_only_legal_moves_are_taken(
    operator: Client, namespace: str, kind: str, state: str
) -> None:
    moves, _ = MACHINES[kind]
    legal = {state, *moves[state]}
    for target in legal:
        await bring(operator, kind, namespace, f"to-{target.lower()}", state)
        await put(operator, kind, namespace, f"to-{target.lower()}", target)

    await bring(operator, kind, namespace, "stays", state)
    for target in set(STATES[kind]) - legal:
        with pytest.raises(Invalid) as refusal:
            await put(operator, kind, namespace, "stays", target)
        (cause,) = refusal.value.details["causes"]
        assert cause["field"] == "status.state"
        assert f"IllegalTransition: {state} to {target} is not a legal move" in cause["message"]


@pytest.mark.parametrize(("kind", "state"), PLACES)
async def test_first_come_initial_states_and_those_that_follow_on_the_one_it_was_born_with(
    operator: Client, namespace: str, kind: str, state: str
) -> None:
    moves, initial = MACHINES[kind]
    made = await operator.create(KINDS[kind], ours(kind, namespace))
    born = made["status"]["state"]
    assert born in initial
    if state in (*initial, *moves[born]):
        await put(operator, kind, namespace, "one", state)
        return
    with pytest.raises(Invalid, match=f"IllegalTransition: {born} to {state} is not a legal move"):
        await put(operator, kind, namespace, "one", state)


@pytest.mark.parametrize(("kind", "state"), PLACES)
async def test_a_state_is_not_removed(
    operator: Client, namespace: str, kind: str, state: str
) -> None:
    await bring(operator, kind, namespace, "one", state)

    await put(operator, kind, namespace, "one", state)
    with pytest.raises(Invalid, match="IllegalTransition: state may not be removed"):
        await put(operator, kind, namespace, "one", None)


def test_the_table_has_the_moves_that_were_specified() -> None:
    assert sum(len(targets) for targets in TASK_MOVES.values()) == 36
    assert sum(len(targets) for targets in SESSION_MOVES.values()) == 6
