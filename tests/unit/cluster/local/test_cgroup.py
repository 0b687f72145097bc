from __future__ import annotations

from pathlib import Path

from tests.cluster.local.cgroup import hierarchies

PLAIN = "22 1 0:20 / {point} rw,relatime shared:9 - {kind} {kind} rw"


def mountinfo(*mounts: tuple[str, str]) -> str:
    return "\n".join(PLAIN.format(point=point, kind=kind) for point, kind in mounts)


def test_unified_layout_has_one_hierarchy() -> None:
    text = mountinfo(("/", "ext4"), ("/sys/fs/cgroup", "cgroup2"))
    assert hierarchies(text) == [Path("/sys/fs/cgroup")]


def test_hybrid_layout_has_the_unified_one_and_each_controllers() -> None:
    text = mountinfo(
        ("/sys/fs/cgroup", "tmpfs"),
        ("/sys/fs/cgroup/unified", "cgroup2"),
        ("/sys/fs/cgroup/memory", "cgroup"),
        ("/sys/fs/cgroup/cpu,cpuacct", "cgroup"),
    )
    assert hierarchies(text) == [
        Path("/sys/fs/cgroup/unified"),
        Path("/sys/fs/cgroup/memory"),
        Path("/sys/fs/cgroup/cpu,cpuacct"),
    ]
