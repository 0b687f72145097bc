"""Attacks from the agent's side; each is first seen to work where our protection is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bernstein import agents
from bernstein.api.pod import RecorderResult
from bernstein.pods.programs import recorder
from bernstein.pods.worktree.objects import Objects
from tests.programs.pods.agent_pod import Taker, Volumes, git, write

pytestmark = pytest.mark.verification

SECRET = b"the secret of another volume"
SNAPSHOTS = 50
PATIENCE = 120
"""Seconds for what has to come in the end, since the swaps fall in between again and again: an
unprotected `git add` leaks in about one try of seven."""

SWAPPER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	while (argc == 3)
		syscall(SYS_renameat2, AT_FDCWD, argv[1], AT_FDCWD, argv[2], 2 /* RENAME_EXCHANGE */);
	return 1;
}
"""


@pytest.fixture
def volumes(tmp_path: Path) -> Volumes:
    volumes = Volumes(tmp_path / "pod")
    volumes.start_from({"a.py": "a = 1\n", "data/inner/one": "1\n", "data/inner/two": "2\n"})
    return volumes


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A folder that the trusted container can read and the agent can only point at."""
    folder = tmp_path / "secret"
    write(folder, {"inner/one": SECRET, "inner/two": SECRET, "one": SECRET})
    return folder


class Payload:
    """A program that leaves a mark of its own when anybody runs it."""

    def __init__(self, folder: Path, name: str = "payload") -> None:
        self.mark = folder / f"{name}.mark"
        self.program = folder / name
        self.program.write_text(f"#!/bin/sh\necho ran >>{self.mark}\ncat\n")
        self.program.chmod(0o755)

    def fired(self) -> bool:
        """Whether it ran since the last question."""
        ran = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return ran


@pytest.fixture
def payload(tmp_path: Path) -> Payload:
    return Payload(tmp_path)


def plain_snapshot(volumes: Volumes) -> bytes:
    """What a careless recorder does: git, with a git directory of its own and hooks off."""
    own = volumes.root / "careless.git"
    if not own.exists():
        shutil.copytree(volumes.base_git_dir, own)
        git(own, "config", "core.bare", "false")
    where = [
        f"--git-dir={own}",
        f"--work-tree={volumes.worktree}",
        "-c",
        "core.hooksPath=/dev/null",
    ]
    git(volumes.root, *where, "add", "-A", ".", check=False)
    return own_objects(own)


def own_objects(git_dir: Path) -> bytes:
    """Contents of all blobs in a repository."""
    listed = git(git_dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return git(git_dir, "cat-file", "--batch", input=listed)


# --- git in the tree ----------------------------------------------------------------------------


def nested(volumes: Volumes, payload: Payload, setting: str) -> Path:
    """A repository of the agent's in the worktree, with a setting that names the payload."""
    inner = volumes.worktree / "sub"
    write(inner, {"kept.txt": "kept\n", ".gitattributes": "*.txt filter=x\n"})
    git(inner, "init", "-q", ".")
    git(inner, "add", "kept.txt")
    git(inner, "commit", "-q", "-m", "inner")
    git(inner, "config", setting, str(payload.program))
    return inner


@pytest.mark.parametrize("setting", ["core.fsmonitor", "filter.x.clean"])
def test_a_nested_repository_runs_nothing_and_keeps_its_contents(
    volumes: Volumes, payload: Payload, setting: str
) -> None:
    inner = nested(volumes, payload, setting)

    def two_checkpoints(take: Callable[[], object]) -> None:
        take()
        write(inner, {"kept.txt": "edit\n"})  # of the same size, or git need not read it
        os.utime(inner / "kept.txt", ns=(0, 0))
        take()

    payload.fired()
    two_checkpoints(lambda: plain_snapshot(volumes))
    assert payload.fired(), "git add executes what the nested repository names"

    taker = Taker(volumes)
    two_checkpoints(taker.take)
    assert not payload.fired()
    files = taker.files(taker.take())
    assert files["sub/kept.txt"] == b"edit\n"
    assert not [name for name in files if ".git/" in name]


def test_the_trees_own_repository_runs_nothing(volumes: Volumes, tmp_path: Path) -> None:
    hook, monitor = Payload(tmp_path, "hook"), Payload(tmp_path, "monitor")
    tree = volumes.worktree
    git(tree, "init", "-q", ".")
    (tree / ".git/hooks").mkdir(exist_ok=True)
    shutil.copy(hook.program, tree / ".git/hooks/pre-commit")
    git(tree, "config", "core.fsmonitor", str(monitor.program))
    git(tree, "add", "-A")
    assert monitor.fired(), "git in the tree executes the monitor"
    git(tree, "commit", "-q", "-m", "x")
    assert hook.fired(), "and the hook"
    monitor.fired()
    taker = Taker(volumes)
    assert taker.take() == taker.objects.base
    assert not hook.fired()
    assert not monitor.fired()


def test_a_committed_bare_repository_is_only_files(volumes: Volumes, payload: Payload) -> None:
    trap = volumes.worktree / "trap"
    git(volumes.root, "init", "-q", "--bare", str(trap))
    for name, value in {
        "bare": "false",
        "worktree": str(trap),
        "fsmonitor": payload.program,
    }.items():
        git(trap.parent, "config", "--file", str(trap / "config"), f"core.{name}", str(value))
    git(trap, "status", check=False)
    assert payload.fired(), "git executes it when its current directory is inside"
    taker = Taker(volumes)
    commit = taker.take()
    taker.objects.pack(commit)
    assert not payload.fired()
    assert {"trap/HEAD", "trap/config"} <= set(taker.files(commit))


CONVERSIONS = {
    "*.txt text eol=crlf\n": b"one\r\ntwo\r\n",
    "*.txt ident\n": b"$Id: forged$\n",
    "*.txt working-tree-encoding=UTF-16LE\n": "text\n".encode("utf-16-le"),
}


@pytest.mark.parametrize("attributes", CONVERSIONS)
def test_attributes_change_no_byte(volumes: Volumes, attributes: str) -> None:
    data = CONVERSIONS[attributes]
    write(volumes.worktree, {".gitattributes": attributes, "file.txt": data})
    assert b"\n" + data + b"\n" not in plain_snapshot(volumes), "git add converts"
    taker = Taker(volumes)
    assert taker.files(taker.take())["file.txt"] == data


def test_attributes_hide_nothing_from_the_count_of_changes(volumes: Volumes) -> None:
    planted = "password = 'planted'\n"
    write(volumes.worktree, {".gitattributes": "*.py -diff\n", "a.py": "a = 1\n" + planted})
    taker = Taker(volumes)
    commit = taker.take()
    compare = ["diff", taker.objects.base.sha, commit.sha, "--", "a.py"]
    careless = volumes.root / "clone.git"
    git(volumes.root, "clone", "-q", "--bare", str(volumes.base_git_dir), str(careless))
    pack = taker.objects.pack(commit)
    git(careless, "unpack-objects", "-q", input=pack.read_bytes())
    index = {"GIT_INDEX_FILE": str(volumes.root / "index")}
    where = [f"--git-dir={careless}", "-c", "core.bare=false", "--work-tree=."]
    shown = git(volumes.worktree, *where, *compare)
    assert b"Binary files" in shown, "git diff shows nothing of it"
    repository = taker.repository
    repository.run("read-tree", commit.sha, env=index)
    assert planted.encode() in repository.run(*compare, env=index)


# --- links in place of folders ------------------------------------------------------------------


@pytest.fixture(scope="session")
def swapper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swapper")
    (folder / "swap.c").write_text(SWAPPER)
    subprocess.run(["gcc", "-O2", "-o", "swap", "swap.c"], cwd=folder, check=True)
    return folder / "swap"


@pytest.fixture
def swapping(
    swapper: Path, volumes: Volumes, secret: Path, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """`data` in the worktree is now a folder, now a link to the secret, without a pause."""
    link = volumes.worktree / "link"
    link.symlink_to(secret)
    process = subprocess.Popen([swapper, str(volumes.worktree / "data"), str(link)])
    yield process
    process.kill()
    process.wait()


def test_a_folder_swapped_for_a_link_leaks_nothing(
    volumes: Volumes, swapping: subprocess.Popen[bytes]
) -> None:
    deadline = time.monotonic() + PATIENCE
    tries = 0
    while SECRET not in plain_snapshot(volumes):
        tries += 1
        assert time.monotonic() < deadline, "the attack does not work: this test shows nothing"
        write(volumes.worktree, {f"new-{tries % 7}": f"{tries}\n"})
        (volumes.root / "careless.git" / "index").unlink(missing_ok=True)

    taker = Taker(volumes)
    deadline = time.monotonic() + PATIENCE
    seen: list[bool] = []
    while len(seen) < SNAPSHOTS or len(set(seen)) < 2:
        assert time.monotonic() < deadline, "no swap fell between two snapshots"
        write(volumes.worktree, {"new": f"{len(seen)}\n"})
        taker.take()
        seen.append(b"data/inner/one" in taker.last.entries)
    assert swapping.poll() is None
    assert SECRET not in own_objects(volumes.recorder / "repo.git")


def test_a_replaced_root_is_not_looked_at(volumes: Volumes, secret: Path) -> None:
    taker = Taker(volumes)
    volumes.worktree.rename(volumes.root / "moved")
    volumes.worktree.symlink_to(secret)
    assert SECRET in plain_snapshot(volumes), "git follows it"
    assert taker.take() == taker.objects.base
    write(volumes.root / "moved", {"still.py": "seen\n"})
    assert taker.files(taker.take())["still.py"] == b"seen\n"


def test_links_are_committed_as_links(volumes: Volumes, secret: Path) -> None:
    write(volumes.worktree, {"link": f"->{secret}/one", "folder": f"->{secret}"})
    taker = Taker(volumes)
    files = taker.files(taker.take())
    assert files["link"] == f"->{secret}/one".encode()
    assert files["folder"] == f"->{secret}".encode()
    assert SECRET not in own_objects(volumes.recorder / "repo.git")


def test_rules_are_not_read_through_a_link(volumes: Volumes, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("*.py\n")
    write(volumes.worktree, {".gitignore": f"->{tmp_path}/rules", "b.py": "b\n"})
    taker = Taker(volumes)
    assert "b.py" in taker.files(taker.take())


# --- forged words -------------------------------------------------------------------------------


def record(volumes: Volumes) -> RecorderResult:
    """A whole run of the recorder that is ended at once."""
    ended = threading.Event()
    ended.set()
    beside = recorder.Recorder(volumes.recorder_config(), agents.get("demo").parser())
    try:
        return beside.run(ended)
    finally:
        beside.close()


def test_forged_success_is_no_work(volumes: Volumes) -> None:
    write(
        volumes.stream,
        {
            "stdout.log": json.dumps({"type": "result", "text": "All tests pass."}),
            "exit.json": '{"exitCode": 0, "signal": null, "stopped": false}',
            "result.json": json.dumps({"sha": "f" * 40, "tree": "f" * 40}),
        },
    )
    result = record(volumes)
    assert result.final.outcome == "Succeeded", "the words arrive"
    assert result.sha == result.base, "and change nothing"
    assert result.changed.files == 0


def test_links_in_place_of_the_streams_give_nothing_away(volumes: Volumes, secret: Path) -> None:
    told = json.dumps({"type": "result", "text": SECRET.decode()})
    write(secret, {"record": told, "exit": '{"exitCode": 77}'})
    for name, target in {"stdout.log": "record", "stderr.log": "one", "exit.json": "exit"}.items():
        (volumes.stream / name).symlink_to(secret / target)
    assert (volumes.stream / "stdout.log").read_text() == told
    result = record(volumes)
    assert SECRET.decode() not in repr(result)
    assert "77" not in result.final.message


def test_a_stop_file_of_the_agents_making_is_no_reason(volumes: Volumes) -> None:
    write(volumes.stream, {"stop": ""})
    assert record(volumes).stopped is None


ROLES = {
    "clean": "filter.x.clean",
    "smudge": "filter.x.smudge",
    "textconv": "diff.x.textconv",
    "driver": "merge.x.driver",
    "monitor": "core.fsmonitor",
}


def run_whatever_is_configured(folder: Path, config: str) -> None:
    """git as a careless program uses it: with the tree's attributes and its `.gitconfig`."""
    git(folder, "init", "-q", ".")
    git(folder, "config", "include.path", config)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    for branch in ("one", "two"):
        git(folder, "checkout", "-q", "-b", branch, "HEAD" if branch == "one" else "HEAD^")
        write(folder, {"x.py": f"{branch}\n"})
        git(folder, "commit", "-q", "-a", "-m", branch)
    git(folder, "merge", "-q", "one")
    git(folder, "show", "--textconv", "one")


def test_the_recorders_repository_names_no_program_of_the_tree(
    volumes: Volumes, tmp_path: Path
) -> None:
    """What is committed as data stays data when our own git reads it."""
    payloads = {role: Payload(tmp_path, role) for role in ROLES}
    tree = volumes.worktree
    write(tree, {".gitattributes": "*.py filter=x diff=x merge=x\n", "x.py": "x\n"})
    for role, setting in ROLES.items():
        program = str(payloads[role].program)
        git(tree, "config", "--file", str(tree / ".gitconfig"), setting, program)
    shutil.copytree(tree, tmp_path / "careless")
    run_whatever_is_configured(tmp_path / "careless", str(tree / ".gitconfig"))
    assert {role for role, payload in payloads.items() if payload.fired()} == set(ROLES)

    result = record(volumes)
    Objects(volumes.pusher_git_dir, volumes.base_git_dir)
    assert result.changed.files == 3
    assert not [role for role, payload in payloads.items() if payload.fired()]
