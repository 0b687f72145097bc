"""The prompt of a session, put together anew out of a clone: by the code that did so in the pod.

The clone's objects are read from an empty repository that borrows them. No setting and no attribute
of the clone or of the caller has an effect there, and no server is asked.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bernstein.api.session import Prompt
from bernstein.api.verification import RejectedWork
from bernstein.cli.local import git
from bernstein.core.prompts import knowledge, parts
from bernstein.core.prompts.assembly import Assembled, ContextFile, Told
from bernstein.core.prompts.complete import complete, unshown
from bernstein.pods.git import context, patch
from bernstein.pods.git.client import Git, init_bare


class Lacking(Exception):  # noqa: N818 - it says what is so
    """The clone has not these commits."""

    def __init__(self, commits: Sequence[str]) -> None:
        super().__init__(", ".join(commits))
        self.commits = (*commits,)


@dataclass(frozen=True)
class Clone:
    """A repository on the caller's machine."""

    folder: Path
    """Where its objects are, in `objects`."""

    @property
    def is_shallow(self) -> bool:
        return (self.folder / "shallow").exists()

    @property
    def is_partial(self) -> bool:
        """Whether contents of files were left on the server."""
        return any((self.folder / "objects" / "pack").glob("*.promisor"))


@dataclass(frozen=True)
class Asked:
    """A prompt that an agent has got."""

    content: Mapping[str, str]
    """Of the session's ConfigMap."""
    given: Prompt
    """What its pod told; with its mark."""
    rejected: RejectedWork | None

    @property
    def change(self) -> RejectedWork | None:
        """The commit whose change it shows; None: it shows none."""
        return None if self.given.resumed or self.given.change_missing else self.rejected

    @property
    def told(self) -> tuple[Told, ...]:
        """What the Project tells. Raises ValueError for a content that the operator did not
        write."""
        return knowledge.told_in(self.content)

    @property
    def needs(self) -> tuple[str, ...]:
        """The commits without which it cannot be put together. Raises ValueError for a content that
        the operator did not write."""
        is_read = parts.context_of(self.content) or any(each.path for each in self.told)
        base = (self.given.base,) if is_read else ()
        return base if self.change is None else (*base, self.change.sha)


async def find(folder: str) -> Clone:
    """The repository that the folder is in. Raises GitFailed."""
    told = await git.run("-C", folder, "rev-parse", "--git-common-dir")
    return Clone((Path(folder) / told.decode(errors="surrogateescape").rstrip("\n")).resolve())


async def put_together(asked: Asked, clone: Clone | None) -> Assembled:
    """The prompt; `clone` may be None where it needs no commit.

    Raises Lacking, and PodError where git cannot read what is there.
    """
    return await asyncio.to_thread(_put_together, asked, clone)


def _put_together(asked: Asked, clone: Clone | None) -> Assembled:
    if clone is None or not asked.needs:
        return _complete(asked, None)
    with tempfile.TemporaryDirectory(prefix="bernstein-prompt-") as made:
        repository = init_bare(Path(made) / "repository.git", [clone.folder])
        if lacking := [sha for sha in asked.needs if not _has(repository, asked, sha)]:
            raise Lacking(lacking)
        return _complete(asked, repository)


def _has(repository: Git, asked: Asked, sha: str) -> bool:
    """Whether the commit is there; of one whose change is shown also that before it."""
    is_compared = asked.change is not None and sha == asked.change.sha
    return repository.has_commit(sha) and (not is_compared or repository.has_commit(f"{sha}^"))


def _complete(asked: Asked, repository: Git | None) -> Assembled:
    given = asked.given
    why = "" if given.resumed or asked.rejected is None else given.change_missing
    change, files, told = unshown(why) if why else "", list[ContextFile](), [*asked.told]
    if repository is not None:
        paths = parts.context_of(asked.content)
        files = context.context_files(repository, given.base, paths) if paths else []
        told = context.told(repository, given.base, told)
        if asked.change is not None:
            change = patch.of_commit(repository, asked.change.sha)
    return complete(asked.content, files, change, given.resumed, lambda: given.mark or "", told)
