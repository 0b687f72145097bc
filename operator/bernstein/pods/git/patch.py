"""What a rejected commit changes, as a patch to be read: fetched by its recorded id or not at all.

Its ref lies where agents' work is pushed. So a ref that is not at the recorded commit is not shown,
and nothing of it reaches the repository that anybody else reads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bernstein.api.pod import Remote
from bernstein.core.sanitise import count
from bernstein.pods.git import trees
from bernstein.pods.git.client import Git, GitError, full_ref, init_bare

LARGEST = 256 << 10
"""Bytes of a file, before or after, whose change is shown."""
MOST_BYTES = 2 << 20
"""Of all files whose change is looked at."""
MOST_FILES = 100
_LONGEST = 60_000
"""Bytes of the patch."""
_SECONDS = 60.0
_NAMED = 50
_REF, _BASE_REF = "refs/rejected", "refs/base"
_FLAGS = (
    *(
        "-p",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
        "--no-indent-heuristic",
    ),
    *("--no-relative", "--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--submodule=short"),
)
"""Nothing of the image's or the tree's configuration says how it is shown."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A commit, and the ref that is expected at it."""

    ref: str
    sha: str


def patch(remote: Remote, rejected: Rejected, base: Git, commit: str, git_dir: Path) -> str:
    """The patch. Raises PodError where it cannot be shown.

    `base` has the `commit` that the agent begins with. What is fetched goes to `git_dir`, which is
    made for this.
    """
    init_bare(git_dir, [base.git_dir])
    repository = Git(git_dir, remote)
    # Named, so that the server sends nothing of it.
    repository.run("update-ref", "--no-deref", _BASE_REF, commit)
    repository.fetch([f"{full_ref(rejected.ref)}:{_REF}"], depth=2)
    repository.expect_at(_REF, rejected.sha)
    return of_commit(repository, rejected.sha)


def of_commit(repository: Git, sha: str) -> str:
    """What the commit changes against its parent, the same in every repository that has both.

    Raises PodError.
    """
    parent = repository.commit_id(f"{sha}^")
    shown, left_out = readable(repository, trees.changed_paths(repository, parent, sha))
    text = _of(repository, parent, sha, shown)
    return "\n".join(part for part in (text, *_named(left_out, len(shown))) if part)


_IDS = re.compile(rb"^index .*\n", re.MULTILINE)
"""Of blobs. How far git cuts them follows from what else a repository holds. A line of a file never
begins so: it has a sign before it."""

LeftOut = list[tuple[bytes, str]]
"""Paths, each with why its change is not shown."""


def readable(repository: Git, changes: list[trees.PathChange]) -> tuple[list[bytes], LeftOut]:
    """Paths of text whose change is looked at, within the limits above, and the others."""
    sizes = trees.sizes(repository, [each for change in changes for each in _ids(change)])
    small: list[trees.PathChange] = []
    left_out: LeftOut = []
    held = 0
    for change in changes:
        size = sum(sizes[each] for each in _ids(change))
        if change.is_submodule:
            left_out.append((change.path, "a submodule"))
        elif any(sizes[each] > LARGEST for each in _ids(change)):
            left_out.append((change.path, f"{size:,} bytes before and after"))
        elif len(small) == MOST_FILES or held + size > MOST_BYTES:
            left_out.append((change.path, "too much besides it is shown"))
        else:
            small.append(change)
            held += size
    contents = trees.blobs(repository, [each for change in small for each in _ids(change)])
    text = [c.path for c in small if all(_is_text(contents[each]) for each in _ids(c))]
    no_text = [(c.path, "no text in UTF-8") for c in small if c.path not in {*text}]
    return text, [*no_text, *left_out]


def _ids(change: trees.PathChange) -> tuple[str, ...]:
    return tuple(filter(None, (change.before, change.after)))


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


def _of(repository: Git, before: str, after: str, paths: list[bytes]) -> str:
    if not paths:
        return ""
    raw = _IDS.sub(b"", whole(repository, before, after, paths))
    if len(raw) <= _LONGEST:
        return raw.decode(errors="replace")
    text = raw[:_LONGEST].decode(errors="ignore").rpartition("\n")[0]
    return f"{text}\n(the last {len(raw) - _LONGEST:,} bytes are left out)"


def whole(repository: Git, before: str, after: str, paths: list[bytes]) -> bytes:
    """The patch of these paths. Raises GitError."""
    named = [os.fsdecode(path) for path in paths]
    flags = ("diff-tree", "-r", *_FLAGS, before, after, "--", *named)
    raw = repository.complete(*flags, env=trees.LITERAL, timeout=_SECONDS)
    if raw.code != 0:
        raise GitError("InternalError", "git could not make the patch")
    return raw.stdout


def _named(left_out: LeftOut, shown: int) -> Iterator[str]:
    """The files that changed and are not shown."""
    if not left_out and not shown:
        yield "(It changed nothing.)"
    for path, why in left_out[:_NAMED]:
        name = " ".join(path.decode(errors="replace").split())
        yield f"(not shown: {name}: {why})"
    if len(left_out) > _NAMED:
        yield f"(not shown: {count(len(left_out) - _NAMED, 'more file')})"
