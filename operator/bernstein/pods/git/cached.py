"""A repository of ours that begins with what a cache has.

Others may write to the cache's volume, at any time. So git reads nothing there: files are copied,
their SHA-256 is taken of what was copied, and they become part of the repository only where both
are the ones that we are told. Whatever is wrong costs time, and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from pathlib import Path

from bernstein.api.programs.cached import CachedFile, CacheSource
from bernstein.pods import log, nofollow
from bernstein.pods.git.client import Git, is_sha

COPY_SECONDS = 300.0
"""What a copy may take; a slower volume is no help."""
_REF = "refs/cached/tip"
"""By which git knows that it has the commit, and needs not be sent it."""
_BLOCK = 1 << 20
_FOLDER = re.compile(r"[0-9a-z-]{1,200}")
_PACK = re.compile(r"pack-[0-9a-f]{40}\.pack")
_INDEX = re.compile(r"pack-[0-9a-f]{40}\.idx")


class _UnusableError(Exception):
    """Why what the cache has is not taken."""


def begin_with(repository: Git, source: CacheSource) -> str | None:
    """Give the repository, which is empty, the cache's commit; None: it has nothing of it.

    The commit has no parents there, as after a fetch of depth 1.
    """
    began = time.monotonic()
    content, fresh = source.content, repository.git_dir / "cached"
    try:
        _copy_both(source, fresh, began + COPY_SECONDS)
        packs = repository.git_dir / "objects" / "pack"
        packs.mkdir(parents=True, exist_ok=True)
        for file in (content.pack, content.index):  # git sees a pack by its index
            (fresh / file.name).replace(packs / file.name)
    except (_UnusableError, OSError) as error:
        log.event("cache-not-used", why=str(error))
        return None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    (repository.git_dir / "shallow").write_text(f"{content.commit}\n")
    repository.run("update-ref", "--no-deref", _REF, content.commit)
    size = content.pack.size + content.index.size
    log.event("cache-used", sha=content.commit, bytes=size, seconds=time.monotonic() - began)
    return content.commit


def settle(repository: Git, commit: str) -> None:
    """Forget how the commit came: only what was fetched names it from now on."""
    if repository.complete("rev-parse", "--verify", "--quiet", _REF).code == 0:
        repository.run("update-ref", "--no-deref", "-d", _REF)
    shallow = repository.git_dir / "shallow"
    with contextlib.suppress(FileNotFoundError):
        lines = shallow.read_text().split()
        if commit in lines and not is_fetched(repository, commit):
            shallow.write_text("".join(f"{line}\n" for line in lines if line != commit))


def is_fetched(repository: Git, commit: str) -> bool:
    """Whether a ref that was fetched contains the commit."""
    return bool(repository.text("for-each-ref", "--count=1", f"--contains={commit}"))


def _copy_both(source: CacheSource, fresh: Path, until: float) -> None:
    """Copy pack and index into a new folder. Raises _UnusableError, OSError."""
    content = source.content
    if not is_sha(content.commit) or not _FOLDER.fullmatch(source.folder):
        raise _UnusableError("it names no commit, or no folder")
    if not _PACK.fullmatch(content.pack.name) or not _INDEX.fullmatch(content.index.name):
        raise _UnusableError("it names a file that is no pack")
    fresh.mkdir()
    folder = os.open(Path(source.root) / source.folder, nofollow.FOLDER)
    try:
        for file in (content.pack, content.index):
            _copy(folder, file, fresh / file.name, until)
    finally:
        os.close(folder)


def _copy(folder: int, file: CachedFile, target: Path, until: float) -> None:
    """Copy exactly that file. Raises _UnusableError for any other, OSError."""
    digest, left, block = hashlib.sha256(), file.size, memoryview(bytearray(_BLOCK))
    with nofollow.regular(os.fsencode(file.name), folder) as (source, state):
        if state.st_size != file.size:
            raise _UnusableError(f"{file.name} has another size")
        with target.open("xb") as copied:
            while left and (count := os.readv(source, [block[: min(left, _BLOCK)]])):
                digest.update(block[:count])
                copied.write(block[:count])
                left -= count
                if time.monotonic() > until:
                    raise _UnusableError(f"{file.name} comes too slowly")
    if left or digest.hexdigest() != file.sha256:
        raise _UnusableError(f"{file.name} is another one than was put there")
    target.chmod(0o444)
