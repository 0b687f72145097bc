"""Checks files that hold plans, objects or several of them, and folders of such files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bernstein.cli import objects, plan_source
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import FieldError
from bernstein.core.plans.validation import validate_file

_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True)
class Checked:
    """One file: what is in it, and what is wrong with that."""

    name: str
    contents: tuple[str, ...]
    errors: tuple[FieldError, ...]
    warnings: tuple[FieldError, ...] = ()


def is_more_than_a_plan_file(path: str) -> bool:
    """Whether it is a folder, or a file of objects or of several documents."""
    if path == "-":
        return False
    if _is_folder(path):
        return True
    try:
        found = plan_file.documents(plan_source.content(path))
    except (OSError, plan_file.PlanSyntaxError):
        return False
    return len(found) > 1 or any(map(objects.is_ours, found))


def check(paths: list[str]) -> list[Checked]:
    """Every file of these paths; in folders those that hold a plan or an object of ours."""
    return [each for path in paths for each in _check(path)]


def _check(path: str) -> Iterator[Checked]:
    if not _is_folder(path):
        yield _file(path, asked_for=True) or Checked(path, (), (FieldError("", "nothing in it"),))
        return
    for found in sorted(Path(path).rglob("*")):
        if found.suffix in _SUFFIXES and found.is_file():
            checked = _file(str(found), asked_for=False)
            if checked is not None:
                yield checked


def _is_folder(path: str) -> bool:
    return bool(path) and Path(path).is_dir()


def _file(path: str, *, asked_for: bool) -> Checked | None:
    """None where nothing in it is ours, unless it was asked for by its name."""
    try:
        found = plan_file.documents(plan_source.content(path))
    except OSError as error:
        return Checked(path, (), (FieldError("", f"cannot be read: {error.strerror}"),))
    except plan_file.PlanSyntaxError as error:
        return Checked(path, (), (FieldError("", str(error)),))
    contents: list[str] = []
    errors: list[FieldError] = []
    warnings: list[FieldError] = []
    for data in found:
        if isinstance(data, dict) and objects.is_ours(data):
            contents.append(objects.title(data))
            errors += objects.problems(data)
        elif asked_for or (isinstance(data, dict) and {"name", "stages"} <= data.keys()):
            judged = validate_file(data)
            contents.append("plan file")
            errors += judged.errors
            warnings += judged.warnings
    return Checked(path, tuple(contents), tuple(errors), tuple(warnings)) if contents else None
