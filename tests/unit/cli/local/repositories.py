"""Repositories with the work of a Task in them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

REF = "refs/bernstein/1111222233334444/work/s1"
AUTHOR = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "a"), ("EMAIL", "a@b"), ("DATE", "2030-01-01T00:00:00Z"))
}


class Repository:
    """A bare one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--bare", "--initial-branch=main", str(folder))

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def git(self, *arguments: str, given: bytes = b"") -> str:
        done = subprocess.run(
            ["git", f"--git-dir={self.folder}", *arguments],
            input=given,
            check=True,
            capture_output=True,
            env={**os.environ, **AUTHOR},
        )
        return done.stdout.decode().strip()

    def commit(self, ref: str, files: Mapping[str, bytes], parent: str | None = None) -> str:
        """A commit whose tree holds these files, with the ref on it."""
        rows = [
            f"100644 blob {self.git('hash-object', '-w', '--stdin', given=content)}\t{name}"
            for name, content in files.items()
        ]
        tree = self.git("mktree", given="\n".join(sorted(rows)).encode())
        parents = () if parent is None else ("-p", parent)
        sha = self.git("commit-tree", tree, *parents, "-m", "work")
        self.git("update-ref", ref, sha)
        return sha
