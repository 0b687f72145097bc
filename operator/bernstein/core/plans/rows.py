"""The rows of a Plan's status: the map from its steps to their Tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat

from bernstein.api.plan import Plan, PlanSpec, Step
from bernstein.api.plans.rows import PlanTask
from bernstein.api.task import Task
from bernstein.core.names import task_names


def steps(spec: PlanSpec) -> Iterator[tuple[str, int, Step]]:
    """(name of the stage, index in it, step) of all of them, in order."""
    for stage in spec.stages:
        for index, step in enumerate(stage.steps):
            yield stage.name, index, step


def names_by_stage(plan: Plan, tasks: Iterable[Task] = ()) -> dict[str, tuple[str, ...]]:
    """The names of the Tasks of every stage, in the order of its steps."""
    names = iter(names_of_steps(plan, tasks))
    return {stage.name: tuple(next(names) for _ in stage.steps) for stage in plan.spec.stages}


def names_of_steps(plan: Plan, tasks: Iterable[Task] = ()) -> tuple[str, ...]:
    """The name of the Task of each step, in order: the rows say it, once they are there.

    Until then a step whose Task is among `tasks` has that one's name: older releases named them
    otherwise.
    """
    if plan.status.is_mapped:
        return tuple(row.name for row in plan.status.tasks if row.step is not None)
    known = {(task.spec.stage, task.spec.title): task.metadata.name for task in tasks}
    headings = [(stage, step.heading) for stage, _, step in steps(plan.spec)]
    made = task_names(plan.metadata.name, plan.metadata.uid, headings)
    return tuple(known.get(step, name) for step, name in zip(headings, made, strict=True))


def placed(plan: Plan, rows: tuple[PlanTask, ...], tasks: Iterable[Task]) -> tuple[PlanTask, ...]:
    """The rows in place, where an older release had one for each step."""
    if not plan.status.expanded or plan.status.is_mapped:
        return rows
    names = names_of_steps(plan, tasks)
    return in_place(plan.spec, rows, names) if {r.name for r in rows}.issuperset(names) else rows


def in_place(
    spec: PlanSpec,
    rows: Iterable[PlanTask],
    names: Iterable[str],
    where: Iterable[str | None] | None = None,
) -> tuple[PlanTask, ...]:
    """One row for each step, in order; `names` are those of their Tasks, and `where` they work: see
    Expansion.

    There is one for each from the start: a Task that is deleted unseen must be missed, too. What an
    older release counted besides stays behind them, so that its cost does.
    """
    known = {row.name: row for row in rows}
    each = zip(steps(spec), names, where or repeat(None), strict=where is not None)
    mapped = tuple(
        known.pop(name, PlanTask(name=name, stage=stage)).model_copy(
            update={"stage": stage, "step": index, "repository": repository}
        )
        for (stage, index, _), name, repository in each
    )
    return (*mapped, *known.values())
