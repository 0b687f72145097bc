"""Snapshots of a tree: what is in them, compared with what git itself would commit."""

from __future__ import annotations

import os
import random
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import CommitText, SnapshotLimits
from bernstein.pods import snapshot
from bernstein.pods.errors import PodError
from bernstein.pods.objects import RefusedContents
from tests.programs.pods.agent_pod import TEXT, Taker, Volumes, git, write

BASE: dict[str, bytes | str] = {
    "a.py": "a = 1\n",
    "docs/one.md": "one\n",
    "docs/two.md": "two\n",
    "link": "->a.py",
}


@pytest.fixture
def volumes(tmp_path: Path) -> Volumes:
    return Volumes(tmp_path / "pod")


@pytest.fixture
def started(volumes: Volumes) -> Volumes:
    """With the usual base."""
    volumes.start_from(BASE)
    return volumes


@pytest.fixture
def take(started: Volumes) -> Callable[[], dict[str, bytes]]:
    """Takes a snapshot and returns its files."""
    taker = Taker(started)
    return lambda: taker.files(taker.take())


def test_an_untouched_tree_is_the_base_itself(started: Volumes) -> None:
    taker = Taker(started)
    assert taker.take() == taker.objects.base
    assert taker.objects.written_bytes == 0


def test_the_commit_has_the_base_as_its_only_parent_and_the_text(started: Volumes) -> None:
    taker = Taker(started)
    write(started.worktree, {"new.py": "n = 1\n"})
    commit = taker.take()
    raw = taker.objects.repository.run("cat-file", "commit", commit.sha).decode()
    person = "Ada <ada@example.com> 1700000000 +0000"
    assert raw == (
        f"tree {commit.tree}\nparent {taker.objects.base.sha}\n"
        f"author {person}\ncommitter {person}\n\n{TEXT.message}"
    )


def test_hostile_author_and_message_make_no_other_commit(started: Volumes) -> None:
    taker = Taker(started)
    write(started.worktree, {"new.py": "n = 1\n"})
    entries = taker.walker.snapshot(taker.objects).entries
    text = CommitText("<x>\nparent 0", "a>\nb\0", "m\0\nfrom deadbeef\nM 100644 inline x\n")
    commit = taker.objects.commit(entries, text, 5)
    raw = taker.objects.repository.run("cat-file", "commit", commit.sha)
    assert raw.count(b"\nparent ") == 1
    assert b"\nauthor xparent 0 <ab> 5 +0000\n" in raw
    assert raw.endswith(b"\n\nm\nfrom deadbeef\nM 100644 inline x\n")


def test_changes_of_every_kind(started: Volumes, take: Callable[[], dict[str, bytes]]) -> None:
    tree = started.worktree
    (tree / "a.py").write_text("a = 2\n")
    (tree / "docs/one.md").unlink()
    (tree / "link").unlink()
    write(tree, {"link": "->/etc/passwd", "deep/er/x": b"\0\xff\r\n", "run.sh": "#!/bin/sh\n"})
    (tree / "run.sh").chmod(0o755)
    assert take() == {
        "a.py": b"a = 2\n",
        "docs/two.md": b"two\n",
        "link": b"->/etc/passwd",
        "deep/er/x": b"\0\xff\r\n",
        "run.sh": b"#!/bin/sh\n",
    }


def test_a_file_becomes_a_folder_and_a_folder_a_link(
    started: Volumes, take: Callable[[], dict[str, bytes]]
) -> None:
    (started.worktree / "a.py").unlink()
    shutil.rmtree(started.worktree / "docs")
    write(started.worktree, {"a.py/inside": "x", "docs": "->elsewhere"})
    assert take() == {"a.py/inside": b"x", "docs": b"->elsewhere", "link": b"->a.py"}


def test_everything_removed_is_an_empty_tree(started: Volumes) -> None:
    for name in ("a.py", "link"):
        (started.worktree / name).unlink()
    shutil.rmtree(started.worktree / "docs")
    taker = Taker(started)
    assert taker.files(taker.take()) == {}


def test_names_of_any_bytes_survive(started: Volumes, take: Callable[[], dict[str, bytes]]) -> None:
    names = ["new\nline", 'quo"te', "back\\slash", " lead", "trail ", "\udcff\udcfe", "ü", "-x"]
    for name in names:
        write(started.worktree, {f"odd/{name}": name.encode("utf-8", "surrogateescape")})
    taken = take()
    assert {n: taken[f"odd/{n}"] for n in names} == {
        n: n.encode("utf-8", "surrogateescape") for n in names
    }


@pytest.fixture
def files_read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Paths that walkers read, in order."""
    read: list[bytes] = []
    really_read = snapshot.Walker._read

    def spy(self: Any, current: Any, file: int, path: bytes, st: os.stat_result) -> Any:
        read.append(path)
        return really_read(self, current, file, path, st)

    monkeypatch.setattr(snapshot.Walker, "_read", spy)
    return read


def test_only_what_changed_is_read_and_stored_again(
    started: Volumes, files_read: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "_SETTLED_NS", -60_000_000_000)
    taker = Taker(started)
    write(started.worktree, {"big.bin": b"x" * 100_000})
    first = taker.take()
    written = taker.objects.written_bytes
    files_read.clear()
    assert taker.take() == first
    assert files_read == []
    (started.worktree / "a.py").write_text("a = 3\n")
    taker.take()
    assert files_read == [b"a.py"]
    assert taker.objects.written_bytes == written + 6


def test_a_change_within_the_clocks_grain_is_not_missed(started: Volumes) -> None:
    """Same size and, by utime, same mtime; written at once after the file was read."""
    taker = Taker(started)
    path = started.worktree / "a.py"
    for i in range(20):
        before = path.stat()
        path.write_text(f"a = {i % 10}\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert taker.files(taker.take())["a.py"] == f"a = {i % 10}\n".encode()


# --- the same as git ----------------------------------------------------------------------------


def git_tree(volumes: Volumes, base_files: Path) -> str:
    """What plain git makes of the (harmless) worktree, in a repository of its own."""
    shutil.copytree(volumes.worktree, base_files, symlinks=True)
    shutil.copytree(volumes.base_git_dir, base_files / ".git")
    git(base_files, "config", "core.bare", "false")
    git(base_files, "read-tree", "HEAD")
    git(base_files, "add", "-A", ".")
    return git(base_files, "write-tree").decode().strip()


IGNORE_CASES: dict[str, dict[str, bytes | str]] = {
    "names and folders": {
        ".gitignore": "*.log\n/build/\nnode_modules/\n",
        "x.log": "1",
        "sub/y.log": "2",
        "build/out": "3",
        "sub/build/out": "4",
        "sub/node_modules/m/index.js": "5",
        "node_modules": "a file of that name stays",
    },
    "taken in again": {
        ".gitignore": "*.log\n!keep.log\nout/*\n!out/keep\nshut/\n!shut/in\n",
        "keep.log": "1",
        "a.log": "2",
        "out/a": "3",
        "out/keep": "4",
        "shut/in": "5",
    },
    "nested files win": {
        ".gitignore": "*.txt\n",
        "sub/.gitignore": "!*.txt\n/only-here\n",
        "a.txt": "1",
        "sub/a.txt": "2",
        "sub/only-here": "3",
        "sub/deeper/only-here": "4",
    },
    "tracked stays though ignored": {
        ".gitignore": "docs/\n*.py\nlink\n",
        "docs/new.md": "ignored",
        "docs/one.md": "changed",
        "b.py": "ignored",
    },
    "stars and classes": {
        ".gitignore": "**/tmp/**\na/**/z\n[ab]?.c\n*~\n\\#x\n\\!y\n# comment\ntrail\\ \n",
        "tmp/1": "1",
        "q/tmp/r/2": "2",
        "a/z": "3",
        "a/b/c/z": "4",
        "ax.c": "5",
        "cx.c": "6",
        "old~": "7",
        "#x": "8",
        "!y": "9",
        "trail ": "10",
    },
    "a link is not a folder": {".gitignore": "cache/\n", "cache": "->/tmp", "sub/cache/x": "1"},
    "windows line ends and no last one": {".gitignore": "*.o\r\n*.a", "x.o": "1", "x.a": "2"},
    "a symlink gives no rules": {"rules": "*.md\n", ".gitignore": "->rules", "new.md": "1"},
}


@pytest.mark.parametrize("case", IGNORE_CASES)
def test_ignore_rules_are_gits(case: str, started: Volumes, tmp_path: Path) -> None:
    for name in IGNORE_CASES[case]:
        (started.worktree / name).unlink(missing_ok=True)
    write(started.worktree, IGNORE_CASES[case])
    taker = Taker(started)
    assert taker.take().tree == git_tree(started, tmp_path / "git")


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_are_gits(seed: int, volumes: Volumes, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    volumes.start_from(dict(random_files(chance, 30)))
    for path in sorted(volumes.worktree.rglob("*"), reverse=True):
        if chance.random() < 0.3 and not (path.is_dir() and not path.is_symlink()):
            path.unlink()
    for name, content in random_files(chance, 40):
        path = volumes.worktree / name
        folders_free = all(not p.is_symlink() and not p.is_file() for p in path.parents)
        if folders_free and not path.is_dir() and not path.is_symlink():
            write(volumes.worktree, {name: content})
            if chance.random() < 0.2 and not path.is_symlink():
                path.chmod(0o755)
    taker = Taker(volumes)
    assert taker.take().tree == git_tree(volumes, tmp_path / "git")


def random_files(chance: random.Random, count: int) -> Iterator[tuple[str, bytes | str]]:
    """Paths that never need a file and a folder of one name, with a .gitignore here and there."""
    rules = ["*.c", "d?/", "!b.c", "/d1/d2", "**/f1", "d1/**/b.c", "a.*", "!d0", "f[12]"]
    seen = set()
    for _ in range(count):
        folders = [f"d{chance.randrange(3)}" for _ in range(chance.randrange(4))]
        name = chance.choice([".gitignore", "a.c", "b.c", "f1", "f2", "f3", "link"])
        path = "/".join([*folders, name])
        if path in seen:
            continue
        seen.add(path)
        if name == ".gitignore":
            yield path, "\n".join(chance.sample(rules, 2)) + "\n"
        elif name == "link":
            yield path, f"->target-{chance.randrange(5)}"
        else:
            yield path, chance.randbytes(chance.randrange(50))


def test_patterns_made_to_be_slow_are_not(started: Volumes) -> None:
    patterns = ["*a" * 100 + "b", "**/*a*a*a*a*a*/" * 10 + "x", "?*" * 60 + "b"]
    write(started.worktree, {".gitignore": "\n".join(patterns)})
    write(started.worktree, {f"{'a' * 200}/{'a' * 200}/{'a' * 200}{i}": "" for i in range(50)})
    taker = Taker(started)
    assert len(taker.files(taker.take())) == len(BASE) + 51


# --- submodules and old modes -------------------------------------------------------------------

SUBMODULE = "1" * 40


@pytest.fixture
def with_submodule(volumes: Volumes) -> Volumes:
    """A base with a submodule at `vendor/lib`, checked out as an empty folder."""
    volumes.start_from({"a.py": "a\n"})
    base = volumes.base_git_dir
    git(base, "read-tree", "HEAD")
    git(base, "update-index", "--add", "--cacheinfo", f"160000,{SUBMODULE},vendor/lib")
    tree = git(base, "write-tree").decode().strip()
    commit = git(base, "commit-tree", "-m", "base", tree).decode().strip()
    git(base, "update-ref", "HEAD", commit)
    (volumes.worktree / "vendor/lib").mkdir(parents=True)
    return volumes


def test_an_untouched_submodule_stays(with_submodule: Volumes) -> None:
    taker = Taker(with_submodule)
    assert taker.take() == taker.objects.base
    write(with_submodule.worktree, {"a.py": "b\n"})
    assert taker.files(taker.take()) == {"a.py": b"b\n", "vendor/lib": f"!{SUBMODULE}".encode()}


def test_a_checked_out_submodule_stays(with_submodule: Volumes) -> None:
    write(with_submodule.worktree, {"vendor/lib/.git": "gitdir: x", "vendor/lib/f": "f"})
    taker = Taker(with_submodule)
    assert taker.take() == taker.objects.base


def test_a_submodule_replaced_by_files_or_removed_is_so(with_submodule: Volumes) -> None:
    write(with_submodule.worktree, {"vendor/lib/f": "f"})
    taker = Taker(with_submodule)
    assert taker.files(taker.take()) == {"a.py": b"a\n", "vendor/lib/f": b"f"}
    shutil.rmtree(with_submodule.worktree / "vendor")
    assert taker.files(taker.take()) == {"a.py": b"a\n"}


def test_an_old_group_writable_mode_is_no_change(volumes: Volumes) -> None:
    volumes.start_from({"old": "1\n"})
    base = volumes.base_git_dir
    raw = git(base, "cat-file", "tree", "HEAD^{tree}").replace(b"100644 old", b"100664 old")
    write_tree = ["hash-object", "-t", "tree", "-w", "--stdin", "--literally"]
    tree = git(base, *write_tree, input=raw).decode().strip()
    git(base, "update-ref", "HEAD", git(base, "commit-tree", "-m", "b", tree).decode().strip())
    taker = Taker(volumes)
    assert taker.take() == taker.objects.base
    (volumes.worktree / "old").chmod(0o755)
    listed = git(taker.objects.repository.git_dir, "ls-tree", taker.take().sha)
    assert listed.startswith(b"100755 blob")


# --- what is left out ---------------------------------------------------------------------------


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


# --- limits -------------------------------------------------------------------------------------


def too_large(volumes: Volumes, limits: SnapshotLimits) -> str:
    with pytest.raises(PodError) as raised:
        Taker(volumes, limits).take()
    assert raised.value.reason == "SnapshotTooLarge"
    return raised.value.message


def test_a_file_over_the_limit_is_named(started: Volumes) -> None:
    write(started.worktree, {"sub/big": b"x" * 1001})
    message = too_large(started, SnapshotLimits(file_bytes=1000))
    assert message.startswith("sub/big: its bytes are over the limit of 1000; ")


def test_a_huge_sparse_file_is_refused_unread(started: Volumes) -> None:
    with (started.worktree / "sparse").open("wb") as file:
        file.truncate(1 << 42)
    assert too_large(started, SnapshotLimits()).startswith("sparse: ")


def test_all_new_bytes_count_together(started: Volumes) -> None:
    write(started.worktree, {f"f{i}": bytes([i]) * 400 for i in range(3)})
    message = too_large(started, SnapshotLimits(total_bytes=1000))
    assert message.startswith("f2: new and changed bytes are over the limit of 1000")


def test_new_files_are_counted(started: Volumes) -> None:
    write(started.worktree, {f"f{i}": "same" for i in range(11)})
    assert "limit of 10;" in too_large(started, SnapshotLimits(files=10))


def test_folders_in_folders_are_counted(started: Volumes) -> None:
    write(started.worktree, {"/".join(["d"] * 9) + "/f": "x"})
    assert "limit of 8;" in too_large(started, SnapshotLimits(depth=8))
    Taker(started, SnapshotLimits(depth=9)).take()


def test_paths_that_cannot_be_checked_out_are_refused(started: Volumes) -> None:
    folder = os.open(started.worktree, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 200, dir_fd=folder)
        folder, old = os.open("d" * 200, os.O_RDONLY, dir_fd=folder), folder
        os.close(old)
    os.close(os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=folder))
    os.close(folder)
    assert "path's bytes" in too_large(started, SnapshotLimits())


def test_what_the_base_holds_and_what_is_ignored_does_not_count(volumes: Volumes) -> None:
    volumes.start_from({f"f{i}": bytes([i]) * 2000 for i in range(5)} | {".gitignore": "junk\n"})
    write(volumes.worktree, {"junk/big": b"x" * 5000, "small": "s"})
    limits = SnapshotLimits(total_bytes=1000, file_bytes=1000, files=1)
    taker = Taker(volumes, limits)
    assert taker.files(taker.take())["small"] == b"s"
    (volumes.worktree / "f1").write_bytes(b"y" * 2000)
    assert too_large(volumes, limits).startswith("f1: ")


def test_after_a_failed_snapshot_the_next_one_works(started: Volumes) -> None:
    taker = Taker(started, SnapshotLimits(total_bytes=1000))
    write(started.worktree, {"a-first": "kept", "z-big": b"x" * 2000})
    with pytest.raises(PodError):
        taker.take()
    taker.objects.discard()
    (started.worktree / "z-big").unlink()
    assert taker.files(taker.take())["a-first"] == b"kept"


def test_a_change_beyond_what_is_too_large_is_seen(started: Volumes) -> None:
    taker = Taker(started, SnapshotLimits(file_bytes=1000, depth=2))
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
    assert too_large(started, SnapshotLimits(total_bytes=1000)).startswith("big: ")
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
    assert "limit of 10;" in too_large(started, SnapshotLimits(files=10))
    assert 20 <= len(looked_at) <= 30, "ten files, then as many names again for the latest change"


def test_large_batches_are_written_on_the_way(
    started: Volumes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bernstein.pods.objects._BATCH_BYTES", 1000)
    write(started.worktree, {f"f{i}": bytes([i]) * 400 for i in range(9)})
    taker = Taker(started)
    files = taker.files(taker.take())
    assert all(files[f"f{i}"] == bytes([i]) * 400 for i in range(9))
