"""What a snapshot leaves out: no files, or files that git would refuse."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bernstein.pods.worktree.objects import RefusedContents
from tests.programs.pods.agent_pod import Taker, Volumes, git, write
from tests.programs.pods.conftest import BASE


def test_fifos_sockets_and_devices_are_left_out(started: Volumes) -> None:
    tree = started.worktree
    os.mkfifo(tree / "fifo")
    os.mkfifo(tree / "docs/fifo")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tree / "socket"))
    server.close()
    left_out = 3
    if os.geteuid() == 0:
        os.mknod(tree / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        left_out += 1
    taker = Taker(started)
    assert taker.take() == taker.objects.base
    assert taker.last.skipped == left_out


def test_a_fifo_in_a_files_place_is_a_removal(started: Volumes) -> None:
    (started.worktree / "a.py").unlink()
    os.mkfifo(started.worktree / "a.py")
    taker = Taker(started)
    assert "a.py" not in taker.files(taker.take())


REFUSED = [
    "git~1",
    "GIT~1",
    ".git ",
    ".git.",
    ".git...",
    ".g\u200cit",
    ".GI\u200dT",
    "\ufeff.git",
    ".git\udcff",
    "a\\.git",
    ".git:x",
    ".git\\x",
    "git~1 . ",
]
REFUSED_AS_LINKS = [
    ".gitmodules",
    ".GITMODULES",
    ".gitmodules ",
    "gitmod~1",
    "GI7EBA~1",
    "gi7eb~10",
    ".gitmod\u200cules",
    "a\\.gitmodules",
]


@pytest.mark.parametrize("name", [*REFUSED, *(f"->{name}" for name in REFUSED_AS_LINKS)])
def test_names_that_git_refuses_are_left_out(name: str, started: Volumes, tmp_path: Path) -> None:
    refused = name.removeprefix("->")
    content = "->a.py" if name.startswith("->") else "x"
    write(started.worktree, {refused: content, f"sub/{refused}": content, "good": "g"})
    assert fsck_refuses(tmp_path / "plain.git", refused, content), "git would have taken it"
    taker = Taker(started)
    commit = taker.take()
    assert set(taker.files(commit)) == {*BASE, "good"}
    assert taker.last.skipped == 2
    taker.objects.pack(commit)


def fsck_refuses(repository: Path, name: str, content: str) -> bool:
    """Whether a strict check refuses a tree with this name."""
    subprocess.run(["git", "init", "-q", "--bare", str(repository)], check=True)
    target = content.removeprefix("->").encode()
    blob = git(repository, "hash-object", "-w", "--stdin", input=target).decode().strip()
    mode = "120000" if content.startswith("->") else "100644"
    entry = f"{mode} {name}\0".encode("utf-8", "surrogateescape") + bytes.fromhex(blob)
    args = ["hash-object", "-t", "tree", "-w", "--stdin", "--literally"]
    tree = git(repository, *args, input=entry).decode().strip()
    commit = git(repository, "commit-tree", "-m", "m", tree).decode().strip()
    git(repository, "update-ref", "refs/heads/main", commit)
    done = subprocess.run(
        ["git", "fsck", "--strict"], cwd=repository, capture_output=True, check=False
    )
    return done.returncode != 0


def test_git_folders_in_any_case_are_never_entered(started: Volumes) -> None:
    hidden = {f"n{i}/{name}/config": "secret" for i, name in enumerate((".git", ".GIT", ".giT"))}
    write(started.worktree, {**hidden, "n0/kept": "k", ".git": "gitdir: /elsewhere\n"})
    taker = Taker(started)
    assert set(taker.files(taker.take())) == {*BASE, "n0/kept"}


def test_names_like_git_that_are_fine_are_kept(
    started: Volumes, take: Callable[[], dict[str, bytes]]
) -> None:
    names = {".gitignore", ".gitattributes", ".github/w.yml", ".gitx", "git", "git~", "git~12"}
    write(started.worktree, dict.fromkeys(names, ""))
    assert set(take()) == {*BASE, *names}


BAD_GITMODULES = '[submodule "x"]\n\tpath = x\n\turl = -uhostile\n'


def test_contents_that_git_refuses_are_left_out_and_the_bases_kept(volumes: Volumes) -> None:
    good = '[submodule "x"]\n\tpath = x\n\turl = https://example.com/x\n'
    volumes.start_from({".gitmodules": good, "a.py": "a\n"})
    long_line = f"*.py {'x' * 3000}\n"
    write(volumes.worktree, {".gitmodules": BAD_GITMODULES, ".gitattributes": long_line, "b": "b"})
    taker = Taker(volumes)
    for _ in range(2):
        with pytest.raises(RefusedContents) as refused:
            taker.objects.pack(taker.take())
        taker.walker.refuse(refused.value.object_ids)
    commit = taker.take()
    taker.objects.pack(commit)
    assert taker.files(commit) == {".gitmodules": good.encode(), "a.py": b"a\n", "b": b"b"}
    assert taker.last.skipped == 2


CHECKED = [
    ".gitmodules",
    ".GITMODULES ",
    "gitmod~1",
    "gi7eb~12",
    ".gitmod\u200cules",
    ".gitattributes",
    ".GITATTRIBUTES.",
    "GITATT~4",
    "gi7d29~1",
    ".gitattribut\u200ces",
]


@pytest.mark.parametrize("name", CHECKED)
def test_names_whose_contents_git_checks_can_be_left_out(
    name: str, volumes: Volumes, tmp_path: Path
) -> None:
    content = f"*.py {'x' * 3000}\n" if "att" in name.lower() or "7d" in name else BAD_GITMODULES
    assert fsck_refuses(tmp_path / "plain.git", name, content), "git would have taken it"
    volumes.start_from({"a.py": "a\n", f"kept/{name}": "# the base's\n"})
    write(volumes.worktree, {name: content, f"kept/{name}": content, "gitatt": "x", "b": "b"})
    taker = Taker(volumes)
    taker.walker.refuse_checked_names()
    commit = taker.take()
    assert taker.files(commit) == {
        "a.py": b"a\n",
        "b": b"b",
        "gitatt": b"x",
        f"kept/{name}": b"# the base's\n",
    }
    assert taker.last.skipped == 2
    taker.objects.pack(commit)
