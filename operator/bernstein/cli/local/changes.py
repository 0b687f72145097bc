"""What a commit changes, read from the git server into a repository that is gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bernstein.cli.local import git
from bernstein.cli.local.git import GitFailed
from bernstein.core.delivery.kept import Commits

LARGEST = 8 << 20
"""Bytes of a diff that are shown."""
_FETCH_SECONDS = 300.0
_DIFF_SECONDS = 60.0
_SHOWN = "refs/shown"
_PLAIN = (
    *("--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--find-renames"),
    *("--end-of-options",),
)


@dataclass(frozen=True)
class Changes:
    """A diff, with the bytes of the files in it."""

    text: str
    cut: bool
    """There is more of it than is shown."""


class NotThere(Exception):  # noqa: N818 - it says what is so
    """The server has not, or does not give, the commit that was recorded."""


async def between(url: str, commits: Commits, *, stat: bool = False) -> Changes:
    """What the newer commit changes; with `stat` only how much in which file.

    Raises GitFailed and NotThere.
    """
    async with _repository() as folder:
        await _fetch(folder, url, commits)
        how = ("--stat=200",) if stat else ("--patch",)
        out = await git.run(
            *("diff", *how, *_PLAIN, commits.base, commits.sha, "--"),
            folder=folder,
            seconds=_DIFF_SECONDS,
            at_most=LARGEST,
        )
    return Changes(out[:LARGEST].decode(errors="replace"), cut=len(out) > LARGEST)


@asynccontextmanager
async def _repository() -> AsyncIterator[Path]:
    """An empty one. Its attributes say nothing of any file, whatever files of the tree say."""
    with tempfile.TemporaryDirectory(prefix="bernstein-diff-") as made:
        folder = Path(made)
        await git.run("init", "--quiet", "--bare", "--template=", str(folder))
        info = folder / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text("* !diff !text !eol !working-tree-encoding\n")
        yield folder


async def _fetch(folder: Path, url: str, commits: Commits) -> None:
    """The newer commit, with the one before it, on which it stands.

    The ref is anybody's to move who may push there: what counts is the commit that was recorded.
    """
    await _fetch_one(folder, url, commits.ref)
    if await _is_there(folder, commits.sha) and await _is_there(folder, commits.base):
        return
    try:
        for sha in (commits.sha, commits.base):
            if not await _is_there(folder, sha):
                await _fetch_one(folder, url, sha)
    except GitFailed as error:
        text = f"{commits.ref} does not hold {commits.sha[:12]} on {commits.base[:12]}"
        raise NotThere(text) from error


async def _fetch_one(folder: Path, url: str, what: str) -> None:
    options = ("--quiet", "--depth=2", "--no-tags", "--no-recurse-submodules", "--force")
    refspec = f"+{what}:{_SHOWN}"
    fetched = ("fetch", *options, "--end-of-options", url, refspec)
    await git.run(*fetched, folder=folder, seconds=_FETCH_SECONDS, asks=True)


async def _is_there(folder: Path, sha: str) -> bool:
    try:
        await git.run("cat-file", "-e", f"{sha}^{{commit}}", folder=folder)
    except GitFailed:
        return False
    return True
