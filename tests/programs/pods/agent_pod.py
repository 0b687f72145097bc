"""The volumes of an agent pod in a folder, with a base that checkout would have left."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bernstein.api.pod import RecorderConfig, TreeLimits
from bernstein.api.programs.commit import CommitText
from bernstein.places import PACKS
from bernstein.pods.git.client import Git
from bernstein.pods.worktree.limits import WalkLimits
from bernstein.pods.worktree.objects import Commit, Objects
from bernstein.pods.worktree.walker import Tree, Walker
from tests.programs.pods.git_server import plain_env

TEXT = CommitText("Add a thing\n\nTask: one\n", "Ada", "ada@example.com")


def git(folder: Path, *args: str, input: bytes | None = None, check: bool = True) -> bytes:  # noqa: A002
    """stdout of plain git, as anybody would run it in `folder`."""
    done = subprocess.run(
        ["git", *args], cwd=folder, input=input, env=plain_env(), capture_output=True, check=False
    )
    assert not check or done.returncode == 0, done.stderr.decode()
    return done.stdout


def write(folder: Path, files: dict[str, bytes | str]) -> None:
    """Files by path; `->TARGET` makes a symlink."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str) and content.startswith("->"):
            path.symlink_to(content[2:])
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)


def write_whole(folder: Path, files: dict[str, bytes | str]) -> None:
    """As `write`, but every file is there at once: somebody else may look at any moment."""
    partial = folder.with_name(f"{folder.name}.partial")
    write(partial, files)
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (partial / name).replace(folder / name)


@dataclass
class Volumes:
    """Each attribute is the folder of one volume."""

    root: Path

    def __post_init__(self) -> None:
        for name in ("worktree", "base", "recorder", "stream", "control"):
            (self.root / name).mkdir(parents=True)
            setattr(self, name, self.root / name)
        self.packs = self.recorder / PACKS

    worktree: Path = Path()
    base: Path = Path()
    recorder: Path = Path()
    packs: Path = Path()
    """A folder of one, which the recorder makes."""
    stream: Path = Path()
    control: Path = Path()

    @property
    def base_git_dir(self) -> Path:
        return self.base / "repo.git"

    @property
    def pusher_git_dir(self) -> Path:
        return self.base / "pusher.git"

    def recorder_config(self, **changes: Any) -> RecorderConfig:
        """Of a session with the demo agent and without a server to report to."""
        config = RecorderConfig(
            namespace="demo",
            session="task-s1",
            adapter="demo",
            worktree=str(self.worktree),
            base_git_dir=str(self.base_git_dir),
            git_dir=str(self.recorder / "repo.git"),
            stdout=str(self.stream / "stdout.log"),
            stderr=str(self.stream / "stderr.log"),
            exit_record=str(self.stream / "exit.json"),
            start_file=str(self.control / "start"),
            stop_file=str(self.control / "stop"),
            output=str(self.control / "output.log"),
            output_end=str(self.control / "output-end"),
            packs=str(self.packs),
            commit=TEXT,
        )
        return replace(config, **changes)

    def start_from(self, files: dict[str, bytes | str]) -> str:
        """Make the base commit of these files and leave them in the worktree; returns its id."""
        write(self.worktree, files)
        git(self.root, "init", "-q", "--bare", "-b", "main", str(self.base_git_dir))
        commit = b"commit refs/heads/main\nmark :1\ncommitter Ada <a@b.c> 0 +0000\ndata 4\nbase\n"
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            mode = b"120000" if data.startswith(b"->") else b"100644"
            data = data.removeprefix(b"->")
            commit += b"M %s inline %s\ndata %d\n%s\n" % (mode, name.encode(), len(data), data)
        return (
            git(self.base_git_dir, "fast-import", "--quiet", input=commit + b"get-mark :1\n")
            .decode()
            .strip()
        )


class Taker:
    """Walker and repository of a recorder, without the loop around them."""

    def __init__(
        self,
        volumes: Volumes,
        limits: TreeLimits | None = None,
        walks: WalkLimits | None = None,
    ) -> None:
        self.objects = Objects(volumes.recorder / "repo.git", volumes.base_git_dir)
        self.repository = Git(volumes.recorder / "repo.git")
        self.walker = Walker(
            str(volumes.worktree), self.objects.base_entries, limits or TreeLimits(), walks
        )
        self.last: Tree

    def take(self) -> Commit:
        self.last = self.walker.walk(self.objects)
        return self.objects.commit(self.last.entries, TEXT, 1_700_000_000)

    def files(self, commit: Commit) -> dict[str, bytes]:
        """Contents by path; a symlink's is its target after `->`, a gitlink's its id after `!`."""
        listed = self.repository.run("ls-tree", "-r", "-z", commit.sha)
        found = {}
        for entry in filter(None, listed.split(b"\0")):
            head, path = entry.split(b"\t", 1)
            mode, kind, object_id = head.decode().split()
            data = b"!" + object_id.encode()
            if kind == "blob":
                data = self.repository.run("cat-file", "blob", object_id)
            found[os.fsdecode(path)] = (b"->" if mode == "120000" else b"") + data
        return found
