"""The Tasks into which a Task is split, as the API server takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bernstein.api.meta import API_VERSION, PLAN_KIND, TASK_KIND
from bernstein.api.plan import Plan
from bernstein.api.plans.parts import Part
from bernstein.api.task import Task, TaskSpec
from bernstein.core import labels
from bernstein.core.names import label_value
from bernstein.core.owners import owner_reference
from bernstein.core.plans.subtasks.rules import own_files


def objects_of(task: Task, plan: Plan, parts: Mapping[str, Part]) -> tuple[dict[str, Any], ...]:
    """The subtasks by their names; the same always gives the same objects."""
    return tuple(_object(task, plan, name, part) for name, part in parts.items())


def _object(task: Task, plan: Plan, name: str, part: Part) -> dict[str, Any]:
    meta = plan.metadata
    return {
        "apiVersion": API_VERSION,
        "kind": TASK_KIND,
        "metadata": {
            "name": name,
            "namespace": meta.namespace,
            "labels": {
                labels.MANAGED_BY: labels.MANAGER,
                labels.PLAN: label_value(meta.name),
                labels.SUBTASK_OF: task.metadata.name,
            },
            "ownerReferences": [owner_reference(PLAN_KIND, meta.name, meta.uid)],
        },
        "spec": _spec(task.spec, part),
    }


def _spec(parent: TaskSpec, part: Part) -> dict[str, Any]:
    """What the subtask does not say is what the Task says that is split: who does it and how,
    where, what it must keep to; and, where it has none of its own, its files and signals. It comes
    before nothing that the Task does not come before."""
    work = part.model_dump()
    work["files"] = own_files(part.files, parent.files) if part.files else parent.files
    work["completion_signals"] = part.completion_signals or parent.completion_signals
    work["priority"] = max(part.priority or parent.priority, parent.priority)
    spec = TaskSpec(
        **work,
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
