"""The ways on which the work of a Task lands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bernstein.api.approvals.approval import APPROVE
from bernstein.api.requests import KILL, REMERGE, RETRY, UNBLOCK, UNCLAIM, VERIFY, TaskRequest
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.delivery import conflict
from bernstein.core.waiting import is_kept_back
from tests.unit.core import objects
from tests.unit.core.delivery.ways.landings import (
    NO_SCAN,
    Landings,
    Step,
    Way,
    its_verdict_was_no,
    nobody_may_let_it_go_on,
    the_project_asks_for_more,
)
from tests.unit.core.simulation.state import TARGET

STRICT = {"name": "strict", "command": "true", "image": "strict:1"}
"""A gate that a Job's fate lets say no."""


def first(world: Landings) -> Task:
    return world.tasks[min(world.tasks)]


def has_passed(world: Landings) -> bool:
    judged = first(world).status.verification if world.tasks else None
    return judged is not None and judged.passed is True


def alone(project: Any = None, fates: dict[str, str] | None = None, **spec: Any) -> Landings:
    """One Task, and no Plan; `fates`: those of Jobs, by what follows the Task's name."""
    fields: dict[str, Any] = {"files": ["a.py"], "maxRetries": 0}
    task = objects.task(plan=None, stage=None, **(fields | spec))
    world = Landings(project or objects.project(gates={"pipeline": [NO_SCAN]}), None, [task])
    world.fates |= {f"work-{job}": fate for job, fate in (fates or {}).items()}
    return world


# --- what people do -----------------------------------------------------------------------------


def _asks(verb: str, when: Callable[[Landings], bool]) -> Step:
    def step(world: Landings) -> bool:
        if not when(world):
            return False
        task = first(world)
        asked = task.spec.requests
        new = TaskRequest(id=f"r-{len(asked) + 1}", verb=verb, by="ann", reason="once more")
        world.ask(task.metadata.name, *asked, new)
        return True

    return step


def _is(state: TaskState) -> Callable[[Landings], bool]:
    return lambda world: first(world).status.state is state


def _decides(decision: str) -> Step:
    def step(world: Landings) -> bool:
        pending = [name for name, each in world.approvals.items() if each.spec.decision is None]
        for name in pending:
            world.decide(name, decision, reason=f"{decision} it")
        return bool(pending)

    return step


def _works(session: str) -> Callable[[Landings], bool]:
    return lambda world: session in world.jobs and world.jobs[session].runs


def _pushes_while(session: str, path: str = "human.py") -> Step:
    """Somebody moves the target while that agent is at work."""

    def step(world: Landings) -> bool:
        if not _works(session)(world):
            return False
        world.remote.human_pushes(TARGET, path, "meanwhile")
        return True

    return step


# --- sessions, attempts, rounds -----------------------------------------------------------------


def _rejected_at_first(**spec: Any) -> Landings:
    signal = {"type": "test_passes", "command": "pytest"}
    fates = {"s1-signal-0-0": "bad"}
    return alone(fates=fates, **({"maxRetries": 1} | spec), completionSignals=[signal])


def _passes_at_its_second_attempt(world: Landings) -> bool:
    return has_passed(world) and first(world).status.attempt == 2


def _fails_for_good() -> Landings:
    return _rejected_at_first(maxRetries=0)


def _its_node_is_silent(world: Landings) -> bool:
    if not _works("work-s1")(world):
        return False
    world.pass_time(6 * 3600)
    return True


def _passes_after(move: TaskState) -> Callable[[Landings], bool]:
    """In a session that came after it was in that state."""

    def due(world: Landings) -> bool:
        status = first(world).status
        seen = any(m.to_state == move for m in status.history)
        return seen and status.state is TaskState.DONE and has_passed(world)

    return due


def _passes_after_asking(world: Landings) -> bool:
    return bool(first(world).status.requests) and has_passed(world)


def _claimed_without_a_pod(world: Landings) -> bool:
    return _is(TaskState.CLAIMED)(world) and "work-s1" in world.jobs


def _begun_and_blocked(world: Landings) -> bool:
    return _is(TaskState.BLOCKED)(world)


# --- what lands is not what the agent left ------------------------------------------------------


def _formatted() -> Landings:
    return alone(objects.project(gates={"pipeline": [NO_SCAN, {"name": "auto_format"}]}))


def _passes_formatted(world: Landings) -> bool:
    judged = first(world).status.verification
    form = judged.formatting if judged is not None else None
    return has_passed(world) and form is not None and form.work is not None


def _passes_as_a_candidate(world: Landings) -> bool:
    judged = first(world).status.verification
    return has_passed(world) and judged is not None and judged.ref.endswith("/candidate")


def _conflicts(world: Landings) -> bool:
    return conflict.is_stalled(first(world).status)


# --- people say so ------------------------------------------------------------------------------


def _asks_people(**spec: Any) -> Landings:
    policy = {"plan": "Never", "result": "Always"}
    return alone(objects.project(gates={"pipeline": [NO_SCAN]}, approval=policy), **spec)


def _a_gate_says_no() -> Landings:
    gates = {"pipeline": [NO_SCAN, STRICT], "allowBypass": True}
    return alone(objects.project(gates=gates), {"s1-strict-0": "bad"})


def _passes_without_the_gate(world: Landings) -> bool:
    judged = first(world).status.verification
    return has_passed(world) and judged is not None and any(c.bypass for c in judged.checks)


# --- a landing once more ------------------------------------------------------------------------


def _does_not_land() -> Landings:
    return alone(fates={"s1-land-1": "bad"})


def _is_kept_back(world: Landings) -> bool:
    task = first(world)
    return task.status.state is TaskState.DONE and is_kept_back(task.status)


def _merges_again(world: Landings) -> bool:
    """The very moment at which the request is answered: it goes on to its turn from there."""
    answers = first(world).status.requests or ()
    return any(answer.verb == REMERGE for answer in answers)


def _lands(world: Landings) -> bool:
    """That it lands is written, and no Job has been asked for."""
    delivery = first(world).status.delivery
    return delivery is not None and delivery.step == "Landing"


def _somebody_deletes_it(world: Landings) -> None:
    """Somebody's finalizer keeps it, and all that it owns."""
    name = first(world).metadata.name
    world.delete_task(name, "Foreground")
    gone = world.tasks[name]
    kept = gone.metadata.model_copy(update={"finalizers": ("example.com/kept",)})
    world.tasks[name] = gone.model_copy(update={"metadata": kept})


def _two() -> Landings:
    """The second one begins where the first one has landed."""
    upstream = objects.task("a", plan=None, stage=None, files=["a.py"], maxRetries=0)
    then = objects.task("b", plan=None, stage=None, files=["b.py"], dependsOn=["a"])
    gates = {"pipeline": [NO_SCAN]}
    return Landings(objects.project(gates=gates), None, [upstream, then])


OF_TASKS = {
    "normal": Way(alone, has_passed),
    "retry": Way(_rejected_at_first, _passes_at_its_second_attempt),
    "another round": Way(
        _fails_for_good, _passes_after_asking, (_asks(RETRY, _is(TaskState.FAILED)),)
    ),
    "orphan recovery": Way(
        lambda: alone(fates={"s1": "silent"}, maxRetries=1),
        _passes_after(TaskState.ORPHANED),
        (_its_node_is_silent,),
    ),
    "after a disruption": Way(
        lambda: alone(fates={"s1": "disrupted"}), _passes_after(TaskState.OPEN)
    ),
    "another round after disruptions": Way(
        lambda: alone(fates={f"s{n}": "deleted" for n in range(1, 7)}),
        _passes_after(TaskState.FAILED),
        (_asks(RETRY, _is(TaskState.FAILED)),),
    ),
    "killed": Way(alone, _passes_after(TaskState.ORPHANED), (_asks(KILL, _works("work-s1")),)),
    "unclaimed": Way(
        lambda: alone(fates={"s1": "stuck"}),
        _passes_after_asking,
        (_asks(UNCLAIM, _claimed_without_a_pod),),
    ),
    "unblocked": Way(
        lambda: alone(fates={"s1": "blocked"}),
        _passes_after(TaskState.BLOCKED),
        (_asks(UNBLOCK, _begun_and_blocked),),
    ),
    "formatted": Way(_formatted, _passes_formatted),
    "on a newer tip": Way(alone, _passes_as_a_candidate, (_pushes_while("work-s1"),)),
    "after a conflict": Way(
        lambda: alone(maxRetries=1),
        _passes_after(TaskState.FAILED),
        (_pushes_while("work-s1", "a.py"),),
    ),
    "another round after a conflict": Way(
        alone,
        _passes_after(TaskState.FAILED),
        (_pushes_while("work-s1", "a.py"), _asks(RETRY, _conflicts)),
    ),
    "approve": Way(_asks_people, has_passed, (_decides(APPROVE),)),
    "sent back": Way(
        lambda: _asks_people(maxRetries=1),
        _passes_after(TaskState.FAILED),
        (_decides("Retry"), _decides(APPROVE)),
    ),
    "bypass of a gate": Way(
        _a_gate_says_no,
        _passes_without_the_gate,
        (_decides(APPROVE),),
        spoilt_by=(the_project_asks_for_more, its_verdict_was_no, nobody_may_let_it_go_on),
    ),
    "re-run": Way(_does_not_land, _passes_after_asking, (_asks(VERIFY, _is_kept_back),)),
    "merged again": Way(_does_not_land, _merges_again, (_asks(REMERGE, _is_kept_back),)),
    "deleted while it lands": Way(alone, _lands, meanwhile=_somebody_deletes_it, lands=False),
    "dependant of a rejected upstream": Way(_two, has_passed),
}
