"""What a word on the command line names: a file with a plan, also a workflow by its name, or a Plan
of the cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Never

import typer

from bernstein.api.meta import PLAN_KIND
from bernstein.api.plan import Plan, PlanSpec
from bernstein.api.project import Project
from bernstein.cli import manifests, objects, plan_source
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.output import plan_files
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.plan_source import PlanFile
from bernstein.core import projects
from bernstein.core.outlines import outline as outlines
from bernstein.core.outlines.outline import Outline
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import FieldError, FieldErrors
from bernstein.core.plans.validation import validate_plan
from bernstein.core.sanitise import count
from bernstein.kube.errors import Forbidden
from bernstein.resources import PLANS

PlanOrFile = Annotated[
    str,
    typer.Argument(
        metavar="PLAN_OR_FILE",
        help="Name of a Plan, or plan/NAME; a file with a plan; or name of a workflow in "
        ".bernstein/workflows; - is standard input.",
    ),
]
"""An argument that `find` understands."""
_OF_CLUSTER = re.compile(r"plans?/([^/.]+)\Z")
_SUFFIXES = (".yaml", ".yml", ".json")


async def find(terminal: Terminal, word: str) -> Outline:
    """The plan that a word names; a cluster is asked only where it names no file, and no workflow
    as `validate` finds it.

    Raises CliError where there is none; ends the program with 2 where the plan is not valid, which
    is told.
    """
    named = _OF_CLUSTER.match(word)
    path = word if named else plan_source.located(word, terminal.settings.workdir)
    if path != word:
        # Its Plan has the name of the workflow, as a rule.
        terminal.complain(f"'{word}' is {path}; plan/{word} is a Plan of the cluster", "dim")
    if path != word or (named is None and _is_file(word)):
        return outlines.of_file(_from_file(terminal, path))
    name = named[1] if named else word
    async with connected(terminal.settings) as cluster:
        plan = await cluster.find_plan(name)
        if plan is None:
            raise await cluster.not_found(name, PLANS)
        roles = await cluster.known_roles()
        if not outlines.is_sound(plan.spec):
            _refuse(terminal, f"Plan '{name}'", validate_plan(plan.spec, None, roles))
        project, tasks = await _project(cluster, plan), await cluster.tasks(name)
        return outlines.of_plan(plan, tasks, project, roles)


def _is_file(word: str) -> bool:
    """Names of Plans have no points and slashes; a file without any is one where it is there."""
    return word in ("", "-") or "/" in word or word.endswith(_SUFFIXES) or Path(word).is_file()


async def _project(cluster: Cluster, plan: Plan) -> Project | None:
    try:
        return projects.of_plan(plan, projects.named(await cluster.projects())).project
    except Forbidden:
        return None


def _from_file(terminal: Terminal, path: str) -> PlanSpec:
    if not manifests.is_more_than_a_plan_file(path):
        file = plan_source.read(path)
        if file.field_errors.errors:
            _refuse(terminal, file.name, file.field_errors.errors)
        return file.spec
    data = _object_in(terminal, path)
    errors = tuple(objects.problems(data))
    if errors:
        _refuse(terminal, plan_source.called(path), errors)
    return PlanSpec.model_validate(data["spec"])


def _object_in(terminal: Terminal, path: str) -> dict[str, Any]:
    """The only Plan among the objects of a file."""
    name = plan_source.called(path)
    if Path(path).is_dir():
        raise CliError("Usage", f"'{name}' is a folder", "name a file with one plan", INVALID)
    try:
        documents = manifests.documents_of(path)
    except plan_file.PlanSyntaxError as error:
        _refuse(terminal, name, (FieldError("", f"Failed to parse YAML: {error.problem}"),))
    found = [d for d in documents if isinstance(d, dict) and _is_plan(d)]
    if len(found) != 1:
        message = f"'{name}' holds {count(len(found), 'Plan')}"
        raise CliError("Usage", message, "name a file with one plan", INVALID)
    return found[0]


def _is_plan(data: dict[str, Any]) -> bool:
    return objects.is_ours(data) and data.get("kind") == PLAN_KIND


def _refuse(terminal: Terminal, name: str, errors: tuple[FieldError, ...]) -> Never:
    plan_files.refuse(terminal, PlanFile(name, None, FieldErrors(errors=errors)), errors)
    raise typer.Exit(INVALID)
