"""`bernstein.yaml`: to which cluster, namespace and Project a folder belongs.

Whoever writes into the folder may write that file, too. So it chooses among what the kubeconfig
has, and nothing else; on a terminal it is told what was taken from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bernstein.api.project import Project
from bernstein.api.projects.gates import Gates
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.settings import CliSettings
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import did_you_mean, quoted, type_name

FILE = "bernstein.yaml"
_OURS = ("context", "namespace", "project")
_GATES = "quality_gates"


@dataclass(frozen=True)
class Configuration:
    """What the file says; of the rest that it may hold nothing is read."""

    name: str
    """The file, as people call it."""
    context: str | None = None
    namespace: str | None = None
    project: str | None = None
    gates: object = None
    """Its block `quality_gates`, which judges nothing: `bernstein init` translates it."""


def read(workdir: str | None) -> Configuration | None:
    """The file of the folder, or of the current one; None: there is none.

    Raises CliError where the folder is none, or the file cannot be understood.
    """
    folder = Path(workdir if workdir is not None else ".")
    if workdir is not None and not folder.is_dir():
        remedy = "name another one with --workdir, or leave it out"
        raise CliError("Usage", f"there is no folder {quoted(workdir)}", remedy, INVALID)
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            data = plan_file.parse(file.read(plan_file.MAX_BYTES + 1))
    except OSError as error:
        raise _wrong(path, f"cannot be read: {error.strerror}") from error
    except plan_file.PlanSyntaxError as error:
        raise _wrong(path, error.problem) from error
    if data is None:
        return None
    if not isinstance(data, dict):
        raise _wrong(path, f"expected a mapping, got {type_name(data)}")
    return Configuration(str(path), **_fields(path, data), gates=data.get(_GATES))


def _fields(path: Path, data: Mapping[Any, Any]) -> dict[str, str]:
    """Those that we read. A word that is nearly one of them would send work elsewhere: it is an
    error."""
    for key in data:
        hint = "" if key in (*_OURS, _GATES) else did_you_mean(key, _OURS)
        if hint:
            raise _wrong(path, f"unknown field {quoted(key)}{hint}")
    fields = {name: data[name] for name in _OURS if data.get(name) is not None}
    for name, value in fields.items():
        if not isinstance(value, str) or not value:
            raise _wrong(path, f"{name}: expected a string, got {quoted(value)}")
    return fields


def _wrong(path: Path, problem: str) -> CliError:
    remedy = "correct it, or name another folder with --workdir"
    return CliError("ConfigurationInvalid", f"{path}: {problem}", remedy, INVALID)


def completed(settings: CliSettings) -> CliSettings:
    """The settings with what the file says where the call says nothing. Raises CliError."""
    file = read(settings.workdir)
    if file is None:
        return settings
    taken = {
        name: value
        for name in ("context", "namespace")
        if (value := getattr(file, name)) is not None and getattr(settings, name) is None
    }
    if not taken:
        return settings
    terminal = Terminal(settings)
    if terminal.err.is_terminal:
        words = ", ".join(f"{name} '{value}'" for name, value in taken.items())
        terminal.complain(f"{file.name}: {words}", "dim")
    return replace(settings, **taken)


def project(settings: CliSettings) -> str | None:
    """The Project that the file names. Raises CliError."""
    file = read(settings.workdir)
    return None if file is None else file.project


def tell_gates(terminal: Terminal, project: Project | None = None) -> None:
    """Says that gates of the file judge nothing, and where they would: who declares work may
    believe that they do. Nothing is said where the `project` has gates of its own: those of the
    file were taken over, or somebody has chosen others."""
    file = read(terminal.settings.workdir)
    if project is not None and project.spec.gates != Gates():
        return
    if file is not None and file.gates is not None:
        text = f"{file.name}: {_GATES} has no effect here: the gates are those of the Project"
        terminal.complain(f"! {text} (spec.gates), which an administrator sets", "yellow")
        terminal.complain(
            "  `bernstein init` writes a Project that has them, and says what differs"
        )
