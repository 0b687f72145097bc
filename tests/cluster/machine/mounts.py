"""Mounts below folders: listing and removing them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.machine.packages import program


def below(folders: Sequence[Path], mountinfo: str) -> list[str]:
    """Mount points in or at the folders, deepest first."""
    points = [line.split()[4] for line in mountinfo.splitlines()]
    decoded = [point.encode().decode("unicode_escape") for point in points]
    prefixes = [str(folder) for folder in folders]
    found = [
        point
        for point in decoded
        if any(point == prefix or point.startswith(prefix + "/") for prefix in prefixes)
    ]
    return sorted(found, key=lambda point: -point.count("/"))


def mounted(folders: Sequence[Path]) -> list[str]:
    """Mount points of the machine in or at the folders."""
    return below(folders, Path("/proc/self/mountinfo").read_text())


def unmount(folders: Sequence[Path]) -> None:
    """Unmount everything in or at the folders, in use or not."""
    umount = program("umount")
    for point in mounted(folders):
        subprocess.run([umount, "--lazy", point], check=False, capture_output=True)
