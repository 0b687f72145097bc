"""What can be wrong with the fields of a plan, whether its work is stages or a workflow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from bernstein.api.integration import MOST_PLAN_REPOSITORIES
from bernstein.api.meta import MOST_AGENTS
from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.api.vocabulary import FILE_SCOPES
from bernstein.core.plans import policy_fields
from bernstein.core.plans.field_errors import (
    Table,
    did_you_mean,
    field_name,
    path_of,
    quoted,
)
from bernstein.core.plans.fields import is_workflow, plan_spec
from bernstein.core.plans.limits import too_long
from bernstein.core.plans.places import routes
from bernstein.core.plans.schema_errors import field_error
from bernstein.core.plans.size import too_large
from bernstein.core.plans.validation.assignments import Assignments
from bernstein.core.plans.validation.nodes import Nodes, in_file
from bernstein.core.plans.validation.stages import Stages


class Whole:
    """Goes through a plan from top to bottom and collects every problem on the way."""

    def __init__(
        self, *, roles: Collection[str], project: ProjectSpec | None, in_cluster: bool
    ) -> None:
        self.work = Assignments(roles=roles, project=project, in_cluster=in_cluster)
        self.findings = self.work.findings
        self.stages = Stages(self.work)
        self.nodes = Nodes(self.work)
        self._project = project
        self.table = self._table()
        self._approval_fields = policy_fields.table(self.findings)

    def _table(self) -> Table:
        """The fields at the top, but for the work itself."""
        findings = self.findings
        return {
            "name": findings.line,
            "description": findings.text,
            "cli": self.work.agent,
            "budget": findings.sum_of_money,
            "max_agents": self._max_agents,
            "constraints": lambda path, value: findings.items(path, value, findings.text),
            "context_files": self.work.paths,
            "repos": self._repos,
            "approval": self._approval,
            "file_scope": lambda path, value: findings.choice(path, value, FILE_SCOPES),
            "protect_tests": findings.boolean,
            "merge": partial(policy_fields.merge, findings),
        }

    def plan(self, data: Mapping[Any, Any]) -> Iterator[None]:
        """Every check of the plan's own rules, in pieces: stages, or nodes."""
        work = ("phases", "nodes") if is_workflow(data) else ("stages",)
        for name in ("name", *work):
            if name not in data:
                self.findings.error(name, f"Missing required top-level field '{name}'")
        table = dict(self.table)
        if is_workflow(data):
            table |= {"version": self.nodes.version, "phases": self.nodes.phases}
        pieces = {"stages": self.stages.each, "nodes": self.nodes.each}
        for key, value in data.items():
            if key in work and key in pieces:
                yield from pieces[key](key, value)
            elif isinstance(key, str) and key in table:
                table[key](key, value)
            else:
                hint = did_you_mean(key, (*table, *work))
                self.findings.error(field_name(key), f"Unknown top-level field {quoted(key)}{hint}")
        (self.nodes if is_workflow(data) else self.stages).together(data)
        routes.judge(self.findings, data, self._project)

    def remaining(self, data: Mapping[Any, Any]) -> None:
        """What else the object's own schema refuses, mostly lengths."""
        spec = plan_spec(data)
        known = tuple(problem.path for problem in self.findings.errors)
        for path, message in too_long(spec):
            if (place := in_file(path, data)) not in known:
                self.findings.error_at(place, message)
        try:
            self.size(PlanSpec.model_validate(spec))
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                path = path_of(to_snake(p) if isinstance(p, str) else p for p in detail["loc"])
                place = in_file(path, data)
                if detail["type"] not in _REPORTED and not _covered(place, known):
                    self.findings.errors.append(field_error(place, detail))

    def size(self, spec: PlanSpec) -> None:
        """Whether a cluster can hold all of it."""
        for path, message in too_large(spec):
            self.findings.error_at(path, message)

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
            self.findings.fields(path, value, self._approval_fields)
            policy_fields.go_together(self.findings, path, value)

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
        self.findings.fields(path, value, {"path": line, "branch": line, "name": line})
        policy_fields.repository(self.findings, self._project, path, value)


_REPORTED = ("too_long", "string_too_long", "too_short")
"""Kinds of schema errors that were reported before, in better words.

A list is "too short" for pydantic also where its only items are wrong ones."""


def _covered(path: str, known: Iterable[str]) -> bool:
    return any(path == k or path.startswith((f"{k}.", f"{k}[")) for k in known)
