"""Task files: what is in them, and what is wrong with that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bernstein.cli import plan_source
from bernstein.cli.manifests import Checked
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import FieldError
from bernstein.core.tasks.declared import Declared, declared, problems

_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True)
class Source:
    """One file."""

    checked: Checked
    tasks: tuple[Declared, ...]
    """Those in which nothing is wrong."""


def read(path: str) -> list[Source]:
    """The file, or each of a folder by name; `-` is standard input. Never empty."""
    if path and Path(path).is_dir():
        files = sorted(str(f) for f in Path(path).iterdir() if f.suffix in _SUFFIXES)
        return [_file(file) for file in files] or [_wrong(path, "no task file in it")]
    return [_file(path)]


def _file(path: str) -> Source:
    name = plan_source.called(path)
    try:
        documents = plan_file.documents(plan_source.content(path))
    except FileNotFoundError:
        return _wrong(name, "there is no such file")
    except OSError as error:
        return _wrong(name, f"cannot be read: {error.strerror}")
    except plan_file.PlanSyntaxError as error:
        return _wrong(name, error.problem)
    if not documents:
        return _wrong(name, "nothing in it")
    judged = [(_within(number, documents), problems(d)) for number, d in enumerate(documents, 1)]
    errors = tuple(replace(e, within=within) for within, found in judged for e in found.errors)
    warnings = tuple(replace(w, within=within) for within, found in judged for w in found.warnings)
    tasks = () if errors else tuple(declared(data) for data in documents if isinstance(data, dict))
    contents = tuple(f"Task '{task.title}'" for task in tasks)
    return Source(Checked(name, contents or ("tasks",), errors, warnings), tasks)


def _within(number: int, documents: Sequence[object]) -> str:
    return f"document {number}" if len(documents) > 1 else ""


def _wrong(name: str, problem: str) -> Source:
    return Source(Checked(name, (), (FieldError("", problem),)), ())
