"""What an agent has left as subtasks: steps as of a plan file, but for what is not its to say.

    subtasks:
      - title: "Endpoint"
        role: backend
        files: [src/api.py]

They are judged by the same code and in the same words as the steps of a plan. What they may not say
is in `rules`, and for how long they may ask in `times`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from bernstein.api.plan import PlanSpec, Step
from bernstein.api.plans.parts import Part
from bernstein.api.project import ProjectSpec
from bernstein.api.task import TaskSpec
from bernstein.core.documents.values import Json
from bernstein.core.plans.field_errors import FieldError, field_name, quoted, type_name
from bernstein.core.plans.fields import plan_spec
from bernstein.core.plans.subtasks.rules import FIELD, NOT_ITS_OWN, broken
from bernstein.core.plans.subtasks.times import too_long
from bernstein.core.plans.validation import validate_file, validate_plan
from bernstein.core.roles.known import BUILT_IN, Roles

_STEPS = "stages[0].steps"
_FIELD_OF_STEP = re.compile(r"stages\[0\]\.steps\[([0-9]+)\]\.(\w+)")
_SHOWN = 500
"""Characters of one problem."""


def problems(
    value: Json, parent: TaskSpec, project: ProjectSpec, most: int, roles: Roles = BUILT_IN
) -> tuple[FieldError, ...]:
    """All that keeps the Task from being split so; (): nothing does."""
    if not isinstance(value, dict):
        return (FieldError("", f"must be a mapping with '{FIELD}', got {type_name(value)}"),)
    found = [
        FieldError(field_name(key), f"unknown field {quoted(key)}") for key in value if key != FIELD
    ]
    listed = value.get(FIELD)
    if not isinstance(listed, list) or not listed:
        return (*found, FieldError(FIELD, f"{FIELD}: must be a list of at least one subtask"))
    found += broken(FIELD, listed, parent.files, most)
    found += map(_placed, _of_steps(listed, parent, project, roles))
    return tuple(FieldError(each.path, each.message[:_SHOWN]) for each in found)


def parts(value: Json, parent: TaskSpec) -> tuple[Part, ...]:
    """The subtasks of a document without problems."""
    listed = value.get(FIELD) if isinstance(value, dict) else None
    data = _as_plan(listed if isinstance(listed, list) else [])
    return _parts(PlanSpec.model_validate(plan_spec(data)), parent)


def _parts(spec: PlanSpec, parent: TaskSpec) -> tuple[Part, ...]:
    return tuple(_part(step, parent) for step in spec.stages[0].steps)


def _part(step: Step, parent: TaskSpec) -> Part:
    """One that says no scope has no larger one than the Task: it has not asked for more time."""
    unsaid = {"scope": parent.scope} if parent.scope == "small" else {}
    said = step.model_dump(include={*Part.model_fields}, exclude_unset=True)
    return Part.model_validate({**unsaid, **said, "title": step.heading})


def _as_plan(listed: list[Json], cli: str | None = None) -> dict[str, Any]:
    """A plan file of one stage, of what subtasks may say."""
    named = {} if cli is None else {"cli": cli}
    return {"name": FIELD, **named, "stages": [{"name": FIELD, "steps": [*map(_step, listed)]}]}


def _step(entry: Json) -> Json:
    if not isinstance(entry, dict):
        return entry
    return {key: value for key, value in entry.items() if key not in NOT_ITS_OWN}


def _of_steps(
    listed: list[Json], parent: TaskSpec, project: ProjectSpec, roles: Roles
) -> Iterator[FieldError]:
    data = _as_plan(listed, parent.cli)
    errors = validate_file(data, project, roles).errors
    yield from errors
    if not errors:
        spec = PlanSpec.model_validate(plan_spec(data))
        yield from validate_plan(spec, project, roles)
    else:
        data = _as_plan(_without(listed, errors), parent.cli)
        if validate_file(data, project, roles).errors:
            return
        spec = PlanSpec.model_validate(plan_spec(data))
    yield from too_long(_parts(spec, parent), parent, project)


def _without(listed: list[Json], errors: Iterable[FieldError]) -> list[Json]:
    """What is left to be judged without the fields that are wrong, each at its place."""
    wrong = {(int(m[1]), m[2]) for each in errors if (m := _FIELD_OF_STEP.match(each.path))}
    kept: list[Json] = []
    for place, entry in enumerate(listed):
        fields = entry.items() if isinstance(entry, dict) else ()
        left = {key: value for key, value in fields if (place, key) not in wrong}
        kept.append({**left, "title": f"{FIELD} {place}"})
    return kept


def _placed(error: FieldError) -> FieldError:
    """The problem where the document has it."""
    message = error.message.replace(_STEPS, FIELD)
    return FieldError(
        error.path.replace(_STEPS, FIELD), message.replace(": step must", ": subtask must")
    )
