"""Reads plan files and finds what is wrong with them, before anything is sent."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import typer

from bernstein.api.plan import PlanSpec
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import FieldError, FieldErrors
from bernstein.core.plans.fields import plan_spec
from bernstein.core.plans.validation import validate_file

PLAN_FILE = typer.Argument(metavar="PLAN.yaml", help="Plan file; - is standard input.")


@dataclass(frozen=True)
class PlanFile:
    """What a file contains and what is wrong with it."""

    name: str
    """What people read, such as "standard input"."""
    data: Any
    field_errors: FieldErrors

    @property
    def spec(self) -> PlanSpec:
        """The spec of the Plan; only for a file without errors."""
        return PlanSpec.model_validate(plan_spec(self.data))


def read(path: str) -> PlanFile:
    """Reads a plan file; `-` is standard input. A file that cannot be read has an error, too."""
    name = called(path)
    try:
        data = plan_file.parse(content(path))
    except FileNotFoundError:
        return _unreadable(name, f"Plan file not found: {name}")
    except OSError as error:
        return _unreadable(name, f"Plan file cannot be read: {name}: {error.strerror}")
    except plan_file.PlanSyntaxError as error:
        return _unreadable(name, str(error))
    return PlanFile(name, data, validate_file(data))


def _unreadable(name: str, message: str) -> PlanFile:
    return PlanFile(name, None, FieldErrors(errors=(FieldError("", message),)))


def called(path: str) -> str:
    """What people read for a path."""
    return {"-": "standard input", "": "''"}.get(path, path)


@lru_cache(maxsize=1)
def _read_once(stream: BinaryIO) -> bytes:
    """It can be read once, and is looked at twice: for what it is, and for what is in it."""
    return stream.read(plan_file.MAX_BYTES + 1)


def content(path: str) -> bytes:
    """What is in a file, or comes on standard input. Raises OSError."""
    limit = plan_file.MAX_BYTES + 1
    if path == "-":
        return _read_once(sys.stdin.buffer)
    if not path:
        raise FileNotFoundError  # the path "" would be the current folder
    with Path(path).open("rb") as file:
        return file.read(limit)
