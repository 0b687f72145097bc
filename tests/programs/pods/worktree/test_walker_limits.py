"""Trees over the limits: refused with their reason, and at little cost."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import process_time
from typing import Any

import pytest

from bernstein.api.pod import TreeLimits
from bernstein.pods.errors import PodError
from bernstein.pods.worktree.limits import WalkLimits
from tests.programs.pods.agent_pod import Taker, Volumes, write


def too_large(
    volumes: Volumes, limits: TreeLimits | None = None, walks: WalkLimits | None = None
) -> str:
    with pytest.raises(PodError) as raised:
        Taker(volumes, limits, walks).take()
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


BOMBS: dict[str, Callable[[], dict[str, bytes | str]]] = {
    "a hundred thousand rules": lambda: {".gitignore": "".join(f"x{i}\n" for i in range(100_000))},
    "rules of brackets": lambda: {".gitignore": f"{'[!a]*' * 800}\n" * 200},
    "a long rule": lambda: {".gitignore": "[!a]" * 2000},
    "rules in every folder": lambda: {
        f"d{n}/.gitignore": "".join(f"x{i}\n" for i in range(1000)) for n in range(30)
    },
    "rules that match late": lambda: {
        ".gitignore": "".join(f"*a*b*{i}\n" for i in range(15_000)),
        **{f"{'ab' * 60}{n}": "" for n in range(300)},
    },
}
LITTLE = WalkLimits(rule_seconds=0.5)


@pytest.mark.parametrize("bomb", BOMBS)
def test_rules_of_gitignore_take_little_time_or_the_tree_is_too_large(
    started: Volumes, bomb: str
) -> None:
    write(started.worktree, BOMBS[bomb]())
    began = process_time()

    message = too_large(started, walks=LITTLE)

    assert "make them shorter" in message
    assert ".gitignore" in message
    assert process_time() - began < 5


def test_the_bomb_would_go_off_without_a_budget(started: Volumes) -> None:
    without = WalkLimits(rule_seconds=60, rules=10**6)
    bomb = BOMBS["rules that match late"]()
    rules = bomb.pop(".gitignore")
    write(started.worktree, bomb)
    began = process_time()
    Taker(started, TreeLimits(), without).take()
    harmless, began = process_time() - began, process_time()
    write(started.worktree, {".gitignore": rules})

    Taker(started, TreeLimits(), without).take()

    assert process_time() - began > 10 * harmless


def test_after_too_many_rules_activity_is_still_seen(started: Volumes) -> None:
    write(started.worktree, {".gitignore": "a\nb\nc\n", "z.py": ""})
    taker = Taker(started, TreeLimits(), WalkLimits(rules=2))
    with pytest.raises(PodError, match=r"\.gitignore: of all \.gitignore files, rules are over"):
        taker.take()
    change = (started.worktree / "z.py").stat().st_ctime_ns
    assert taker.walker.latest_change >= change


def test_names_are_counted_also_of_folders_and_of_what_is_ignored(started: Volumes) -> None:
    write(started.worktree, {".gitignore": "*.o\n", **{f"f{i}.o": "" for i in range(20)}})
    for number in range(20):
        (started.worktree / f"empty-{number}").mkdir()
    assert "names are over the limit of 30;" in too_large(started, walks=WalkLimits(names=30))
    Taker(started, TreeLimits(), WalkLimits(names=60)).take()
