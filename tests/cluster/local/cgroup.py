"""The cgroup below which all pods of a cluster live, in version 1, 2 and hybrid layouts."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.processes.process import kill_all, wait_until

REQUIRED_V2 = ("cpu", "cpuset", "memory", "pids")


def hierarchies(mountinfo: str) -> list[Path]:
    """Mount points of all hierarchies. A hybrid layout has one per controller of version 1, and
    one of version 2 in which runc puts its containers too."""
    found = []
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        if right.split()[0] in ("cgroup", "cgroup2"):
            found.append(Path(left.split()[4]))
    return found


def create(name: str) -> None:
    """Make the cgroup everywhere: kubelet wants its root to exist."""
    mounts = _mounts()
    if not mounts:
        raise ClusterError(
            "CgroupsMissing",
            "no cgroup file system is mounted",
            "mount cgroup2 on /sys/fs/cgroup",
        )
    for mount in mounts:
        if (mount / "cgroup.subtree_control").exists():
            _delegate(mount)
        folder = mount / name.lstrip("/")
        folder.mkdir(exist_ok=True)
        if (folder / "cgroup.subtree_control").exists():
            _delegate(folder)


def processes(name: str) -> set[int]:
    """Pids in the cgroup and below."""
    pids: set[int] = set()
    for mount in _mounts():
        # os.walk, unlike Path.glob, bears that folders vanish while it looks.
        for folder, _, _ in os.walk(mount / name.lstrip("/")):
            with contextlib.suppress(OSError):
                pids.update(int(pid) for pid in Path(folder, "cgroup.procs").read_text().split())
    return pids - {0}


def kill(name: str, timeout: float = 20) -> None:
    """Kill everything in the cgroup until it is empty; ClusterError ProcessesRemain."""

    def emptied() -> bool:
        found = processes(name)
        kill_all(found)
        return not found

    if not wait_until(emptied, timeout):
        raise ClusterError(
            "ProcessesRemain",
            f"processes {sorted(processes(name))} in cgroup {name} do not die",
            "look at them with ps; a process in state D waits for a device",
        )


def remove(name: str) -> None:
    """Remove the cgroup and all below it, deepest first."""
    for folder in existing(name):
        for child in sorted(folder.glob("**/"), key=lambda path: -len(path.parts)):
            # The kernel empties a cgroup a moment after its last process is gone.
            wait_until(lambda path=child: _removed(path), timeout=5)  # type: ignore[misc]


def existing(name: str) -> list[Path]:
    """The cgroup's folders that exist."""
    folders = [mount / name.lstrip("/") for mount in _mounts()]
    return [folder for folder in folders if folder.is_dir()]


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _delegate(folder: Path) -> None:
    offered = (folder / "cgroup.controllers").read_text().split()
    wanted = " ".join(f"+{name}" for name in REQUIRED_V2 if name in offered)
    (folder / "cgroup.subtree_control").write_text(wanted)


def _mounts() -> list[Path]:
    return hierarchies(Path("/proc/self/mountinfo").read_text())
