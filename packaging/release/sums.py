"""Checksums, in the form that `sha256sum --check` reads."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from release.errors import ReleaseError
from release.folder import MARKER

NAME = "SHA256SUMS"
_ROW = re.compile(r"([0-9a-f]{64})  (.+)")


def write(folder: Path) -> None:
    """Of every file below the folder, by path."""
    rows = [f"{digest}  {name}\n" for name, digest in there(folder).items()]
    (folder / NAME).write_text("".join(rows))


def there(folder: Path) -> dict[str, str]:
    """Sums of the files that are below the folder now, by path, sorted."""
    left_out = (folder / NAME, folder / MARKER)
    paths = [path for path in folder.rglob("*") if path.is_file() and path not in left_out]
    return {path.relative_to(folder).as_posix(): of(path) for path in sorted(paths)}


def stated(folder: Path) -> dict[str, str]:
    """Sums that the folder says its files have. Raises ReleaseError BadSums where it says none."""
    try:
        rows = [_ROW.fullmatch(row) for row in (folder / NAME).read_text().splitlines()]
    except (OSError, ValueError) as error:
        raise _bad(folder, f"are not to be read: {error}") from error
    found = {row[2]: row[1] for row in rows if row}
    if len(found) < len(rows) or not rows:
        raise _bad(folder, "have rows that are none, or twice the same, or no row")
    return found


def check(folder: Path) -> dict[str, str]:
    """The sums that it states, which are those of its files, of all and of no other.

    Raises ReleaseError BadSums.
    """
    said, found = stated(folder), there(folder)
    if said != found:
        names = sorted({name for name, _ in said.items() ^ found.items()})
        raise _bad(folder, f"are not those of {', '.join(names[:5])}")
    return said


def _bad(folder: Path, what: str) -> ReleaseError:
    return ReleaseError(
        "BadSums", f"the sums in {folder / NAME} {what}", "copy the whole folder anew"
    )


def of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
