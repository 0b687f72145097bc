"""Writes files into a folder, and never over one that is there unless that is asked for."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bernstein.cli.errors import FAILED, INVALID, CliError
from bernstein.core.plans.field_errors import quoted

_PRIVATE, _USUAL = 0o600, 0o644


@dataclass(frozen=True)
class File:
    name: str
    text: str
    secret: bool = False
    """What will stand in it is for nobody else to read."""


def write(folder: Path, files: Sequence[File], *, force: bool) -> None:
    """Raises CliError; then nothing was written that was there before.

    A file is put in place as a whole: a link that somebody has left there is replaced, and what it
    leads to is not written to.
    """
    refuse_existing(folder, [file.name for file in files], force=force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            _put(folder, file)
    except OSError as error:
        where = error.filename or str(folder)
        text = f"{quoted(str(where))} cannot be written: {error.strerror}"
        raise CliError("NotWritten", text, "name a folder that you may write to", FAILED) from error


def refuse_existing(folder: Path, names: Sequence[str], *, force: bool) -> None:
    """Raises CliError where one of the names is taken, but for a call with --force."""
    there = [name for name in names if os.path.lexists(folder / name)]
    if there and not force:
        text = f"{', '.join(there)} of {quoted(str(folder))} would be overwritten"
        remedy = "name another place, look with --dry-run, or call it with --force"
        raise CliError("FileExists", text, remedy, INVALID)


def _put(folder: Path, file: File) -> None:
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{file.name}.")
    made = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(file.text)
        made.chmod(_PRIVATE if file.secret else _USUAL & ~_umask())
        made.replace(folder / file.name)
    except OSError:
        made.unlink()
        raise


def _umask() -> int:
    """There is no way to read it but to set it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
