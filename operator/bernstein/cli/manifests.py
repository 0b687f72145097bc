"""Checks files that hold plans, objects or several of them, and folders of such files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bernstein.api.meta import PROJECT_KIND
from bernstein.api.project import Project
from bernstein.cli import objects, plan_source
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import FieldError, FieldErrors
from bernstein.core.plans.validation import validate_file
from bernstein.core.roles.known import BUILT_IN, Roles

SUFFIXES = (".yaml", ".yml", ".json")
"""Of files that are looked into, where a folder was named."""
_KIND = re.compile(rb"^ *\"?(?:kind|apiVersion)\"?:", re.MULTILINE)


@dataclass(frozen=True)
class Checked:
    """One file: what is in it, and what is wrong with that."""

    name: str
    contents: tuple[str, ...]
    errors: tuple[FieldError, ...]
    warnings: tuple[FieldError, ...] = ()


def is_more_than_a_plan_file(path: str) -> bool:
    """Whether it is a folder, or a file of objects or of several documents."""
    if _is_folder(path):
        return True
    try:
        documents = documents_of(path)
    except OSError:
        return False
    except plan_file.PlanSyntaxError:
        return _seems_an_object(path)
    return len(documents) > 1 or any(map(objects.is_ours, documents))


def _seems_an_object(path: str) -> bool:
    """Whether text that is no YAML was meant as an object, which has a kind; no plan file has."""
    return _KIND.search(plan_source.content(path)) is not None


def documents_of(path: str) -> list[object]:
    """What the file holds, and in place of a List what that holds. Raises OSError and
    PlanSyntaxError."""
    found: list[object] = []
    for data in plan_file.documents(plan_source.content(path)):
        found += objects.items_of(data) or [data]
    return found


def check(paths: list[str], roles: Roles = BUILT_IN) -> list[Checked]:
    """Every file of these paths; in folders those that hold a plan or an object of ours. `roles`:
    those that are known."""
    return [each for path in paths for each in _check(path, roles)]


def _check(path: str, roles: Roles) -> Iterator[Checked]:
    if not _is_folder(path):
        found = _file(path, roles, asked_for=True)
        yield found or Checked(path, (), (FieldError("", "nothing in it"),))
        return
    for file in _files(path):
        checked = _file(file, roles, asked_for=False)
        if checked is not None:
            yield checked


def _files(path: str) -> list[str]:
    """Those of a folder that may be ours, however deep."""
    return [str(f) for f in sorted(Path(path).rglob("*")) if f.suffix in SUFFIXES and f.is_file()]


def projects(paths: Iterable[str]) -> Iterator[Project]:
    """Each Project of these paths that nothing is wrong with."""
    for path in paths:
        for file in _files(path) if _is_folder(path) else [path]:
            try:
                documents = documents_of(file)
            except (OSError, plan_file.PlanSyntaxError):
                continue  # that is told where it is checked
            for data in documents:
                if isinstance(data, dict) and objects.is_ours(data):
                    is_one = data.get("kind") == PROJECT_KIND and not objects.problems(data)
                    if is_one:
                        yield Project.model_validate(data)


def _is_folder(path: str) -> bool:
    return bool(path) and Path(path).is_dir()


def _file(path: str, roles: Roles, *, asked_for: bool) -> Checked | None:
    """None where nothing in it is ours, unless it was asked for by its name. Other objects beside
    ours are passed over: `kustomize build` prints them together."""
    name = plan_source.called(path)
    try:
        documents = documents_of(path)
    except OSError as error:
        return Checked(name, (), (FieldError("", f"cannot be read: {error.strerror}"),))
    except plan_file.PlanSyntaxError as error:
        message = str(error)
        if _seems_an_object(path):
            message = f"Failed to parse YAML: {error.problem}"
        return Checked(name, (), (FieldError("", message),))
    contents: list[str] = []
    errors: list[FieldError] = []
    warnings: list[FieldError] = []
    beside_ours = any(map(objects.is_ours, documents))
    for number, data in enumerate(documents, 1):
        foreign = beside_ours and objects.is_foreign(data)
        judged = None if foreign else _judged(data, roles, asked_for=asked_for)
        if judged is None:
            continue
        title, problems = judged
        contents.append(title)
        place = f"document {number}, {title}" if len(documents) > 1 else ""
        errors += (_placed(each, place) for each in problems.errors)
        warnings += (_placed(each, place) for each in problems.warnings)
    return Checked(name, tuple(contents), tuple(errors), tuple(warnings)) if contents else None


def _judged(data: object, roles: Roles, *, asked_for: bool) -> tuple[str, FieldErrors] | None:
    """What a document is, and what is wrong with it; None where it is not ours."""
    if isinstance(data, dict) and objects.is_ours(data):
        errors = tuple(objects.problems(data))
        return objects.title(data), FieldErrors(
            errors, () if errors else objects.warnings(data, roles)
        )
    if asked_for or (isinstance(data, dict) and _is_plan_file(data)):
        return "plan file", validate_file(data, roles=roles)
    return None


def _is_plan_file(data: Mapping[Any, Any]) -> bool:
    return "name" in data and ("stages" in data or {"phases", "nodes"} <= data.keys())


def _placed(error: FieldError, place: str) -> FieldError:
    """The error with the document that it is in, where there are several."""
    return replace(error, within=place)
