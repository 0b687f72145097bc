"""Folders of the same release from machines of other architectures."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

from release import sums
from release.errors import ReleaseError

_SAME = ("*.tgz", "*.whl", "crds.yaml", "install.yaml")
"""What is made of a commit and of names alone, whatever the machine."""


def compare(ours: Path, theirs: Path) -> None:
    """See that a folder is whole, and of the same commit and names as ours.

    Raises ReleaseError BadSums or AnotherRelease.
    """
    said = {name: digest for name, digest in sums.check(theirs).items() if _is_same(name)}
    found = {name: digest for name, digest in sums.there(ours).items() if _is_same(name)}
    if said != found:
        names = sorted({name for name, _ in said.items() ^ found.items()})
        raise ReleaseError(
            "AnotherRelease",
            f"{', '.join(names)} of {theirs} are not as here",
            "make both of the same commit, with the same REGISTRY and the same Python",
        )


def _is_same(name: str) -> bool:
    return "/" not in name and any(fnmatch(name, pattern) for pattern in _SAME)
