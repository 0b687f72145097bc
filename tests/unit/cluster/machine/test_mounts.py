from __future__ import annotations

from pathlib import Path

from tests.cluster.machine.mounts import below


def mountinfo(*points: str) -> str:
    return "\n".join(f"22 1 0:20 / {point} rw - tmpfs tmpfs rw" for point in points)


def test_deepest_mount_comes_first() -> None:
    text = mountinfo("/a/state", "/a/state/pods/x/volume", "/a/state/pods")
    assert below([Path("/a/state")], text) == [
        "/a/state/pods/x/volume",
        "/a/state/pods",
        "/a/state",
    ]


def test_sibling_with_the_same_prefix_is_somebody_elses() -> None:
    assert below([Path("/a/state")], mountinfo("/a/state-2", "/a", "/b")) == []


def test_point_mounted_twice_is_listed_twice() -> None:
    assert below([Path("/a")], mountinfo("/a/x", "/a/x")) == ["/a/x", "/a/x"]


def test_spaces_in_names_are_decoded() -> None:
    assert below([Path("/a b")], mountinfo("/a\\040b/c")) == ["/a b/c"]
