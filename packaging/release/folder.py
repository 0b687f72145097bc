"""The folder of a release: it is emptied before one is made, so only one of ours is taken."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from release.errors import ReleaseError

MARKER = ".bernstein-release"
"""A file by which a folder is known as that of a release; it is no part of the release."""


def take(to: Path, root: Path, also: Iterable[Path] = ()) -> None:
    """Make the folder empty, but for the marker.

    `root`: the checkout; `also`: folders that are read later. Raises ReleaseError NotOurFolder
    where it is one of these, holds one or lies in one of `also`, or where it is a link, or has
    files and no marker.
    """
    _refuse_overlap(to, root, also)
    if to.is_symlink() or (to.exists() and not to.is_dir()):
        raise _not_ours(to, "is no folder of its own")
    marker = to / MARKER
    found = sorted(to.iterdir()) if to.exists() else []
    if found and (marker.is_symlink() or not marker.is_file()):
        raise _not_ours(to, "has files, and not by a release")
    to.mkdir(parents=True, exist_ok=True)
    marker.write_text("Whatever is in this folder is removed when a release is made into it.\n")
    for path in found:
        if path == marker:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _refuse_overlap(to: Path, root: Path, also: Iterable[Path]) -> None:
    place = to.resolve()
    if root.resolve().is_relative_to(place):
        raise _not_ours(to, "holds the checkout")
    for each in also:
        other = each.resolve()
        if place.is_relative_to(other) or other.is_relative_to(place):
            raise _not_ours(to, f"overlaps with {each}, which has another architecture")


def _not_ours(to: Path, why: str) -> ReleaseError:
    return ReleaseError("NotOurFolder", f"{to} {why}", "name a folder that is new, or empty")
