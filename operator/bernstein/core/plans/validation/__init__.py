"""Everything that can be wrong with a plan, in the words that the documentation promises.

The same checks judge a plan file before it becomes an object, and a Plan in the cluster, where its
Project is known as well. Nothing here raises, whatever the YAML contains.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping

from bernstein.api.plan import PlanSpec, Step
from bernstein.api.project import ProjectSpec
from bernstein.api.vocabulary import ROLES
from bernstein.core.money import models
from bernstein.core.plans import policy_fields
from bernstein.core.plans.field_errors import FieldError, FieldErrors
from bernstein.core.plans.fields import file_form, is_workflow
from bernstein.core.plans.subtasks.rules import FIELD
from bernstein.core.plans.validation.whole import Whole
from bernstein.core.roles.known import BUILT_IN, Roles


def validate_file(
    data: object, project: ProjectSpec | None = None, roles: Collection[str] = ROLES
) -> FieldErrors:
    """Judges what a plan file contains, without a cluster: an unknown role is only a warning."""
    if not isinstance(data, dict):
        return FieldErrors(errors=(FieldError("", "Plan file must be a YAML mapping"),))
    if other := _other_format(data):
        return FieldErrors(errors=(other,))
    known = tuple(sorted(roles))
    whole = Whole(roles=known, project=project, in_cluster=project is not None)
    deque(whole.plan(data), maxlen=0)
    whole.remaining(data)
    return FieldErrors(tuple(whole.findings.errors), tuple(whole.findings.warnings))


def validate_plan(
    spec: PlanSpec, project: ProjectSpec | None, roles: Collection[str]
) -> tuple[FieldError, ...]:
    """Judges a Plan in the cluster; the paths are those of the file form.

    `roles` are the names of all roles there, or Roles, which tell what each chooses; `project` is
    None while it is not known.
    """
    *_, found = validating(spec, project, roles)
    return tuple(found)


def validating(
    spec: PlanSpec, project: ProjectSpec | None, roles: Collection[str]
) -> Iterator[list[FieldError]]:
    """The same in pieces: after each what was found until then."""
    if spec.stages and spec.workflow is not None:
        yield [FieldError("workflow", "workflow: a plan has either 'stages' or 'workflow'")]
        return
    whole = Whole(roles=tuple(sorted(roles)), project=project, in_cluster=True)
    for _ in whole.plan(file_form(spec)):
        yield whole.findings.errors
    whole.size(spec)
    yield whole.findings.errors
    defaults = roles if isinstance(roles, Roles) else BUILT_IN
    for path, problem in models.unreviewed_steps(spec, project, defaults) if project else ():
        whole.findings.error_at(path, problem)
    for path in _split_in_vain(spec, project) if project is not None else ():
        text = "nothing is split in a Plan whose Tasks are delivered each by itself"
        whole.findings.error_at(path, f"{text} (the Project's merge says `per: Task`)")
    if project is not None and policy_fields.without_forge(spec, project):
        whole.findings.error_at("merge", "pr: the Project's repository has no 'forge'")
    yield whole.findings.errors


def _split_in_vain(spec: PlanSpec, project: ProjectSpec) -> Iterator[str]:
    """Places of subtasks that would have nowhere to gather."""
    if project.merge.delivers(spec.merge) == "Task":
        for work in spec.work:
            if isinstance(work.given, Step) and work.given.subtasks:
                yield f"{work.path}.{FIELD}"


def _other_format(data: Mapping[object, object]) -> FieldError | None:
    """What the file is, where it is no plan file but another one that people have, or two."""
    if "apiVersion" in data and "kind" in data:
        message = "This is a Kubernetes object and no plan file: apply it with kubectl apply -f"
        return FieldError("", message)
    if "workflow" in data:
        message = "workflow: write its 'phases' and 'nodes' at the top level, without 'workflow'"
        return FieldError("workflow", message)
    if "stages" in data and is_workflow(data):
        both = "nodes" if "nodes" in data else "phases"
        message = f"{both}: a plan has either 'stages', or 'phases' and 'nodes': make two of it"
        return FieldError(both, message)
    return None
