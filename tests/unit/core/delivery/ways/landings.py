"""What a way is on which work lands, and what can come between its verdict and its landing.

Each way is told in a cluster in memory, in which pods and people do what the way is named after. At
its moment, right after the write that says that the work has passed, its verdict becomes worth
nothing: the work is `unverified` from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from bernstein.api.approvals.approval import APPROVE
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.reasons import Reason
from bernstein.api.signals import Signal
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.verification import Verification
from bernstein.checks.spec import CheckSpec
from bernstein.core.actions import RunCheck
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.snapshot import PlanSnapshot
from tests.unit.core import objects
from tests.unit.core.simulation.state import Job
from tests.unit.core.simulation.world import World, whole

NO_SCAN = {"name": "pii_scan", "enabled": False}
EXTRA = {"name": "extra", "command": "true", "image": "extra:1"}
"""A gate that says no to all work."""


class Landings(World):
    """A cluster that keeps book of what lands without having passed, where others stop at once."""

    due: Callable[[Landings], bool]
    meanwhile: Callable[[Landings], None]
    spoils: Callable[[Landings], None]
    is_spoiled = False
    lacks_project = False

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.unverified: set[str] = set()
        """Commits for which a Job that lands was asked, though not all of their checks passed."""
        self.moves: set[tuple[TaskState, TaskState]] = set()
        """Moves that Tasks have made."""

    def copy(self) -> Self:
        other = super().copy()
        other.unverified, other.moves = set(self.unverified), set(self.moves)
        return other

    def landed_unverified(self) -> set[str]:
        return {commit for _, commit in self.seen.landed} & self.unverified

    def _must_have_passed(self, commit: str, *signals: Signal) -> None:
        try:
            super()._must_have_passed(commit, *signals)
        except AssertionError:
            self.unverified.add(commit)

    def _has_passed(self, check: CheckSpec, commit: str) -> bool:
        """As elsewhere, or people have let exactly it go on, and the Project still lets them."""
        return super()._has_passed(check, commit) or (
            self.project.spec.gates.allow_bypass
            and any(
                each.spec.decision == APPROVE
                and (each.spec.asks.gate, each.spec.asks.sha) == (check.name, commit)
                for each in self.approvals.values()
            )
        )

    def plan_snapshot(self, subject: Plan) -> PlanSnapshot:
        whole = super().plan_snapshot(subject)
        if not self.lacks_project:
            return whole
        gone = Diagnosis(Reason.PROJECT_GONE, "the Project is gone")
        return replace(whole, project=None, project_problem=gone)

    def write_task(self, read: Task, status: Any) -> bool:
        wrote = super().write_task(read, status)
        if wrote and read.status.state not in (None, status.state):
            self.moves.add((read.status.state, status.state))
        self._spoil()
        return wrote

    def write_plan(self, read: Any, status: Any) -> bool:
        wrote = super().write_plan(read, status)
        self._spoil()
        return wrote

    def _spoil(self) -> None:
        if not self.is_spoiled and self.due(self):
            self.is_spoiled = True
            self.meanwhile(self)
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
    world.change_project(with_gates(world, EXTRA))


def with_gates(world: Landings, *more: objects.Object, **settings: bool) -> Project:
    """The Project with these gates besides, or other settings of all of them."""
    spec = world.project.spec
    gates = spec.gates.dump() | settings
    gates["pipeline"] = [*gates["pipeline"], *more]
    listed = [each.dump() for each in whole(world.project).spec.repositories]
    return objects.project(gates=gates, approval=spec.approval.dump(), repositories=listed)


def nobody_may_let_it_go_on(world: Landings) -> None:
    """What was let go on without a gate was let by rules that hold no more."""
    world.change_project(with_gates(world, allowBypass=False))


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


def nothing(_: Landings) -> None:
    """It lands as it was verified."""


# --- ways ---------------------------------------------------------------------------------------

Step = Callable[[Landings], bool]
"""What somebody does once its moment has come; whether that was now."""


@dataclass(frozen=True)
class Way:
    """`due`: its work has just passed, on this way. `steps`: what people do, one after another.
    `meanwhile`: what they do at the very moment at which it is due."""

    make: Callable[[], Landings]
    due: Callable[[Landings], bool]
    steps: tuple[Step, ...] = ()
    spoilt_by: tuple[Callable[[Landings], None], ...] = (
        the_project_asks_for_more,
        its_verdict_was_no,
    )
    meanwhile: Callable[[Landings], None] = nothing
    lands: bool = True
    """False: from that moment on nothing of it may land, verified or not."""

    def world(self, spoils: Callable[[Landings], None]) -> Landings:
        made = self.make()
        made.due, made.meanwhile, made.spoils = self.due, self.meanwhile, spoils
        return made


def told(
    world: Landings, left: list[Step], look: Callable[[Landings, list[Step]], None] | None = None
) -> Landings:
    """To its end; each step once, in turn. Some are what people do about an end."""
    while True:
        for _ in world.moments():
            if look is not None:
                look(world, left)
            if left and left[0](world):
                del left[0]
        if not left or not left[0](world):
            return world
        del left[0]
