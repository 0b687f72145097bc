"""The ways on which work lands, and what can come between its verdict and its landing.

Each way is told in a cluster in memory, in which pods and people do what the way is named after. At
its moment, right after the write that says that the work has passed, its verdict becomes worth
nothing: the work is `unverified` from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from bernstein.api.requests import TaskRequest
from bernstein.api.signals import Signal
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.verification import Verification
from bernstein.core.actions import RunCheck
from bernstein.core.jobs import JobView
from bernstein.core.waiting import is_kept_back
from tests.unit.core import objects
from tests.unit.core.simulation.state import TARGET, Job
from tests.unit.core.simulation.world import World

NO_SCAN = {"name": "pii_scan", "enabled": False}
EXTRA = {"name": "extra", "command": "true", "image": "extra:1"}
"""A gate that says no to all work."""


class Landings(World):
    """A cluster that keeps book of what lands without having passed, where others stop at once."""

    due: Callable[[Landings], bool]
    spoils: Callable[[Landings], None]
    is_spoiled = False

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.unverified: set[str] = set()
        """Commits for which a Job that lands was asked, though not all of their checks passed."""

    def copy(self) -> Self:
        other = super().copy()
        other.unverified = set(self.unverified)
        return other

    def landed_unverified(self) -> set[str]:
        return {commit for _, commit in self.seen.landed} & self.unverified

    def _must_have_passed(self, commit: str, *signals: Signal) -> None:
        try:
            super()._must_have_passed(commit, *signals)
        except AssertionError:
            self.unverified.add(commit)

    def write_task(self, read: Task, status: Any) -> bool:
        wrote = super().write_task(read, status)
        self._spoil()
        return wrote

    def write_plan(self, read: Any, status: Any) -> bool:
        wrote = super().write_plan(read, status)
        self._spoil()
        return wrote

    def _spoil(self) -> None:
        if not self.is_spoiled and self.due(self):
            self.is_spoiled = True
            self.spoils(self)

    def play(self, name: str, fate: str = "good") -> bool:
        """As elsewhere, but that a gate says no, and that a node may fall silent."""
        job = self.jobs[name]
        if fate == "silent" and job.runs and job.pod is not None and not job.deleting:
            job.pod["spec"]["activeDeadlineSeconds"] = 60
            return False
        return super().play(name, "bad" if self._is_extra(job) else fate)

    def _is_extra(self, job: Job) -> bool:
        """It is asked about work; of what was there before it has nothing to say."""
        asks = job.wants
        if not isinstance(asks, RunCheck) or asks.base is not None:
            return False
        return asks.check.name == EXTRA["name"]

    def _views(self, owner: str) -> dict[str, JobView]:
        views = super()._views(owner)
        return {name: replace(view, bound_since=view.created) for name, view in views.items()}


# --- what makes a verdict worth nothing ---------------------------------------------------------


def the_project_asks_for_more(world: Landings) -> None:
    """A gate that nobody has run, and which would say no."""
    approval = world.project.spec.approval.dump()
    world.change_project(objects.project(gates={"pipeline": [NO_SCAN, EXTRA]}, approval=approval))


def its_verdict_was_no(world: Landings) -> None:
    """Whoever wrote `passed` was wrong: a check had said no."""
    world.seen.passed.clear()
    plan = world.plan
    if plan is not None and plan.status.verification is not None:
        told = plan.status.model_copy(update={"verification": _no(plan.status.verification)})
        world.plan = plan.model_copy(update={"status": told})
        return
    for name, task in world.tasks.items():
        if task.status.verification is not None:
            status = task.status.model_copy(update={"verification": _no(task.status.verification)})
            world.tasks[name] = task.model_copy(update={"status": status})


def _no(judged: Verification) -> Verification:
    checks = tuple(check.model_copy(update={"verdict": "Failed"}) for check in judged.checks)
    return judged.model_copy(update={"checks": checks})


# --- ways ---------------------------------------------------------------------------------------

Step = Callable[[Landings], bool]
"""What somebody does once its moment has come; whether that was now."""


@dataclass(frozen=True)
class Way:
    """`due`: its work has just passed, on this way. `steps`: what people do, one after another."""

    make: Callable[[], Landings]
    due: Callable[[Landings], bool]
    steps: tuple[Step, ...] = ()
    spoilt_by: tuple[Callable[[Landings], None], ...] = (
        the_project_asks_for_more,
        its_verdict_was_no,
    )

    def world(self, spoils: Callable[[Landings], None]) -> Landings:
        made = self.make()
        made.due, made.spoils = self.due, spoils
        return made


def first(world: Landings) -> Task:
    return world.tasks[min(world.tasks)]


def has_passed(world: Landings) -> bool:
    judged = first(world).status.verification if world.tasks else None
    return judged is not None and judged.passed is True


def alone(project: Any = None, **spec: Any) -> Landings:
    """One Task, and no Plan."""
    fields: dict[str, Any] = {"files": ["a.py"], "maxRetries": 0}
    task = objects.task(plan=None, stage=None, **(fields | spec))
    return Landings(project or objects.project(gates={"pipeline": [NO_SCAN]}), None, [task])


def _rejected_at_first() -> Landings:
    world = alone(maxRetries=1, completionSignals=[{"type": "test_passes", "command": "pytest"}])
    world.fates["work-s1-signal-0-0"] = "bad"
    return world


def _passes_at_its_second_attempt(world: Landings) -> bool:
    return has_passed(world) and first(world).status.attempt == 2


def _loses_its_first_session() -> Landings:
    world = alone(maxRetries=1)
    world.fates["work-s1"] = "silent"
    return world


def _its_node_is_silent(world: Landings) -> bool:
    job = world.jobs.get("work-s1")
    if job is None or not job.runs:
        return False
    world.pass_time(6 * 3600)
    return True


def _passes_in_a_new_session(world: Landings) -> bool:
    was_lost = any(m.to_state == TaskState.ORPHANED for m in first(world).status.history)
    return was_lost and has_passed(world)


def _somebody_pushes(world: Landings) -> bool:
    job = world.jobs.get("work-s1")
    if job is None or not job.runs:
        return False
    world.remote.human_pushes(TARGET, "human.py", "meanwhile")
    return True


def _passes_as_a_candidate(world: Landings) -> bool:
    judged = first(world).status.verification
    return has_passed(world) and judged is not None and judged.ref.endswith("/candidate")


def _asks_people() -> Landings:
    policy = {"plan": "Never", "result": "Always"}
    return alone(objects.project(gates={"pipeline": [NO_SCAN]}, approval=policy))


def _says_yes(world: Landings) -> bool:
    pending = [name for name, each in world.approvals.items() if each.spec.decision is None]
    for name in pending:
        world.decide(name, "Approve")
    return bool(pending)


def _does_not_land() -> Landings:
    world = alone()
    world.fates["work-s1-land-1"] = "bad"
    return world


def _asks_for_a_verification(world: Landings) -> bool:
    task = first(world)
    if task.status.state is not TaskState.DONE or not is_kept_back(task.status):
        return False
    asked = TaskRequest(id="r-1", verb="Verify", by="ann", reason="once more")
    world.ask(task.metadata.name, asked)
    return True


def _passes_once_more(world: Landings) -> bool:
    answers = first(world).status.requests or ()
    return bool(answers) and has_passed(world)


def _two() -> Landings:
    """The second one begins where the first one has landed."""
    upstream = objects.task("a", plan=None, stage=None, files=["a.py"], maxRetries=0)
    then = objects.task("b", plan=None, stage=None, files=["b.py"], dependsOn=["a"])
    gates = {"pipeline": [NO_SCAN]}
    return Landings(objects.project(gates=gates), None, [upstream, then])


def _of_a_plan() -> Landings:
    steps = [{"title": "Do a.py", "files": ["a.py"]}]
    plan = objects.plan(begun=False, stages=[{"name": "build", "steps": steps}])
    return Landings(objects.project(gates={"pipeline": [NO_SCAN]}), plan)


def _all_are_closed(world: Landings) -> bool:
    return bool(world.tasks) and first(world).status.state is TaskState.CLOSED


def _plan_passes_as_a_candidate(world: Landings) -> bool:
    judged = world.plan.status.verification if world.plan is not None else None
    return judged is not None and judged.passed is True


def _agent_of_the_plan_works(world: Landings) -> bool:
    if not any(job.role == "agent" and job.runs for job in world.jobs.values()):
        return False
    world.remote.human_pushes(TARGET, "human.py", "meanwhile")
    return True


WAYS = {
    "normal": Way(alone, has_passed),
    "retry": Way(_rejected_at_first, _passes_at_its_second_attempt),
    "orphan recovery": Way(
        _loses_its_first_session, _passes_in_a_new_session, (_its_node_is_silent,)
    ),
    "on a newer tip": Way(alone, _passes_as_a_candidate, (_somebody_pushes,)),
    "approve": Way(_asks_people, has_passed, (_says_yes,)),
    "re-run": Way(_does_not_land, _passes_once_more, (_asks_for_a_verification,)),
    "dependant of a rejected upstream": Way(_two, has_passed),
    # A gate that the Project gained is asked of the whole before may_merge is.
    "a Plan": Way(_of_a_plan, _all_are_closed, spoilt_by=(its_verdict_was_no,)),
    "a Plan on a newer tip": Way(
        _of_a_plan,
        _plan_passes_as_a_candidate,
        (_agent_of_the_plan_works,),
        spoilt_by=(its_verdict_was_no,),
    ),
}
