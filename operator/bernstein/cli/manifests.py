"""Checks files that hold plans, objects or several of them, and folders of such files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bernstein.cli import objects, plan_source
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import FieldError, FieldErrors
from bernstein.core.plans.validation import validate_file

_SUFFIXES = (".yaml", ".yml", ".json")
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


def check(paths: list[str]) -> list[Checked]:
    """Every file of these paths; in folders those that hold a plan or an object of ours."""
    return [each for path in paths for each in _check(path)]


def _check(path: str) -> Iterator[Checked]:
    if not _is_folder(path):
        yield _file(path, asked_for=True) or Checked(path, (), (FieldError("", "nothing in it"),))
        return
    for file in sorted(Path(path).rglob("*")):
        if file.suffix in _SUFFIXES and file.is_file():
            checked = _file(str(file), asked_for=False)
            if checked is not None:
                yield checked


def _is_folder(path: str) -> bool:
    return bool(path) and Path(path).is_dir()


def _file(path: str, *, asked_for: bool) -> Checked | None:
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
        judged = None if foreign else _judged(data, asked_for=asked_for)
        if judged is None:
            continue
        title, problems = judged
        contents.append(title)
        place = f"document {number}, {title}" if len(documents) > 1 else ""
        errors += (_placed(each, place) for each in problems.errors)
        warnings += (_placed(each, place) for each in problems.warnings)
    return Checked(name, tuple(contents), tuple(errors), tuple(warnings)) if contents else None


def _judged(data: object, *, asked_for: bool) -> tuple[str, FieldErrors] | None:
    """What a document is, and what is wrong with it; None where it is not ours."""
    if isinstance(data, dict) and objects.is_ours(data):
        errors = tuple(objects.problems(data))
        return objects.title(data), FieldErrors(errors, () if errors else objects.warnings(data))
    if asked_for or (isinstance(data, dict) and _is_plan_file(data)):
        return "plan file", validate_file(data)
    return None


def _is_plan_file(data: Mapping[Any, Any]) -> bool:
    return "name" in data and ("stages" in data or {"phases", "nodes"} <= data.keys())


def _placed(error: FieldError, place: str) -> FieldError:
    """The error with the document that it is in, where there are several."""
    return replace(error, within=place)
