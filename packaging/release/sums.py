"""Checksums, in the form that `sha256sum --check` reads."""

from __future__ import annotations

import hashlib
from pathlib import Path

NAME = "SHA256SUMS"


def write(folder: Path) -> None:
    """Of every file below the folder, by path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != NAME)
    rows = [f"{of(path)}  {path.relative_to(folder).as_posix()}\n" for path in paths]
    (folder / NAME).write_text("".join(rows))


def of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
