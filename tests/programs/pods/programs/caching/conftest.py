"""A volume with a cache that the program has filled, and checkouts with it and without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import CheckoutConfig, CheckoutResult
from bernstein.api.programs.cache import CacheConfig
from bernstein.api.programs.cached import CachedPack, CacheSource
from bernstein.pods.git.client import Git
from bernstein.pods.programs import cache, checkout
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.test_checkout import files

FOLDER = "0f3c5a7e-9b1d-2c4f-0123456789abcdef"


@dataclass(frozen=True)
class Checkouts:
    """Checkouts of one repository, each in a folder of its own."""

    origin: Origin
    folder: Path

    @property
    def volume(self) -> Path:
        return self.folder / "volume" / FOLDER

    def fill(self, name: str = "fill", has: CachedPack | None = None) -> CachedPack:
        """What the program says that the cache has now."""
        root = self.folder / "volume"
        root.mkdir(exist_ok=True)
        git_dir = str(self.folder / name / "repo.git")
        remote = self.origin.remote()
        return cache.run(CacheConfig(remote, "main", FOLDER, has, str(root), git_dir)).content

    def run(
        self, name: str, content: CachedPack | None, **more: Any
    ) -> tuple[CheckoutResult, Git, Path]:
        """The result, our repository and the worktree."""
        source = None
        if content is not None:
            source = CacheSource(FOLDER, content, str(self.folder / "volume"))
        git_dir, worktree = self.folder / name / "repo.git", self.folder / name / "workspace"
        told = {"ref": "main", "worktree": str(worktree), "worktree_git": True, **more}
        config = CheckoutConfig(self.origin.remote(), git_dir=str(git_dir), **told)
        return checkout.run(replace(config, cache=source)), Git(git_dir), worktree

    def same(self, content: CachedPack | None, **more: Any) -> tuple[Git, Git]:
        """Both repositories, of a checkout with this cache and of one without, which leave the
        same files, refs, history and bounds of it."""
        said, ours, tree = self.run("with", content, **more)
        expected, theirs, other = self.run("without", None, **more)
        assert asdict(said) == asdict(expected)
        assert files(tree) == files(other)
        for asked in (("for-each-ref",), ("rev-list", "--all", "--parents")):
            assert sorted(ours.run(*asked).splitlines()) == sorted(theirs.run(*asked).splitlines())
        assert shallow(ours.git_dir) == shallow(theirs.git_dir)
        assert shallow(tree / ".git") == shallow(other / ".git")
        assert ours.complete("fsck", "--strict", "--no-dangling").code == 0
        return ours, theirs


def shallow(git_dir: Path) -> set[str]:
    """The commits whose parents the repository does not know."""
    file = git_dir / "shallow"
    return {*file.read_text().split()} if file.exists() else set()


def packs(git_dir: Path) -> set[str]:
    return {path.name for path in (git_dir / "objects" / "pack").iterdir()}


@pytest.fixture
def checkouts(origin: Origin, tmp_path: Path) -> Checkouts:
    return Checkouts(origin, tmp_path)


@pytest.fixture
def grow(origin: Origin) -> Callable[..., str]:
    """Makes commits on a branch, each with a few more files."""
    count = iter(range(1000))

    def make(*parents: str, ref: str = "refs/heads/main") -> str:
        number = next(count)
        added: dict[str, bytes | str | None] = {f"src/{number}.py": f"x = {number}\n"}
        if not parents:
            added |= {f"lib/{i}.txt": f"{i}\n" * 50 for i in range(40)} | {"run": "+x #!/bin/sh\n"}
        return origin.commit(added, *parents, ref=ref)

    return make
