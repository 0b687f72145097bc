"""Tasks brought into the cluster: made, or found to be there already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bernstein.api.task import Task
from bernstein.api.task import parse as parse_task
from bernstein.cli.cluster import Cluster
from bernstein.cli.errors import CliError
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.requests import author_name
from bernstein.core.tasks.declared import Named, differing, manifest
from bernstein.kube.errors import AlreadyExists
from bernstein.resources import TASKS


@dataclass(frozen=True)
class Added:
    task: Task
    made: bool
    """False: it was there, and asks for the same."""


async def add(
    terminal: Terminal,
    cluster: Cluster,
    tasks: Sequence[Named],
    there: Mapping[str, Task],
    project: str | None,
) -> list[Added]:
    """Every Task as it is in the cluster then, in this order. `there`: those of the namespace.

    Raises CliError before anything is made where one cannot be. Once more it goes on where it was
    cut off. Whoever adds one is its author; one that is there stays that of whoever has made it.
    """
    objects = {t.name: manifest(t, namespace=cluster.namespace, project=project) for t in tasks}
    for task in tasks:
        if task.name in there:
            _check_same(there[task.name], objects[task.name]["spec"])
        else:
            await _check_upstream(cluster, task, {*there, *objects})
    missing = any(task.name not in there for task in tasks)
    author = await author_name(terminal, cluster) if missing else {}
    added = []
    for task in tasks:
        if task.name in there:
            added.append(Added(there[task.name], made=False))
        else:
            obj = objects[task.name]
            added.append(await _made(cluster, {**obj, "spec": {**obj["spec"], **author}}))
    return added


async def _made(cluster: Cluster, obj: dict[str, Any]) -> Added:
    try:
        return Added(parse_task(await cluster.client.create(TASKS, obj)), made=True)
    except AlreadyExists:
        task = await cluster.find_task(obj["metadata"]["name"])
        if task is None:
            raise
    _check_same(task, obj["spec"])
    return Added(task, made=False)


def _check_same(task: Task, wanted: Mapping[str, Any]) -> None:
    name = task.metadata.name
    if task.metadata.deletion_timestamp is not None:
        raise CliError("BeingDeleted", f"Task '{name}' is being deleted", "try again in a moment")
    fields = differing(task.spec, wanted)
    if fields:
        raise CliError(
            "TaskExists",
            f"there is a Task '{name}' with other content ({', '.join(fields)})",
            "nothing was changed: give other work another id, --name or --idempotency-key",
        )


async def _check_upstream(cluster: Cluster, task: Named, known: set[str]) -> None:
    """One that waits for a Task that is not there would never begin."""
    for name in task.upstream:
        if name not in known:
            missing = await cluster.not_found(name, TASKS)
            raise CliError(missing.reason, f"depends_on: {missing.message}", missing.remedy)
