"""From a Plan to the objects of its Tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import TopologicalSorter
from typing import Any

from bernstein.api.meta import API_VERSION, PLAN_KIND, TASK_KIND
from bernstein.api.plan import Plan, PlanSpec, Stage, Step
from bernstein.api.project import ProjectSpec
from bernstein.api.task import Task, TaskSpec
from bernstein.core import labels
from bernstein.core.graph import dependencies
from bernstein.core.names import label_value, slug
from bernstein.core.owners import owner_reference
from bernstein.core.plans.places import named
from bernstein.core.plans.rows import names_by_stage
from bernstein.core.snapshot import Expansion, PlanSnapshot


def expand(
    plan: Plan, project_name: str, tasks: Iterable[Task] = (), spec: ProjectSpec | None = None
) -> list[dict[str, Any]]:
    """One Task object for each step, in the plan's order. The Plan must be valid.

    Deterministic: expanding the same Plan again gives the same objects. `tasks`: the Tasks that the
    Plan has already. `spec`: the Project's; None: it has one repository.
    """
    return [obj for stage in _stages(plan, project_name, tasks, spec) for obj in stage]


def expansion(snapshot: PlanSnapshot) -> Expansion:
    """The Tasks of a valid Plan, of which some may be there."""
    *_, whole = expanding(snapshot)
    assert whole is not None
    return whole


def expanding(snapshot: PlanSnapshot) -> Iterator[Expansion | None]:
    """The same in pieces, which are stages; None: there are more."""
    plan, project = snapshot.plan, snapshot.project
    assert project is not None
    names: list[str] = []
    where: list[str | None] = []
    several = len(named.used(plan.spec, project.spec)) > 1
    missing: list[dict[str, Any]] = []
    for stage in _stages(plan, project.metadata.name, snapshot.tasks.values(), project.spec):
        names += [obj["metadata"]["name"] for obj in stage]
        where += [obj["spec"].get("repo") if several else None for obj in stage]
        missing += [obj for obj in stage if not is_made(obj, snapshot.tasks, plan)]
        yield None
    yield Expansion(tuple(names), tuple(where), upstream_first(missing))


def _stages(
    plan: Plan, project_name: str, tasks: Iterable[Task], project: ProjectSpec | None
) -> Iterator[list[dict[str, Any]]]:
    """The objects of one stage after another."""
    names = names_by_stage(plan, tasks)
    graph = stage_graph(plan.spec)
    for stage in plan.spec.stages:
        made: list[dict[str, Any]] = []
        for name, step in zip(names[stage.name], stage.steps, strict=True):
            said, after = step.repo or stage.repo, step.depends_on_repo
            routed = named.route(plan.spec, said, project, after=after)
            spec = _spec(plan.spec, stage, step, graph[stage.name], project_name, routed)
            made.append(
                {
                    "apiVersion": API_VERSION,
                    "kind": TASK_KIND,
                    "metadata": metadata(plan, name, stage.name),
                    "spec": spec,
                }
            )
        yield made


def stage_graph(spec: PlanSpec) -> dict[str, tuple[str, ...]]:
    """For each stage the stages that come first."""
    return dependencies([(stage.name, stage.depends_on) for stage in spec.stages])


def metadata(plan: Plan, name: str, stage: str) -> dict[str, Any]:
    """That of a Task of this name, and of this stage or phase."""
    return {
        "name": name,
        "namespace": plan.metadata.namespace,
        # Nothing that tracks by app.kubernetes.io/instance may believe that it owns this object.
        "labels": {
            labels.MANAGED_BY: labels.MANAGER,
            labels.PLAN: label_value(plan.metadata.name),
            labels.STAGE: label_value(slug(stage) or stage),
        },
        "ownerReferences": [owner_reference(PLAN_KIND, plan.metadata.name, plan.metadata.uid)],
    }


def _spec(
    plan: PlanSpec,
    stage: Stage,
    step: Step,
    upstream: tuple[str, ...],
    project_name: str,
    routed: named.Routed,
) -> dict[str, Any]:
    work = step.model_dump(exclude={"title", "goal", "cli", "repo", "depends_on_repo"})
    spec = TaskSpec(
        **work,
        title=step.heading,
        goal=plan.name,
        cli=step.cli or plan.cli,
        project_ref=project_name,
        repo=routed.repository,
        stage=stage.name,
        stage_description=stage.description,
        depends_on_stages=upstream,
        depends_on_repo=routed.after,
        constraints=plan.constraints,
        context_files=plan.context_files,
    )
    return {key: value for key, value in spec.dump().items() if value != []}


def is_made(manifest: Mapping[str, Any], tasks: Mapping[str, Task], plan: Plan) -> bool:
    """Whether there is a Task of that name that asks for the same, cancelled or not."""
    task = tasks.get(manifest["metadata"]["name"])
    if task is None:
        return False
    spec, asked = TaskSpec.model_validate(manifest["spec"]), task.spec
    if asked.depends_on:
        # An older release named the Tasks of these stages.
        names = names_by_stage(plan, tasks.values())
        upstream = tuple(name for stage in spec.depends_on_stages for name in names[stage])
        spec = spec.model_copy(update={"depends_on": upstream, "depends_on_stages": ()})
    return asked.model_copy(update={"cancel": None, "requests": ()}) == spec


def upstream_first(tasks: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Every Task after those that it depends on, so that it is never seen without them."""
    stages: dict[str, list[dict[str, Any]]] = {}
    for task in tasks:
        stages.setdefault(task["spec"]["stage"], []).append(task)
    graph = {name: of[0]["spec"].get("dependsOnStages", ()) for name, of in stages.items()}
    order = TopologicalSorter(graph).static_order()
    return tuple(task for name in order for task in stages.get(name, ()))
