"""Trees over the limits: refused with their reason, and at little cost."""

from __future__ import annotations

import os
from typing import Any

import pytest

from bernstein.api.pod import TreeLimits
from bernstein.pods.errors import PodError
from tests.programs.pods.agent_pod import Taker, Volumes, write


def too_large(volumes: Volumes, limits: TreeLimits) -> str:
    with pytest.raises(PodError) as raised:
        Taker(volumes, limits).take()
    assert raised.value.reason == "SnapshotTooLarge"
    return raised.value.message


def test_a_file_over_the_limit_is_named(started: Volumes) -> None:
    write(started.worktree, {"sub/big": b"x" * 1001})
    message = too_large(started, TreeLimits(file_bytes=1000))
    assert message.startswith("sub/big: its bytes are over the limit of 1000; ")


def test_a_huge_sparse_file_is_refused_unread(started: Volumes) -> None:
    with (started.worktree / "sparse").open("wb") as file:
        file.truncate(1 << 42)
    assert too_large(started, TreeLimits()).startswith("sparse: ")


def test_all_new_bytes_count_together(started: Volumes) -> None:
    write(started.worktree, {f"f{i}": bytes([i]) * 400 for i in range(3)})
    message = too_large(started, TreeLimits(total_bytes=1000))
    assert message.startswith("f2: new and changed bytes are over the limit of 1000")


def test_new_files_are_counted(started: Volumes) -> None:
    write(started.worktree, {f"f{i}": "same" for i in range(11)})
    assert "limit of 10;" in too_large(started, TreeLimits(files=10))


def test_folders_in_folders_are_counted(started: Volumes) -> None:
    write(started.worktree, {"/".join(["d"] * 9) + "/f": "x"})
    assert "limit of 8;" in too_large(started, TreeLimits(depth=8))
    Taker(started, TreeLimits(depth=9)).take()


def test_paths_that_cannot_be_checked_out_are_refused(started: Volumes) -> None:
    folder = os.open(started.worktree, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 200, dir_fd=folder)
        folder, old = os.open("d" * 200, os.O_RDONLY, dir_fd=folder), folder
        os.close(old)
    os.close(os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=folder))
    os.close(folder)
    assert "path's bytes" in too_large(started, TreeLimits())


def test_what_the_base_holds_and_what_is_ignored_does_not_count(volumes: Volumes) -> None:
    volumes.start_from({f"f{i}": bytes([i]) * 2000 for i in range(5)} | {".gitignore": "junk\n"})
    write(volumes.worktree, {"junk/big": b"x" * 5000, "small": "s"})
    limits = TreeLimits(total_bytes=1000, file_bytes=1000, files=1)
    taker = Taker(volumes, limits)
    assert taker.files(taker.take())["small"] == b"s"
    (volumes.worktree / "f1").write_bytes(b"y" * 2000)
    assert too_large(volumes, limits).startswith("f1: ")


def test_after_a_failed_snapshot_the_next_one_works(started: Volumes) -> None:
    taker = Taker(started, TreeLimits(total_bytes=1000))
    write(started.worktree, {"a-first": "kept", "z-big": b"x" * 2000})
    with pytest.raises(PodError):
        taker.take()
    taker.objects.discard()
    (started.worktree / "z-big").unlink()
    assert taker.files(taker.take())["a-first"] == b"kept"


def test_a_change_beyond_what_is_too_large_is_seen(started: Volumes) -> None:
    taker = Taker(started, TreeLimits(file_bytes=1000, depth=2))
    write(started.worktree, {"big": b"x" * 1001, "d/e/f/g": "too deep"})
    with pytest.raises(PodError, match="big: "):
        taker.take()
    before = taker.walker.latest_change
    write(started.worktree, {"z.py": "z = 1\n"})
    change = (started.worktree / "z.py").stat().st_ctime_ns
    with pytest.raises(PodError, match="big: "):
        taker.take()
    assert before < change <= taker.walker.latest_change


def test_beyond_what_is_too_large_nothing_is_read(
    started: Volumes, files_read: list[bytes]
) -> None:
    write(started.worktree, {"big": b"x" * 1001, "z.py": "z = 1\n", "zlink": "->z.py"})
    assert too_large(started, TreeLimits(total_bytes=1000)).startswith("big: ")
    assert files_read == [b"a.py", b"big"]


def test_a_tree_of_too_many_files_is_not_walked_to_its_end(
    started: Volumes, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(started.worktree, {f"{folder}/{i}": "x" for folder in "defg" for i in range(20)})
    looked_at: list[str] = []
    really_stat = os.stat

    def spy(name: bytes, **how: Any) -> os.stat_result:
        looked_at.append(os.fsdecode(name))
        return really_stat(name, **how)

    monkeypatch.setattr(os, "stat", spy)
    assert "limit of 10;" in too_large(started, TreeLimits(files=10))
    assert 20 <= len(looked_at) <= 30, "ten files, then as many names again for the latest change"


def test_large_batches_are_written_on_the_way(
    started: Volumes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bernstein.pods.worktree.objects._BATCH_BYTES", 1000)
    write(started.worktree, {f"f{i}": bytes([i]) * 400 for i in range(9)})
    taker = Taker(started)
    files = taker.files(taker.take())
    assert all(files[f"f{i}"] == bytes([i]) * 400 for i in range(9))
