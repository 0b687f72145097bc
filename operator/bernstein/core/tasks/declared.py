"""Tasks as people declare them, by options or in a file, and the objects out of them.

A task file has the fields of a plan's step, and besides `id`, by which others name it in their
`depends_on`. An object's name says what was asked for: who asks again for the same gets the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from bernstein.api.meta import API_VERSION, TASK_KIND
from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.api.task import MOST_EDGES, Task, TaskSpec
from bernstein.core import labels, names
from bernstein.core.graph import cycles
from bernstein.core.plans.field_errors import FieldError, FieldErrors, Findings
from bernstein.core.plans.fields import plan_spec
from bernstein.core.plans.validation import validate_file, validate_plan

_OF_PLAN = ("constraints", "context_files")
"""Fields that a plan has for all of its steps, and a Task for itself."""
_OWN = ("id", "depends_on", "max_retries", "repo")
"""Fields that no step has."""
_STEP = "stages[0].steps[0]"
_REPO = "repos[0].path"
_NOT_OF_A_STEP = (
    *("goal", "projectRef", "repo", "stage", "stageDescription", "dependsOn", "dependsOnStages"),
    "dependsOnRepo",
    *("constraints", "contextFiles", "maxRetries", "produces", "author", "cancel", "requests"),
)
NO_WORK = frozenset({"author", "cancel", "requests"})
"""Fields of a spec that change nothing about what is asked for."""


@dataclass(frozen=True)
class Declared:
    """One Task that has no name yet."""

    spec: Mapping[str, Any]
    """camelCase, as the API server takes it, without `dependsOn`."""
    id: str | None = None
    """By which others name it."""
    depends_on: tuple[str, ...] = ()
    """Ids or names."""

    @property
    def title(self) -> str:
        return str(self.spec["title"])


# --- what is wrong with it ------------------------------------------------------------------------


def problems(data: object) -> FieldErrors:
    """Everything that is wrong with what a task file contains; nothing here raises. A role that is
    not built in is only a warning: a cluster knows whether it is there."""
    if not isinstance(data, dict):
        return FieldErrors(errors=(FieldError("", "a task must be a mapping"),))
    findings = Findings()
    _own(findings, data)
    if not (data.get("title") or data.get("goal")):
        findings.error("title", "missing required field 'title'")
    known = [error.path for error in findings.errors]
    found = validate_file(_plan(data))
    rest = (error for error in map(_of_task, found.errors) if error.path not in known)
    roles = tuple(_of_task(warning) for warning in found.warnings if _is_role(warning))
    return FieldErrors(errors=(*findings.errors, *rest), warnings=roles)


def _own(findings: Findings, data: Mapping[Any, Any]) -> None:
    if data.get("id") is not None:
        findings.line("id", data["id"])
    if data.get("depends_on") is not None:
        findings.items("depends_on", data["depends_on"], findings.line)
        if isinstance(data["depends_on"], list) and len(data["depends_on"]) > MOST_EDGES:
            findings.error_at("depends_on", f"must have at most {MOST_EDGES} items")
    if data.get("max_retries") is not None:
        findings.integer("max_retries", data["max_retries"], 0, 20)
    if data.get("subtasks") is not None:
        text = "only a step of a plan is split: what it is split into gathers there"
        findings.error_at("subtasks", text)


def _of_task(error: FieldError) -> FieldError:
    """What is wrong with a plan of this one step, as it is told of the Task."""
    return FieldError(_placed(error.path), _placed(error.message))


def _is_role(warning: FieldError) -> bool:
    return warning.path == f"{_STEP}.role"


def validate_task(
    spec: Mapping[str, Any], project: ProjectSpec | None, roles: Collection[str], at: str = ""
) -> Iterator[FieldError]:
    """Judges the spec of a Task, whose fields are right by themselves, as that of a plan's step.

    `project` is None while it is not known. `at`: what paths begin with, such as "spec".
    """
    step = {key: value for key, value in spec.items() if key not in _NOT_OF_A_STEP}
    alone: dict[str, Any] = {"name": "task", "stages": [{"name": "task", "steps": [step]}]}
    if "repo" in spec:
        alone["repos"] = [{"path": spec["repo"]}]
    for each in validate_plan(PlanSpec.model_validate(alone), project, roles):
        yield FieldError(_placed(each.path, at), _placed(each.message, at))


def _placed(words: str, at: str = "") -> str:
    """A place of the plan, or words that name one, as a place of the Task."""
    words = words.replace(_REPO, f"{at}.repo" if at else "repo")
    if at:
        return words.replace(_STEP, at)
    return words.replace(f"{_STEP}.", "").replace(f"{_STEP}: ", "").replace(_STEP, "task")


def _plan(data: Mapping[Any, Any]) -> dict[str, Any]:
    """The plan file of which this is the only step."""
    step = {key: value for key, value in data.items() if key not in (*_OF_PLAN, *_OWN)}
    of_plan = {key: data[key] for key in _OF_PLAN if data.get(key) is not None}
    if data.get("repo") is not None:
        of_plan["repos"] = [{"path": data["repo"]}]
    return {"name": "task", **of_plan, "stages": [{"name": "task", "steps": [step]}]}


# --- objects --------------------------------------------------------------------------------------


def declared(data: Mapping[Any, Any]) -> Declared:
    """What valid data says."""
    plan = plan_spec(_plan(data))
    spec = plan["stages"][0]["steps"][0]
    for name in ("constraints", "contextFiles"):
        if plan.get(name):
            spec[name] = plan[name]
    if data.get("repo") is not None:
        spec["repo"] = data["repo"]
    if data.get("max_retries") is not None:
        spec["maxRetries"] = data["max_retries"]
    spec = {key: value for key, value in spec.items() if value is not None}
    upstream = tuple(name.strip() for name in data.get("depends_on") or ())
    identifier = data.get("id")
    return Declared(spec, identifier.strip() if identifier else None, upstream)


@dataclass(frozen=True)
class Named:
    """A Task with its name."""

    name: str
    of: Declared
    upstream: tuple[str, ...]
    """Names of the Tasks that it depends on."""


class Clash(ValueError):  # noqa: N818 - it says what is so
    """Tasks that cannot be made together; the message says which, and why."""


def named(
    tasks: Sequence[Declared],
    known: Mapping[str, str],
    *,
    project: str | None = None,
    name: str | None = None,
    key: str | None = None,
) -> tuple[Named, ...]:
    """The Tasks with their names, each after those that it depends on.

    `known`: names of Tasks that are there, by name and by label of their id. `name`: that of the
    only Task. `key`: another one makes other Tasks of the same content. Raises Clash.
    """
    own = [name or _name(task, project, key) for task in tasks]
    for twice, count in Counter(own).items():
        if count > 1:
            both = [t.id or t.title for n, t in zip(own, tasks, strict=True) if n == twice]
            raise Clash(f"'{both[0]}' and '{both[1]}' would both be Task '{twice}'")
    by_id = {_label(t.id): n for n, t in zip(own, tasks, strict=True) if t.id is not None}
    names = {**known, **{n: n for n in own}, **by_id}
    made = {
        n: Named(n, task, tuple(dict.fromkeys(_upstream(d, names) for d in task.depends_on)))
        for n, task in zip(own, tasks, strict=True)
    }
    graph = {n: tuple(d for d in each.upstream if d in made) for n, each in made.items()}
    for cycle in cycles(graph):
        raise Clash(f"Cycle detected: {' -> '.join(cycle)}")
    return tuple(made[n] for n in TopologicalSorter(graph).static_order())


def _name(task: Declared, project: str | None, key: str | None) -> str:
    """The object's name: that of its id, else its title's with a hash of what is asked for."""
    if task.id is not None:
        return names.task_name(task.id)
    # Without defaults: a field that a later release has changes no name.
    spec = TaskSpec.model_validate(task.spec).model_dump(mode="json", exclude_defaults=True)
    asked = [spec, sorted(task.depends_on)]
    content = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return names.keyed_task_name(task.title, project or "", key if key is not None else content)


def _label(identifier: str) -> str:
    return names.label_value(identifier)


def _upstream(wanted: str, known: Mapping[str, str]) -> str:
    """The name of the Task that this one waits for."""
    return known.get(wanted) or known.get(_label(wanted)) or names.task_name(wanted)


def by_label(tasks: Collection[Task]) -> dict[str, str]:
    """Names of the Tasks that are there, by their name and by the label of their id."""
    by_id = {
        task.metadata.labels[labels.SEED_ID]: task.metadata.name
        for task in tasks
        if labels.SEED_ID in task.metadata.labels
    }
    return {**by_id, **{task.metadata.name: task.metadata.name for task in tasks}}


def manifest(task: Named, *, namespace: str | None, project: str | None) -> dict[str, Any]:
    """The object, as the API server takes it."""
    spec = dict(task.of.spec)
    if task.upstream:
        spec["dependsOn"] = list(task.upstream)
    if project is not None:
        spec["projectRef"] = project
    metadata: dict[str, Any] = {"name": task.name}
    if namespace:
        metadata["namespace"] = namespace
    if task.of.id is not None:
        metadata["labels"] = {labels.SEED_ID: _label(task.of.id)}
    return {"apiVersion": API_VERSION, "kind": TASK_KIND, "metadata": metadata, "spec": spec}


def differing(live: TaskSpec, declared: Mapping[str, Any]) -> list[str]:
    """Fields, as a task file names them, in which a Task asks for other work."""
    other = TaskSpec.model_validate(declared)
    return [
        field
        for field in TaskSpec.model_fields
        if field not in NO_WORK and getattr(live, field) != getattr(other, field)
    ]
