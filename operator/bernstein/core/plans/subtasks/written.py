"""What an agent has left as subtasks: steps as of a plan file, but for what is not its to say.

    subtasks:
      - title: "Endpoint"
        role: backend
        files: [src/api.py]

They are judged by the same code and in the same words as the steps of a plan. What it may not say:
which agent, model or repository; files that are not those of the Task that is split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bernstein.api.meta import LONGEST_RELATIVE_PATH
from bernstein.api.plan import PlanSpec, Step
from bernstein.api.project import ProjectSpec
from bernstein.api.task import TaskSpec
from bernstein.checks.globs import Listed, exactly, first_wildcard, plain
from bernstein.core.documents.values import Json
from bernstein.core.plans.field_errors import FieldError, field_name, quoted, type_name
from bernstein.core.plans.fields import plan_spec
from bernstein.core.plans.validation import validate_file, validate_plan
from bernstein.core.roles.known import BUILT_IN, Roles

FIELD = "subtasks"
_NOT_ITS_OWN = ("cli", "model", "effort", "repo", "depends_on_repo", "mode", "changes")
"""Fields of steps that a subtask does not have."""
_STEPS = "stages[0].steps"
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
    if len(listed) > most:
        found.append(FieldError(FIELD, f"{FIELD}: at most {most}, got {len(listed)}"))
    found += _not_its_own(listed)
    found += _files(listed, parent.files)
    found += map(_placed, _of_steps(listed, parent, project, roles))
    return tuple(FieldError(each.path, each.message[:_SHOWN]) for each in found)


def steps(value: Json) -> tuple[Step, ...]:
    """The subtasks of a document without problems."""
    listed = value.get(FIELD) if isinstance(value, dict) else None
    spec = PlanSpec.model_validate(plan_spec(_as_plan(listed if isinstance(listed, list) else [])))
    return spec.stages[0].steps


def _as_plan(listed: list[Json], cli: str | None = None) -> dict[str, Any]:
    """A plan file of one stage, of what subtasks may say."""
    named = {} if cli is None else {"cli": cli}
    return {"name": FIELD, **named, "stages": [{"name": FIELD, "steps": [*map(_step, listed)]}]}


def _step(entry: Json) -> Json:
    if not isinstance(entry, dict):
        return entry
    return {key: value for key, value in entry.items() if key not in _NOT_ITS_OWN}


def _of_steps(
    listed: list[Json], parent: TaskSpec, project: ProjectSpec, roles: Roles
) -> Iterator[FieldError]:
    data = _as_plan(listed, parent.cli)
    errors = validate_file(data, project, roles).errors
    yield from errors
    if not errors:
        yield from validate_plan(PlanSpec.model_validate(plan_spec(data)), project, roles)


def _placed(error: FieldError) -> FieldError:
    """The problem where the document has it."""
    message = error.message.replace(_STEPS, FIELD)
    return FieldError(
        error.path.replace(_STEPS, FIELD), message.replace(": step must", ": subtask must")
    )


def _mappings(listed: list[Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for index, entry in enumerate(listed):
        if isinstance(entry, dict):
            yield f"{FIELD}[{index}]", entry


def _not_its_own(listed: list[Json]) -> Iterator[FieldError]:
    for place, entry in _mappings(listed):
        for key in _NOT_ITS_OWN:
            if key in entry:
                path = f"{place}.{key}"
                yield FieldError(path, f"{path}: a subtask does not say that")


def _files(listed: list[Json], own: tuple[str, ...]) -> Iterator[FieldError]:
    """Where the Task that is split declares no files, its subtasks may change any."""
    if not own:
        return
    mine = Listed(own)
    for place, entry in _mappings(listed):
        files = entry.get("files")
        for index, path in enumerate(files if isinstance(files, list) else ()):
            if isinstance(path, str) and not _is_among(path, own, mine):
                where = f"{place}.files[{index}]"
                text = f"{quoted(path)} is none of the files of the task that is split"
                yield FieldError(where, f"{where}: {text}")


def own_files(listed: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    """The files of a subtask, of a document without problems."""
    mine = Listed(own)
    return tuple(_as_had(path, own, mine) or path for path in listed)


def _as_had(path: str, own: tuple[str, ...], mine: Listed) -> str | None:
    """The path as the Task has it. It may be a folder: where the Task has it by a glob that does
    not go on within that, what has the path's name alone. None: that cannot be written."""
    if not own or first_wildcard(path) is not None or mine.holds_all_in(plain(path)):
        return path
    glob = exactly(path)
    return glob if glob is not None and len(glob) <= LONGEST_RELATIVE_PATH else None


def _is_among(path: str, own: tuple[str, ...], mine: Listed) -> bool:
    """A glob is one of them where the list has it, or has the folder that it stays in."""
    if path in own:
        return True
    wildcard = first_wildcard(path)
    if wildcard is None:
        return mine.holds(plain(path)) and _as_had(path, own, mine) is not None
    folder = path[:wildcard].rpartition("/")[0]
    whole = [plain(entry) for entry in own if first_wildcard(entry) is None]
    return any(f"{folder}/".startswith(f"{entry}/") for entry in whole if folder)
