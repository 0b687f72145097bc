"""cache against a real server: what it leaves on the volume, and what it makes of what is there."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import resource
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bernstein.api.programs.cache import CacheConfig
from bernstein.api.programs.cached import CachedFile
from bernstein.pods.errors import PodError
from bernstein.pods.programs import cache
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import plain_env
from tests.programs.pods.programs.caching.conftest import FOLDER, Checkouts

Grow = Callable[..., str]


def old(path: Path) -> None:
    os.utime(path, (1, 1), follow_symlinks=False)


def test_what_it_says_is_what_is_there(checkouts: Checkouts, grow: Grow) -> None:
    tip = grow(grow())
    content = checkouts.fill()
    assert content.commit == tip
    for file in (content.pack, content.index):
        data = (checkouts.volume / file.name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file.size, file.sha256)
    assert {path.name for path in checkouts.volume.iterdir()} == {
        content.pack.name,
        content.index.name,
    }
    shown = subprocess.run(
        ["git", "verify-pack", "-v", str(checkouts.volume / content.index.name)],
        env=plain_env(),
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert [line.split()[0] for line in shown.splitlines() if " commit " in line] == [tip]


def test_a_tip_that_has_not_moved_is_not_fetched_again(
    checkouts: Checkouts, grow: Grow, origin: Origin
) -> None:
    grow()
    content = checkouts.fill()
    before = [path.stat().st_mtime_ns for path in sorted(checkouts.volume.iterdir())]
    asked = len(origin.server.requests)
    assert checkouts.fill("again", content) == content
    assert [path.stat().st_mtime_ns for path in sorted(checkouts.volume.iterdir())] == before
    new = origin.server.requests[asked:]
    assert sum(each.method == "POST" for each in new) == 1  # it lists refs, and fetches nothing


def test_what_was_damaged_is_made_anew(checkouts: Checkouts, grow: Grow) -> None:
    grow()
    content = checkouts.fill()
    file = checkouts.volume / content.pack.name
    file.chmod(0o644)
    file.write_bytes(b"evil")
    assert checkouts.fill("again", content) == content
    assert len(file.read_bytes()) == content.pack.size


def fifo(path: Path) -> None:
    os.mkfifo(path)


def socket_file(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as it:
        it.bind(str(path))


def link(path: Path) -> None:
    path.symlink_to("/dev/zero")


def empty_folder(path: Path) -> None:
    path.mkdir()


def full_folder(path: Path) -> None:
    path.mkdir()
    (path / "theirs").touch()


@pytest.mark.parametrize("makes", [fifo, socket_file, link, empty_folder, full_folder])
@pytest.mark.parametrize("kind", ["pack", "index"])
def test_what_is_no_file_in_the_place_of_one_is_replaced_and_not_read(
    checkouts: Checkouts, grow: Grow, kind: str, makes: Callable[[Path], None]
) -> None:
    grow()
    content = checkouts.fill()
    file: CachedFile = getattr(content, kind)
    path = checkouts.volume / file.name
    path.unlink()
    with contextlib.chdir(checkouts.volume):  # the address of a socket is a short one
        makes(Path(file.name))

    assert checkouts.fill("again", content) == content
    assert stat.S_ISREG(path.lstat().st_mode)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256


def test_files_that_nobody_is_told_of_go_once_they_are_old(
    checkouts: Checkouts, grow: Grow
) -> None:
    first = grow()
    has = checkouts.fill()
    second = checkouts.fill("second", has) if grow(first) else has
    half = checkouts.volume / ".pack-half"
    half.write_text("a Job that was killed")
    (checkouts.volume / "link").symlink_to("/etc/passwd")
    os.mkfifo(checkouts.volume / "fifo")
    for path in checkouts.volume.iterdir():
        old(path)
    fresh = checkouts.volume / "fresh"
    fresh.touch()
    checkouts.fill("third", second)
    named = {second.pack.name, second.index.name, "fresh"}
    assert {path.name for path in checkouts.volume.iterdir()} == named


def test_a_pack_that_may_still_be_copied_stays(checkouts: Checkouts, grow: Grow) -> None:
    first = grow()
    has = checkouts.fill()
    grow(first)
    checkouts.fill("second", has)
    assert (checkouts.volume / has.pack.name).exists()


@pytest.mark.parametrize("what", ["link", "file", "fifo", "nothing"])
def test_a_volume_that_has_no_folder_for_it_is_told(
    checkouts: Checkouts, grow: Grow, what: str, tmp_path: Path
) -> None:
    grow()
    root = tmp_path / "volume"
    if what != "nothing":
        root.mkdir()
    if what == "link":
        (tmp_path / "outside").mkdir()
        (root / FOLDER).symlink_to(tmp_path / "outside")
    if what == "file":
        (root / FOLDER).touch()
    if what == "fifo":
        os.mkfifo(root / FOLDER)
    with pytest.raises(PodError) as caught:
        cache.run(
            CacheConfig(
                checkouts.origin.remote(),
                "main",
                FOLDER,
                root=str(root),
                git_dir=str(tmp_path / "own.git"),
            )
        )
    assert caught.value.reason == "CacheNotWritable"
    assert what != "link" or not [*(tmp_path / "outside").iterdir()]


def test_a_full_volume_is_told_and_what_was_there_stays(
    checkouts: Checkouts, grow: Grow, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = grow()
    has = checkouts.fill()
    grow(first)
    monkeypatch.setattr(cache, "_put", _full)
    with pytest.raises(PodError) as caught:
        checkouts.fill("again", has)
    assert caught.value.reason == "CacheFull"
    assert {path.name for path in checkouts.volume.iterdir()} == {has.pack.name, has.index.name}


def _full(folder: int, source: Path) -> object:
    """As the kernel says it in the middle of a file."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))
    try:
        return _put(folder, source)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


_put = cache._put


def test_that_our_own_volume_is_full_is_not_told_of_the_caches(
    checkouts: Checkouts, grow: Grow, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow()
    monkeypatch.setattr(cache, "_packed", _without_room)
    with pytest.raises(OSError, match="No space left") as caught:
        checkouts.fill()
    assert caught.value.errno == errno.ENOSPC


def _without_room(_repository: object, _sha: str) -> tuple[Path, Path]:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_branch_that_is_not_there_is_told(checkouts: Checkouts) -> None:
    with pytest.raises(PodError) as caught:
        checkouts.fill()
    assert caught.value.reason == "RefNotFound"
