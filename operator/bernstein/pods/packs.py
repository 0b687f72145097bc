"""The folder through which the recorder hands its commits to the pusher.

`<n>.pack` holds the objects, `<n>.json` (put there by a rename, after the pack) says what they are;
the highest `n` counts. Every pack stands alone on the base, so older ones can go.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from bernstein.api import pod
from bernstein.pods.errors import PodError

_RECORD = re.compile(r"([0-9]{1,9})\.json")
_HANDED_OVER = re.compile(r"([0-9]{1,9})\.(json|pack)")
_RECORD_BYTES = 4096
_KEPT = 2


@dataclass(frozen=True, slots=True)
class Record:
    """One state of the session's work: `base` itself, or a commit whose only parent is `base`."""

    base: str
    sha: str
    tree: str
    final: bool
    pack: str | None
    """Name of the pack in the same folder; None when `sha` is `base`."""
    aborted: bool = False
    """The recorder has ended without a final state; this repeats the last one."""


def numbers(folder: Path) -> list[int]:
    """Numbers of the records that are there, lowest first."""
    found = (_RECORD.fullmatch(path.name) for path in folder.iterdir())
    return sorted(int(match[1]) for match in found if match)


def publish(folder: Path, number: int, record: Record, pack: Path | None) -> Record:
    """Hand over a record under `number`, with a copy of its pack; drop old ones.

    `pack` None leaves the record's own pack name, which must then be one handed over before.
    """
    if pack is not None:
        name = f"{number}.pack"
        # A copy, since the folders are different volumes.
        _write(folder / name, pack)
        record = Record(record.base, record.sha, record.tree, record.final, name, record.aborted)
    temporary = folder / f".{number}.json.tmp"
    temporary.write_text(pod.dump(record))
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


def latest(folder: Path) -> tuple[int, Record] | None:
    """The newest record, with its number. Raises PodError(InvalidPack) when it is malformed."""
    for number in reversed(numbers(folder)):
        with contextlib.suppress(FileNotFoundError):  # dropped since
            return number, _read(folder / f"{number}.json")
    return None


def _read(path: Path) -> Record:
    with path.open("rb") as file:
        data = file.read(_RECORD_BYTES)
    try:
        return pod.load(Record, data)
    except (ValueError, RecursionError) as error:
        raise PodError("InvalidPack", f"{path.name}: {error}") from error
