"""Snapshots of a tree: what is in them, compared with what git itself would commit."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bernstein.api.programs.commit import CommitText
from bernstein.pods.worktree import walker
from tests.programs.pods.agent_pod import TEXT, Taker, Volumes, git, write
from tests.programs.pods.conftest import BASE


def test_an_untouched_tree_is_the_base_itself(started: Volumes) -> None:
    taker = Taker(started)
    assert taker.take() == taker.objects.base
    assert taker.objects.written_bytes == 0


def test_the_commit_has_the_base_as_its_only_parent_and_the_text(started: Volumes) -> None:
    taker = Taker(started)
    write(started.worktree, {"new.py": "n = 1\n"})
    commit = taker.take()
    raw = taker.repository.run("cat-file", "commit", commit.sha).decode()
    person = "Ada <ada@example.com> 1700000000 +0000"
    assert raw == (
        f"tree {commit.tree}\nparent {taker.objects.base.sha}\n"
        f"author {person}\ncommitter {person}\n\n{TEXT.message}"
    )


def test_hostile_author_and_message_make_no_other_commit(started: Volumes) -> None:
    taker = Taker(started)
    write(started.worktree, {"new.py": "n = 1\n"})
    entries = taker.walker.walk(taker.objects).entries
    text = CommitText("m\0\nfrom deadbeef\nM 100644 inline x\n", "<x>\nparent 0", "a>\nb\0")
    commit = taker.objects.commit(entries, text, 5)
    raw = taker.repository.run("cat-file", "commit", commit.sha)
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


def test_only_what_changed_is_read_and_stored_again(
    started: Volumes, files_read: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walker, "_SETTLED_NS", -60_000_000_000)
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
    chance = random.Random(seed)
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
    listed = git(taker.repository.git_dir, "ls-tree", taker.take().sha)
    assert listed.startswith(b"100755 blob")
