"""The Tasks into which a Task is split, as the API server takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bernstein.api.meta import API_VERSION, PLAN_KIND, TASK_KIND
from bernstein.api.plan import Plan, Step
from bernstein.api.task import Task, TaskSpec
from bernstein.core import labels, names
from bernstein.core.owners import owner_reference
from bernstein.core.plans.subtasks.written import own_files

_NOT_OF_IT = {"title", "goal", "cli", "model", "effort", "mode", "repo", "depends_on_repo"}
"""Fields of a step that are not the subtask's to say, or have another name."""


def names_of(task: Task, split: int, count: int) -> tuple[str, ...]:
    """The names of so many subtasks of a Task that is split for the so many'th time."""
    meta = task.metadata
    return tuple(
        names.subtask(meta.name, meta.uid, split, number) for number in range(1, count + 1)
    )


def objects_of(task: Task, plan: Plan, steps: Mapping[str, Step]) -> tuple[dict[str, Any], ...]:
    """The subtasks by their names; the same always gives the same objects."""
    return tuple(_object(task, plan, name, step) for name, step in steps.items())


def _object(task: Task, plan: Plan, name: str, step: Step) -> dict[str, Any]:
    meta = plan.metadata
    return {
        "apiVersion": API_VERSION,
        "kind": TASK_KIND,
        "metadata": {
            "name": name,
            "namespace": meta.namespace,
            "labels": {
                labels.MANAGED_BY: labels.MANAGER,
                labels.PLAN: names.label_value(meta.name),
                labels.SUBTASK_OF: task.metadata.name,
            },
            "ownerReferences": [owner_reference(PLAN_KIND, meta.name, meta.uid)],
        },
        "spec": _spec(task.spec, step),
    }


def _spec(parent: TaskSpec, step: Step) -> dict[str, Any]:
    """What the subtask does not say is what the Task says that is split: who does it and how,
    where, what it must keep to; and, where it has none of its own, its files and signals. It comes
    before nothing that the Task does not come before."""
    work = step.model_dump(exclude=_NOT_OF_IT)
    work["files"] = own_files(step.files, parent.files) if step.files else parent.files
    work["completion_signals"] = step.completion_signals or parent.completion_signals
    said = step.priority if "priority" in step.model_fields_set else parent.priority
    work["priority"] = max(said, parent.priority)
    spec = TaskSpec(
        **work,
        title=step.heading,
        goal=parent.goal,
        cli=parent.cli,
        model=parent.model,
        effort=parent.effort,
        mode=parent.mode,
        project_ref=parent.project_ref,
        repo=parent.repo,
        constraints=parent.constraints,
        context_files=parent.context_files,
        max_retries=parent.max_retries,
    )
    return {key: value for key, value in spec.dump().items() if value != []}
