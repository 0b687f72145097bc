"""The Tasks of a workflow's nodes: one for each run, made when it is its turn.

A run has its row in the Plan's status before its Task is made. So whatever crashes in between, the
same Task is made under the same name, or is found to be made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bernstein.api.meta import API_VERSION, TASK_KIND
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.plans.workflow import Node, NodeStatus
from bernstein.api.project import ProjectSpec
from bernstein.api.task import TaskSpec
from bernstein.core import names
from bernstein.core.plans.expansion import is_made, metadata
from bernstein.core.plans.places import named
from bernstein.core.plans.workflows import definition
from bernstein.core.projects import repositories
from bernstein.core.snapshot import PlanSnapshot

_NOT_OF_A_TASK = {"name", "phase", "title", "cli", "repo", "depends_on", "join", "retry"}


def with_rows(snapshot: PlanSnapshot, status: PlanStatus) -> PlanStatus:
    """The status in which each run that has begun has the name of its Task, and a row."""
    course = status.workflow
    assert course is not None
    taken = {row.name for row in status.tasks}
    nodes: list[NodeStatus] = []
    rows: list[PlanTask] = []
    for node in course.nodes:
        if node.state != "Running" or node.task is not None:
            nodes.append(node)
            continue
        row = _row(snapshot, status, node, taken)
        taken.add(row.name)
        rows.append(row)
        nodes.append(node.model_copy(update={"task": row.name}))
    if not rows:
        return status
    before = status.tasks[: len(status.tasks) - len(status.extra)]
    update = {
        "workflow": course.model_copy(update={"nodes": tuple(nodes)}),
        "tasks": (*before, *rows, *status.extra),
    }
    return status.model_copy(update=update)


def _row(snapshot: PlanSnapshot, status: PlanStatus, node: NodeStatus, taken: set[str]) -> PlanTask:
    plan, project = snapshot.plan, snapshot.project
    assert project is not None
    said = _definition(plan).nodes[node.name]
    where = _repository(plan, said, project.spec) if status.repositories else None
    name = names.task_of_node(plan.metadata.name, plan.metadata.uid, node.name, node.run, taken)
    return PlanTask(name=name, stage=said.phase, node=node.name, run=node.run, repository=where)


def current(status: PlanStatus) -> Iterator[tuple[NodeStatus, PlanTask]]:
    """The nodes that have run, each with the row of its last run."""
    rows = {row.name: row for row in status.tasks}
    for node in status.workflow.nodes if status.workflow is not None else ():
        row = rows.get(node.task or "")
        if row is not None:
            yield node, row


def missing(snapshot: PlanSnapshot, status: PlanStatus) -> tuple[dict[str, Any], ...]:
    """The objects of runs that have begun and whose Tasks nobody has seen yet.

    What is there under such a name, and says something else, is asked for, too: the name is taken.
    """
    seen = {row.name for row in snapshot.plan.status.tasks if row.uid is not None}
    running = (row for node, row in current(status) if node.state == "Running")
    unseen = (task_of(snapshot, row) for row in running if row.name not in seen)
    return tuple(obj for obj in unseen if not is_made(obj, snapshot.tasks, snapshot.plan))


def task_of(snapshot: PlanSnapshot, row: PlanTask) -> dict[str, Any]:
    """The object of the Task of this run; the same row always gives the same one."""
    plan, project = snapshot.plan, snapshot.project
    assert project is not None
    node = _definition(plan).nodes[row.node or ""]
    spec = TaskSpec(
        **node.model_dump(exclude=_NOT_OF_A_TASK),
        title=node.heading,
        goal=plan.spec.name,
        cli=node.cli or plan.spec.cli,
        project_ref=project.metadata.name,
        repo=_repository(plan, node, project.spec),
        stage=node.phase,
        constraints=plan.spec.constraints,
        context_files=plan.spec.context_files,
        max_retries=0,
    )
    return {
        "apiVersion": API_VERSION,
        "kind": TASK_KIND,
        "metadata": metadata(plan, row.name, node.phase),
        "spec": {key: value for key, value in spec.dump().items() if value != []},
    }


def _repository(plan: Plan, node: Node, project: ProjectSpec) -> str | None:
    """By its name in the Project; one that the Project has no more as the Plan calls it, so that
    the Task says that there is none."""
    found = named.route(plan.spec, node.repo, project).repository
    if found is not None or not plan.spec.repos:
        return found
    its = repositories.entry(plan.spec, node.repo)
    return its.path if its is not None else None


def _definition(plan: Plan) -> definition.Definition:
    assert plan.spec.workflow is not None
    return definition.of(plan.spec.workflow)
