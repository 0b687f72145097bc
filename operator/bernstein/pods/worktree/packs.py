"""The folder through which the recorder hands its commits to the pusher.

`<n>.pack` holds the objects. `<n>.json`, put there by a rename after the pack, is the record of
what they are. The highest `n` counts. Every pack holds all that the base lacks, so that older ones
can be removed.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from bernstein.api import encoding
from bernstein.pods.errors import PodError

_RECORD = re.compile(r"([0-9]{1,9})\.json")
_HANDED_OVER = re.compile(r"([0-9]{1,9})\.(json|pack)")
_RECORD_BYTES = 4096
_KEPT = 2


@dataclass(frozen=True, slots=True)
class PackRecord:
    """One state of the session's work: `base` itself, or a commit whose only parent is `base`."""

    base: str
    sha: str
    tree: str
    final: bool
    pack: str | None
    """Name of the pack in the same folder; None when `sha` is `base`."""
    aborted: bool = False
    """The recorder ends without a final state; this record repeats the last one."""


def numbers(folder: Path) -> list[int]:
    """Numbers of the records that are there, lowest first; none before there is a folder."""
    try:
        matches = [_RECORD.fullmatch(path.name) for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    return sorted(int(match[1]) for match in matches if match)


def publish(folder: Path, number: int, record: PackRecord, pack: Path | None) -> PackRecord:
    """Hand over a record under `number`, with a copy of `pack`; remove old records and packs.

    Without a `pack` the record keeps the pack that it names, one that was handed over before.
    Returns the record with the name of its pack.
    """
    if pack is not None:
        name = f"{number}.pack"
        # A copy, since git keeps its own for itself alone, and removes it.
        _write(folder / name, pack)
        record = PackRecord(
            record.base, record.sha, record.tree, record.final, name, record.aborted
        )
    temporary = folder / f".{number}.json.tmp"
    temporary.write_text(encoding.dump(record))
    temporary.chmod(0o640)
    temporary.replace(folder / f"{number}.json")
    _prune(folder, number, record.pack)
    return record


def _write(target: Path, source: Path) -> None:
    temporary = target.with_name(f".{target.name}.tmp")
    shutil.copyfile(source, temporary)
    temporary.chmod(0o640)
    temporary.replace(target)


def _prune(folder: Path, newest: int, pack: str | None) -> None:
    for path in list(folder.iterdir()):
        match = _HANDED_OVER.fullmatch(path.name)
        if match and int(match[1]) <= newest - _KEPT and path.name != pack:
            path.unlink()


def latest(folder: Path) -> tuple[int, PackRecord] | None:
    """The newest record, with its number. Raises PodError(InvalidPack) when it is malformed."""
    for number in reversed(numbers(folder)):
        with contextlib.suppress(FileNotFoundError):  # removed since it was listed
            return number, _read(folder / f"{number}.json")
    return None


def _read(path: Path) -> PackRecord:
    with path.open("rb") as file:
        data = file.read(_RECORD_BYTES)
    try:
        return encoding.load(PackRecord, data)
    except (ValueError, RecursionError) as error:
        raise PodError("InvalidPack", f"{path.name}: {error}") from error
