"""Program `cache`: keeps what the tip of a branch needs on a volume, for checkouts to copy.

Contents are not compressed there: to unpack them takes a checkout longer than to copy more bytes.
Whoever else writes to the volume finds no link followed, and nothing read but to see whether it is
still what was written. What others see, they see whole: a file gets its name once it is written.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bernstein.api.programs.cache import CacheConfig, CacheResult
from bernstein.api.programs.cached import FULL, NOT_WRITABLE, CachedFile, CachedPack
from bernstein.api.reasons import Reason
from bernstein.pods import log, nofollow
from bernstein.pods.errors import PodError
from bernstein.pods.git import client as git
from bernstein.pods.git.client import Git, full_ref

CONFIG = CacheConfig

OLD_SECONDS = 3600
"""After which a file that nobody is told of goes. Until then a pod may copy it that was made
before."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BLOCK = 1 << 20
_FOLDER = re.compile(r"[0-9a-z-]{1,200}")


def run(config: CacheConfig) -> CacheResult:
    """What is there now. Raises PodError where the git server cannot be asked, or the volume not be
    written to: what was there stays."""
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    tip = repository.read_ref(config.ref)
    if tip is None:
        raise PodError(Reason.REF_NOT_FOUND, f"the repository has no {config.ref}")
    if not _FOLDER.fullmatch(config.folder):
        raise PodError("InvalidConfig", "that is no name of a folder")
    root, has = Path(config.root), config.has
    with _folder(root, config.folder) as folder:
        _remove_old(folder, {has.pack.name, has.index.name} if has is not None else ())
        if has is not None and has.commit == tip and _is_whole(folder, has):
            log.event("cache-kept", sha=tip)
            return CacheResult(has)
    # Not in the folder: what our own volume has no room for is told otherwise.
    repository.fetch([f"{full_ref(config.ref)}:{full_ref(config.ref)}"], depth=1)
    sha = repository.commit_id(full_ref(config.ref))
    pack, index = _packed(repository, sha)
    with _folder(root, config.folder) as folder:
        content = CachedPack(sha, _put(folder, pack), _put(folder, index))
        os.fsync(folder)
    log.event("cache-filled", sha=sha, bytes=content.pack.size + content.index.size)
    return CacheResult(content)


@contextmanager
def _folder(root: Path, name: str) -> Iterator[int]:
    """The open folder of that name on the volume, made where it is not there."""
    try:
        volume = os.open(root, nofollow.FOLDER)
        try:
            with suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=volume)
            folder = os.open(name, nofollow.FOLDER, dir_fd=volume)
        finally:
            os.close(volume)
        try:
            yield folder
        finally:
            os.close(folder)
    except OSError as error:
        what = error.strerror or type(error).__name__
        if error.errno in _NO_ROOM:
            raise PodError(FULL, f"the cache's volume has no room: {what}") from None
        raise PodError(NOT_WRITABLE, f"the cache's volume cannot be used: {what}") from None


def _packed(repository: Git, sha: str) -> tuple[Path, Path]:
    """One pack of the commit, uncompressed, and its index, which git makes of the pack alone: it
    finds whatever is wrong in it."""
    fetched = [*(repository.git_dir / "objects" / "pack").iterdir()]
    folder = repository.git_dir / "cache"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    pack = folder / "tip.pack"
    flags = ("--revs", "--stdout", "--quiet", "--no-reuse-object", "--no-reuse-delta")
    plain = ("--window=0", "--compression=0", "--threads=1")
    with pack.open("xb") as file:
        request = f"{sha}\n".encode("ascii")
        repository.run("pack-objects", *flags, *plain, input=request, stdout=file)
    for each in fetched:  # the tip is there twice, else three times
        each.unlink()
    made = repository.run("index-pack", "--strict", "--threads=1", str(pack))
    name = f"pack-{made.decode('ascii').split()[-1]}"
    (folder / "tip.rev").unlink(missing_ok=True)
    return pack.rename(folder / f"{name}.pack"), (folder / "tip.idx").rename(folder / f"{name}.idx")


def _put(folder: int, source: Path) -> CachedFile:
    """Copy the file into the open folder; what has its name there is replaced, and a folder moved
    out of the way."""
    temporary, digest, size = f".{source.name}.{os.urandom(8).hex()}", hashlib.sha256(), 0
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    target = os.open(temporary, flags, 0o644, dir_fd=folder)
    try:
        with source.open("rb") as file, os.fdopen(target, "wb") as copied:
            while block := file.read(_BLOCK):
                digest.update(block)
                copied.write(block)
                size += len(block)
            copied.flush()
            os.fsync(copied.fileno())
        try:
            _rename(folder, temporary, source.name)
        except IsADirectoryError:
            _rename(folder, source.name, f"{temporary}.folder")
            _rename(folder, temporary, source.name)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise
    return CachedFile(source.name, size, digest.hexdigest())


def _rename(folder: int, old: str, new: str) -> None:
    os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)


def _is_whole(folder: int, content: CachedPack) -> bool:
    return all(_is(folder, file) for file in (content.pack, content.index))


def _is(folder: int, file: CachedFile) -> bool:
    digest, left = hashlib.sha256(), file.size
    try:
        with nofollow.regular(os.fsencode(file.name), folder) as (source, state):
            if state.st_size != file.size:
                return False
            while left and (block := os.read(source, min(left, _BLOCK))):
                digest.update(block)
                left -= len(block)
    except OSError:
        return False
    return digest.hexdigest() == file.sha256


def _remove_old(folder: int, keep: Collection[str]) -> None:
    """Remove files that no checkout is told of any more; folders, whoever made them, stay."""
    before = time.time() - OLD_SECONDS
    for name in os.listdir(folder):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if name not in keep and found.st_mtime < before and not stat.S_ISDIR(found.st_mode):
            os.unlink(name, dir_fd=folder)
