"""A Plan of which a Task was split, and a part of that once more."""

from __future__ import annotations

from typing import Any

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.resources import PLANS, TASKS
from tests.unit.cli import scenes
from tests.unit.cli.scenes import HOSTILE
from tests.unit.kube.apiserver import ApiServer

WHOLE = 2
"""The place of the step whose Task was split."""


def part(name: str, title: str, state: str, **spec: Any) -> Task:
    """A Task of the Plan that is of no step."""
    task = scenes.task(WHOLE, state=state)
    told = task.spec.model_copy(update={"title": title, "role": "qa", **spec})
    named = task.metadata.model_copy(update={"name": name, "uid": f"uid-{name}"})
    return task.model_copy(update={"metadata": named, "spec": told})


def plan(**status: Any) -> Plan:
    """With a row for each step, and one for each part; two of these have a Task no more."""
    names = [scenes.name(index) for index in range(7)]
    places = [(s.name, at) for s in scenes.plan().spec.stages for at, _ in enumerate(s.steps)]
    rows = [
        {"name": name, "stage": stage, "step": at, "uid": f"uid-{name}"}
        for name, (stage, at) in zip(names, places, strict=True)
    ]
    parts = [
        {"name": "part-a", "parent": names[WHOLE], "state": "WaitingForSubtasks"},
        {"name": "part-b", "parent": names[WHOLE], "state": "Cancelled"},
        {"name": "part-a-1", "parent": "part-a", "state": "InProgress"},
        {"name": "part-a-2", "parent": "part-a", "state": "Closed"},
    ]
    return scenes.plan(tasks=[*rows, *({"stage": "-"} | each for each in parts)], **status)


def tasks() -> list[Task]:
    """Those of the steps, and of the parts that have one."""
    steps = scenes.running_tasks()
    steps[WHOLE] = scenes.task(WHOLE, state="WaitingForSubtasks", attempt=1)
    return [
        *steps,
        part("part-a", f"First part {HOSTILE}", "WaitingForSubtasks", estimated_minutes=45),
        part("part-a-1", "First of the first", "InProgress"),
    ]


def put(api: ApiServer) -> str:
    """All of it is there, in the namespace `team`: the name of the Plan."""
    of = plan(project="default")
    api.put(PLANS, of.metadata.name, "team", **of.dump())
    for task in tasks():
        api.put(TASKS, task.metadata.name, "team", **task.dump())
    return of.metadata.name
