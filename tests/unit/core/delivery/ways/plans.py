"""The ways on which the work of a Plan lands, and that of a Task by way of its Plan."""

from __future__ import annotations

from functools import partial
from typing import Any

from bernstein.api.approvals.approval import APPROVE
from bernstein.api.requests import DELIVER_PARTIAL, RETRY, PlanRequest
from bernstein.api.states import TaskState
from bernstein.api.waiting import Cancel
from bernstein.core import names
from tests.unit.core import objects
from tests.unit.core.delivery.ways.landings import NO_SCAN, Landings, Step, Way
from tests.unit.core.delivery.ways.tasks import STRICT, first, has_passed
from tests.unit.core.simulation.state import TARGET

GATES = {"pipeline": [NO_SCAN]}
PLANNED = objects.project(gates=GATES)


def _plan(*files: str, project: Any = None) -> Landings:
    """A Plan with a step for each of these files."""
    steps = [{"title": f"Do {file}", "files": [file]} for file in files]
    plan = objects.plan(begun=False, stages=[{"name": "build", "steps": steps}])
    return Landings(project or PLANNED, plan)


def _of_a_plan() -> Landings:
    return _plan("a.py")


def _all_are_closed(world: Landings) -> bool:
    states = [task.status.state for task in world.tasks.values()]
    return bool(states) and set(states) == {TaskState.CLOSED}


def _passes_as_a_whole(world: Landings) -> bool:
    judged = world.plan.status.verification if world.plan is not None else None
    return judged is not None and judged.passed is True


def _somebody_pushes(world: Landings) -> bool:
    if not any(job.role == "agent" and job.runs for job in world.jobs.values()):
        return False
    world.remote.human_pushes(TARGET, "human.py", "meanwhile")
    return True


def _approves(world: Landings) -> bool:
    pending = [name for name, each in world.approvals.items() if each.spec.decision is None]
    for name in pending:
        world.decide(name, APPROVE)
    return bool(pending)


def _its_base_fails() -> Landings:
    """What a gate says of the work of one it says of the commit before, too, until the other one
    has landed."""
    world = _plan("a.py", "b.py", project=objects.project(gates={"pipeline": [NO_SCAN, STRICT]}))
    gate = partial(names.session_job, "web-build-do-a-py-s1")
    world.fates |= {gate(name, 0): "bad" for name in ("strict", names.on_base("strict"))}
    # So that the other one is at work for longer.
    world.fates |= {f"web-build-do-b-py-s{n}": "disrupted" for n in (1, 2)}
    return world


def _time_passes(world: Landings) -> bool:
    """Between the beginning of the other one and the verdict on the base."""
    if "web-build-do-b-py-s3" not in world.jobs:
        return False
    world.pass_time(1)
    return True


def _passes_on_what_landed(world: Landings) -> bool:
    """The work of the first one."""
    judged = first(world).status.verification
    return has_passed(world) and judged is not None and judged.ref.endswith("/candidate")


# --- in several repositories --------------------------------------------------------------------


def _in_two() -> Landings:
    """Of two branches at one address, as the Project has them for two repositories."""
    account = {a: {"secretName": f"git-{a}"} for a in ("read", "work", "deliver")}
    shared = {"url": "https://git.example/app.git", "credentials": account}
    project = objects.project(
        gates=GATES,
        repositories=[
            {"name": "app", "branch": "main"} | shared,
            {"name": "docs", "branch": "pages"} | shared,
        ],
    )
    steps = [
        {"title": f"Do {name}", "repo": name, "files": [f"{name}.py"]} for name in ("app", "docs")
    ]
    plan = objects.plan(
        begun=False,
        stages=[{"name": "build", "steps": steps}],
        repos=[{"path": "app"}, {"path": "docs"}],
    )
    world = Landings(project, plan)
    world.remote.refs["refs/heads/pages"] = world.remote.refs[TARGET]
    return world


def _one_lands(world: Landings) -> bool:
    rows = world.plan.status.repositories if world.plan is not None else ()
    return any(row.delivery is not None and row.delivery.step == "Landing" for row in rows)


# --- a part of it -------------------------------------------------------------------------------


def _one_fails() -> Landings:
    world = _plan("a.py", "b.py")
    world.fates |= {f"web-build-do-b-py-s{n}": "bad" for n in range(1, 5)}
    return world


def _asks(verb: str, phase: str) -> Step:
    def step(world: Landings) -> bool:
        if world.plan is None or world.plan.status.phase != phase:
            return False
        world.change_plan(requests=(PlanRequest(id="r-1", verb=verb, by="ann", reason="now"),))
        return True

    return step


def _asks_for_a_part(world: Landings) -> bool:
    return _asks(DELIVER_PARTIAL, "Failed")(world)


def _part_passes(world: Landings) -> bool:
    partial = world.plan.status.partial if world.plan is not None else None
    return partial is not None and _passes_as_a_whole(world)


# --- while it lands -----------------------------------------------------------------------------


def _lands(world: Landings) -> bool:
    """That it lands is written, and no Job has been asked for."""
    delivery = world.plan.status.delivery if world.plan is not None else None
    return delivery is not None and delivery.step == "Landing"


def _is_cancelled(world: Landings) -> None:
    world.change_plan(cancel=Cancel(reason="not needed"))


def _is_suspended(world: Landings) -> None:
    world.change_plan(suspend=True)


def _part_lands(world: Landings) -> bool:
    return _lands(world) and _part_passes(world)


def _its_project_goes(world: Landings) -> bool:
    """While its land Job is at work."""
    job = world.jobs.get("web-land-1")
    world.lacks_project = job is not None and job.runs
    return world.lacks_project


OF_PLANS = {
    "a Plan": Way(_of_a_plan, _all_are_closed),
    "an approved Plan": Way(
        lambda: _plan("a.py", project=objects.project(gates=GATES, approval={"plan": "Always"})),
        _all_are_closed,
        (_approves,),
    ),
    "a Plan on a newer tip": Way(_of_a_plan, _passes_as_a_whole, (_somebody_pushes,)),
    "a Plan that was retried": Way(_one_fails, _all_are_closed, (_asks(RETRY, "Failed"),)),
    "a Task whose base fails": Way(_its_base_fails, _passes_on_what_landed, (_time_passes,)),
    "a Plan in two repositories": Way(_in_two, _all_are_closed),
    "a Plan in two repositories, cancelled while one lands": Way(
        _in_two, _one_lands, meanwhile=_is_cancelled
    ),
    "a part of a Plan": Way(_one_fails, _part_passes, (_asks_for_a_part,)),
    "a part of a Plan, suspended while it lands": Way(
        _one_fails, _part_lands, (_asks_for_a_part,), meanwhile=_is_suspended
    ),
    "a Plan, cancelled while it lands": Way(_of_a_plan, _lands, meanwhile=_is_cancelled),
    "a Plan, suspended while it lands": Way(_of_a_plan, _lands, meanwhile=_is_suspended),
    # What was asked for is followed, and nothing is asked for any more.
    "a Plan without its Project": Way(
        _of_a_plan, _all_are_closed, (_its_project_goes,), spoilt_by=()
    ),
}
