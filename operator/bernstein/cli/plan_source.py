"""Reads plan files and finds what is wrong with them, before anything is sent."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import typer

from bernstein.api.plan import PlanSpec
from bernstein.cli.errors import INVALID, CliError
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import FieldError, FieldErrors, did_you_mean, quoted
from bernstein.core.plans.fields import plan_spec
from bernstein.core.plans.validation import validate_file
from bernstein.core.roles.known import BUILT_IN, Roles

PLAN_FILE = typer.Argument(
    metavar="PLAN.yaml",
    help="Plan file, or name of a workflow in .bernstein/workflows; - is standard input.",
)
_WORKFLOWS = Path(".bernstein") / "workflows"
"""Where files of workflows have names, below the working folder."""
_NAME = re.compile(r"[A-Za-z0-9_][-A-Za-z0-9_]{0,99}\Z")
"""Of a workflow: no part of it is a folder, and none a suffix."""
_SUFFIXES = (".yaml", ".yml")
_MOST_NAMES = 20
"""That an error tells."""


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


def located(word: str, workdir: str | None) -> str:
    """The path of the workflow of that name; the word itself where it is a path, or nothing is
    there. Raises CliError where two files have the name."""
    if not _NAME.match(word) or Path(word).exists():
        return word
    folder = _folder(workdir)
    found = [path for suffix in _SUFFIXES if (path := folder / f"{word}{suffix}").is_file()]
    if len(found) > 1:
        text = f"'{word}' names two files: {' and '.join(map(str, found))}"
        raise CliError("Usage", text, "name the one that is meant, or remove the other", INVALID)
    if found and not found[0].resolve().is_relative_to(folder.resolve()):
        text = f"'{found[0]}' leads out of its folder"
        raise CliError("Usage", text, "put the file itself there, or name its path", INVALID)
    return str(found[0]) if found else word


def _folder(workdir: str | None) -> Path:
    return Path(workdir if workdir is not None else ".") / _WORKFLOWS


def _instead(word: str, folder: Path) -> str:
    """The end of a message: which workflows there are, where a name may have been meant for one."""
    if not _NAME.match(word):
        return ""
    try:
        names = sorted({path.stem for path in folder.iterdir() if path.suffix in _SUFFIXES})
    except OSError:
        names = []
    if not names:
        return f", and there is no workflow in {folder}"
    more = ", …" * (len(names) > _MOST_NAMES)
    told = ", ".join(quoted(name) for name in names[:_MOST_NAMES])
    return (
        f", and {folder} has no workflow of that name, only {told}{more}{did_you_mean(word, names)}"
    )


def read(path: str, workdir: str | None = None, roles: Roles = BUILT_IN) -> PlanFile:
    """Reads a plan file; `-` is standard input. A file that cannot be read has an error, too.
    `roles`: those that it may name without a warning."""
    name, folder = called(path), _folder(workdir)
    try:
        data = plan_file.parse(content(path))
    except FileNotFoundError:
        return _unreadable(name, f"Plan file not found: {name}{_instead(name, folder)}")
    except OSError as error:
        return _unreadable(name, f"Plan file cannot be read: {name}: {error.strerror}")
    except plan_file.PlanSyntaxError as error:
        return _unreadable(name, str(error))
    return PlanFile(name, data, validate_file(data, roles=roles))


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
