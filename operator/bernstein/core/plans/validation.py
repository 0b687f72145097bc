"""Everything that can be wrong with a plan, in the words that the documentation promises.

The same checks judge a plan file before it becomes an object, and a Plan in the cluster, where its
Project is known as well. Nothing here raises, whatever the YAML contains.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from bernstein.api.integration import MOST_PLAN_REPOSITORIES
from bernstein.api.meta import MOST_AGENTS
from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.api.signals import LONGEST_ESTIMATE_MINUTES, LONGEST_TIMEOUT_SECONDS
from bernstein.api.vocabulary import COMPLEXITIES, EFFORTS, FILE_SCOPES, ROLES, SCOPES
from bernstein.checks import patterns, signals
from bernstein.checks.asks import Asks
from bernstein.checks.signal import SignalKind
from bernstein.core import graph
from bernstein.core.money import models
from bernstein.core.plans import policy_fields
from bernstein.core.plans.field_errors import (
    FieldError,
    FieldErrors,
    Findings,
    Table,
    did_you_mean,
    field_name,
    invalid_choice,
    no_agent,
    path_of,
    plain_words,
    quoted,
)
from bernstein.core.plans.fields import EFFORT_SYNONYMS, plan_spec, signal, stages_of, steps_of
from bernstein.core.plans.limits import too_long
from bernstein.core.plans.places import routes
from bernstein.core.plans.size import too_large

_AGENT = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_ROLE = re.compile(r"[a-z][-a-z0-9]{0,62}\Z")


def validate_file(data: object, project: ProjectSpec | None = None) -> FieldErrors:
    """Judges what a plan file contains. Without a cluster, where no `project` is known, an unknown
    role is only a warning."""
    if not isinstance(data, dict):
        return FieldErrors(errors=(FieldError("", "Plan file must be a YAML mapping"),))
    if other := _other_format(data):
        return FieldErrors(errors=(other,))
    walk = _Walk(roles=ROLES, project=project, in_cluster=project is not None)
    deque(walk.plan(data), maxlen=0)
    walk.remaining(data)
    return FieldErrors(tuple(walk.findings.errors), tuple(walk.findings.warnings))


def validate_plan(
    spec: PlanSpec, project: ProjectSpec | None, roles: Collection[str]
) -> tuple[FieldError, ...]:
    """Judges a Plan in the cluster; the paths are those of the file form.

    `roles` are the names of all roles there; `project` is None while it is not known.
    """
    *_, found = validating(spec, project, roles)
    return tuple(found)


def validating(
    spec: PlanSpec, project: ProjectSpec | None, roles: Collection[str]
) -> Iterator[list[FieldError]]:
    """The same in pieces: after each what was found until then."""
    walk = _Walk(roles=tuple(sorted(roles)), project=project, in_cluster=True)
    for _ in walk.plan(_file_form(spec)):
        yield walk.findings.errors
    walk.size(spec)
    yield walk.findings.errors
    for path, problem in models.unreviewed_steps(spec, project) if project else ():
        walk.findings.error_at(path, problem)
    if project is not None and policy_fields.without_forge(spec, project):
        walk.findings.error_at("merge", "pr: the Project's repository has no 'forge'")
    yield walk.findings.errors


def _file_form(spec: PlanSpec) -> dict[str, Any]:
    """The spec as a plan file has it: in snake case, without what a file cannot say."""
    ours = {"author", "project_ref", "suspend", "cancel", "requests"}
    data: dict[str, Any] = spec.model_dump(mode="json", exclude_none=True, exclude=ours)
    return data


def _other_format(data: Mapping[object, object]) -> FieldError | None:
    """What the file is, where it is no plan file but another one that people have."""
    if "apiVersion" in data and "kind" in data:
        message = "This is a Kubernetes object and no plan file: apply it with kubectl apply -f"
        return FieldError("", message)
    if "nodes" in data and "stages" not in data:
        return FieldError("nodes", "nodes: workflow files are not supported yet, write 'stages'")
    return None


class _Walk:
    """Goes through a plan from top to bottom and collects every problem on the way."""

    def __init__(
        self, *, roles: Collection[str], project: ProjectSpec | None, in_cluster: bool
    ) -> None:
        self.findings = Findings()
        self._patterns = patterns.Judge()
        self._roles = roles
        self._project = project
        self._in_cluster = in_cluster
        self._plan_fields = self._table_of_plan()
        self._stage_fields = self._table_of_stage()
        self._step_fields = self._table_of_step()
        self._signal_fields = self._table_of_signal()
        self._approval_fields = policy_fields.table(self.findings)

    def _table_of_plan(self) -> Table:
        findings = self.findings
        return {
            "name": findings.line,
            "description": findings.text,
            "cli": self._agent,
            "budget": findings.sum_of_money,
            "max_agents": self._max_agents,
            "constraints": lambda path, value: findings.items(path, value, findings.text),
            "context_files": self._paths,
            "repos": self._repos,
            "approval": self._approval,
            "file_scope": lambda path, value: findings.choice(path, value, FILE_SCOPES),
            "protect_tests": findings.boolean,
            "merge": partial(policy_fields.merge, findings),
            "workflow": self._unsupported,
            "stages": self._stages,
        }

    def _table_of_stage(self) -> Table:
        findings = self.findings
        return {
            "name": findings.line,
            "description": findings.text,
            "depends_on": lambda path, value: findings.items(path, value, findings.line),
            "repo": findings.line,
            "steps": self._steps,
        }

    def _table_of_step(self) -> Table:
        findings = self.findings
        return {
            "title": self._heading,
            "goal": self._heading,
            "description": findings.text,
            "role": self._role,
            "priority": lambda path, value: findings.rank(path, value, 1, 5),
            "scope": lambda path, value: findings.choice(path, value, SCOPES),
            "complexity": lambda path, value: findings.choice(path, value, COMPLEXITIES),
            "model": self._model,
            "effort": self._effort,
            "estimated_minutes": lambda path, value: findings.integer(
                path, value, 1, LONGEST_ESTIMATE_MINUTES
            ),
            "mode": lambda path, value: findings.choice(path, value, ("batch",)),
            "cli": self._agent,
            "repo": findings.line,
            "depends_on_repo": findings.line,
            "files": self._paths,
            "completion_signals": self._signals,
            "changes": lambda path, value: findings.choice(path, value, ("none",)),
        }

    def _table_of_signal(self) -> Table:
        findings = self.findings
        return {
            "path": findings.relative_path,
            "value": findings.relative_path,
            "url": findings.loopback_url,
            "status": lambda path, value: findings.integer(path, value, 100, 599),
            "contains": findings.text,
            "regex": findings.boolean,
            "command": findings.text,
            "timeout_seconds": lambda path, value: findings.integer(
                path, value, 1, LONGEST_TIMEOUT_SECONDS
            ),
            "criteria": findings.text,
        }

    def plan(self, data: Mapping[Any, Any]) -> Iterator[None]:
        """Every check of the plan's own rules, in pieces: stages."""
        for name in ("name", "stages"):
            if name not in data:
                self.findings.error(name, f"Missing required top-level field '{name}'")
        for key, value in data.items():
            if key == "stages":
                yield from self._stages(key, value)
            elif isinstance(key, str) and key in self._plan_fields:
                self._plan_fields[key](key, value)
            else:
                hint = did_you_mean(key, self._plan_fields)
                self.findings.error(field_name(key), f"Unknown top-level field {quoted(key)}{hint}")
        self._titles(data)
        self._graph(data)
        routes.judge(self.findings, data, self._project)

    def remaining(self, data: Mapping[Any, Any]) -> None:
        """What else the object's own schema refuses, mostly lengths."""
        spec = plan_spec(data)
        known = tuple(problem.path for problem in self.findings.errors)
        for path, message in too_long(spec):
            if path not in known:
                self.findings.error_at(path, message)
        try:
            self.size(PlanSpec.model_validate(spec))
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_input=False):
                path = path_of(to_snake(p) if isinstance(p, str) else p for p in detail["loc"])
                if detail["type"] not in _REPORTED and not _covered(path, known):
                    self.findings.error_at(path, plain_words(detail["type"], detail))

    def size(self, spec: PlanSpec) -> None:
        """Whether a cluster can hold all of it."""
        for path, message in too_large(spec):
            self.findings.error_at(path, message)

    def _fields(self, path: str, data: Mapping[Any, Any], table: Table, hint: str = "") -> None:
        for key, value in data.items():
            if isinstance(key, str) and key in table:
                table[key](f"{path}.{key}", value)
            else:
                why = hint if key == "depends_on" else did_you_mean(key, table)
                place = f"{path}.{field_name(key)}"
                self.findings.error(place, f"{path}: unknown field {quoted(key)}{why}")

    def _stages(self, path: str, value: object) -> Iterator[None]:
        if not isinstance(value, list):
            self.findings.error(path, f"'{path}' must be an array")
        elif not value:
            self.findings.error(path, f"'{path}' must contain at least one stage")
        else:
            for index, stage in enumerate(value):
                self._stage(f"{path}[{index}]", stage)
                yield

    def _stage(self, path: str, value: object) -> None:
        if not isinstance(value, dict):
            self.findings.error_at(path, "stage must be a mapping")
            return
        for name in ("name", "steps"):
            if name not in value:
                message = f"{path}: missing required field '{name}'"
                self.findings.error(f"{path}.{name}", message)
        self._fields(path, value, self._stage_fields)

    def _steps(self, path: str, value: object) -> None:
        self.findings.items(path, value, self._step)
        if value == []:
            self.findings.error_at(path, "must contain at least one step")

    def _step(self, path: str, value: object) -> None:
        if not isinstance(value, dict):
            self.findings.error_at(path, "step must be a mapping")
            return
        if not (value.get("title") or value.get("goal")):
            message = f"{path}: step must have a 'title' or 'goal' field"
            self.findings.error(f"{path}.title", message)
        elif value.get("title") and value.get("goal"):
            self.findings.warn_at(f"{path}.goal", "not used, because the step has a title")
        hint = ""
        if "depends_on" in value:
            hint = ", a step depends on what its stage depends on"
        self._fields(path, value, self._step_fields, hint)

    def _heading(self, path: str, value: object) -> None:
        # An empty one is reported with its step, as missing.
        if value not in ("", None):
            self.findings.line(path, value)

    def _role(self, path: str, value: object) -> None:
        if not self.findings.is_string(value, path) or value in self._roles:
            return
        message = invalid_choice(value, self._roles)
        if self._in_cluster or not _ROLE.match(value):
            self.findings.error_at(path, message)
        else:
            self.findings.warn_at(path, message)

    def _agent(self, path: str, value: object) -> None:
        if not self.findings.line(path, value) or not isinstance(value, str) or value == "auto":
            return
        if self._project is not None:
            if self._project.agent(value) is None:
                self.findings.error_at(path, no_agent(value, self._project))
        elif not _AGENT.match(value):
            self.findings.error_at(
                path, f"must be 'auto' or the name of an agent, got {quoted(value)}"
            )

    def _model(self, path: str, value: object) -> None:
        if not self.findings.line(path, value) or not isinstance(value, str):
            return
        if self._project is not None and not models.is_known(value, self._project):
            self.findings.error_at(path, invalid_choice(value, models.known(self._project)))

    def _max_agents(self, path: str, value: object) -> None:
        if not self.findings.integer(path, value, 1, MOST_AGENTS) or self._project is None:
            return
        limit = self._project.limits.max_agents
        if isinstance(value, int) and value > limit:
            self.findings.error_at(
                path, f"must be <= {limit}, the limit of the Project, got {value}"
            )

    def _approval(self, path: str, value: object) -> None:
        if self.findings.is_of_type(value, dict, path, "mapping"):
            self._fields(path, value, self._approval_fields)
            policy_fields.go_together(self.findings, path, value)

    def _effort(self, path: str, value: object) -> None:
        if not isinstance(value, str) or value not in EFFORT_SYNONYMS:
            self.findings.choice(path, value, EFFORTS)

    def _paths(self, path: str, value: object) -> None:
        self.findings.items(path, value, self.findings.relative_path)

    def _repos(self, path: str, value: object) -> None:
        self.findings.items(path, value, self._repo)
        if isinstance(value, list) and len(value) > MOST_PLAN_REPOSITORIES:
            self.findings.error_at(path, f"at most {MOST_PLAN_REPOSITORIES}, got {len(value)}")

    def _repo(self, path: str, value: object) -> None:
        if not isinstance(value, dict):
            self.findings.error_at(path, "repository must be a mapping")
            return
        if "path" not in value:
            self.findings.error(f"{path}.path", f"{path}: missing required field 'path'")
        line = self.findings.line
        self._fields(path, value, {"path": line, "branch": line, "name": line})
        policy_fields.repository(self.findings, self._project, path, value)

    def _unsupported(self, path: str, value: object) -> None:
        del value
        self.findings.error_at(path, "not supported yet, remove it; " + _INSTEAD[_last(path)])

    def _signals(self, path: str, value: object) -> None:
        self.findings.items(path, value, self._signal)

    def _signal(self, path: str, value: object) -> None:
        if not isinstance(value, dict):
            self.findings.error_at(path, "signal must be a mapping")
            return
        if "type" not in value:
            self.findings.error(f"{path}.type", f"{path}: missing required field 'type'")
            return
        kind, known = value["type"], signals.types()
        if kind in known:
            self._signal_of(signals.of(kind), path, signal(value))
        else:
            self.findings.choice(f"{path}.type", kind, known)

    def _signal_of(self, kind: SignalKind, path: str, value: Mapping[Any, Any]) -> None:
        for name in kind.needs:
            if value.get(name) in ("", None):
                self.findings.error(f"{path}.{name}", f"{path}: missing required field '{name}'")
        given = {key: item for key, item in value.items() if key != "type" and item is not None}
        for key, item in given.items():
            if isinstance(key, str) and key in self._signal_fields and key not in kind.fields:
                self.findings.error_at(f"{path}.{key}", f"{kind.type} takes no '{key}'")
            elif item != "":
                self._fields(path, {key: item}, self._signal_fields)
        if isinstance(kind.runs, Asks) and self._project is not None and not self._project.models:
            self.findings.error_at(f"{path}.type", f"{kind.type}: the Project has no 'models'")
        if value.get("regex") is True:
            self._regular_expression(f"{path}.contains", value.get("contains"))

    def _regular_expression(self, path: str, value: object) -> None:
        problem = self._patterns.problem(value) if isinstance(value, str) else None
        if problem is not None:
            self.findings.error_at(path, f"invalid regular expression: {problem}")

    def _titles(self, data: Mapping[Any, Any]) -> None:
        counts: Counter[str] = Counter()
        for path, step in steps_of(data):
            title = step.get("title") or step.get("goal")
            if not isinstance(title, str) or not title.strip():
                continue
            counts[title.strip()] += 1
            if counts[title.strip()] == 2:
                self.findings.error(path, f"Duplicate task title: {quoted(title.strip())}")

    def _graph(self, data: Mapping[Any, Any]) -> None:
        places: dict[str, str] = {}
        declared: list[tuple[str, list[str] | None]] = []
        for path, stage in stages_of(data):
            name = stage.get("name")
            if not isinstance(name, str) or not name.strip():
                continue
            if name.strip() in places:
                self.findings.error(f"{path}.name", f"Duplicate stage name: {quoted(name.strip())}")
                continue
            places[name.strip()] = path
            declared.append((name.strip(), _upstream(stage)))
        for name, upstream in declared:
            for other in dict.fromkeys(upstream or ()):
                if other not in places:
                    message = f"Stage {quoted(name)} depends on unknown stage {quoted(other)}"
                    self.findings.error(f"{places[name]}.depends_on", message)
        for cycle in graph.cycles(graph.dependencies(declared)):
            path = f"{places[cycle[0]]}.depends_on"
            self.findings.error(path, f"Cycle detected: {' -> '.join(cycle)}")


_INSTEAD = {
    "workflow": "write 'stages'",
}


_REPORTED = ("too_long", "string_too_long", "too_short")
"""Kinds of schema errors that were reported before, in better words.

A list is "too short" for pydantic also where its only items are wrong ones."""


def _last(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def _upstream(stage: Mapping[Any, Any]) -> list[str] | None:
    declared = stage.get("depends_on")
    if not isinstance(declared, list):
        return None
    return [name.strip() for name in declared if isinstance(name, str)]


def _covered(path: str, known: Iterable[str]) -> bool:
    return any(path == k or path.startswith((f"{k}.", f"{k}[")) for k in known)
