"""Whoever can write to a cache's volume costs checkouts time, and nothing else."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.api.programs.cached import CachedFile, CachedPack
from bernstein.pods import log
from bernstein.pods.git import cached
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.caching.conftest import Checkouts, packs

Grow = Callable[..., str]
Poison = Callable[[Path, CachedPack, Path], None]
"""Does it to the folder of the cache; the last is that of another repository's objects."""


def flips(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def flip_pack(folder: Path, has: CachedPack, _other: Path) -> None:
    flips(folder / has.pack.name)


def flip_index(folder: Path, has: CachedPack, _other: Path) -> None:
    flips(folder / has.index.name)


def swap_index(folder: Path, has: CachedPack, other: Path) -> None:
    """A sound one, of the same objects' count, that names others."""
    (index,) = other.glob("*.idx")
    shutil.copyfile(index, folder / has.index.name)


def swap_both(folder: Path, has: CachedPack, other: Path) -> None:
    for name, kind in ((has.pack.name, "pack"), (has.index.name, "idx")):
        (file,) = other.glob(f"*.{kind}")
        shutil.copyfile(file, folder / name)


def link_pack(folder: Path, has: CachedPack, _other: Path) -> None:
    """The same bytes, elsewhere: even so it is not followed."""
    elsewhere = folder.parent / "elsewhere"
    (folder / has.pack.name).rename(elsewhere)
    (folder / has.pack.name).symlink_to(elsewhere)


def link_folder(folder: Path, _has: CachedPack, _other: Path) -> None:
    elsewhere = folder.parent / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)


def fifo(folder: Path, has: CachedPack, _other: Path) -> None:
    (folder / has.pack.name).unlink()
    os.mkfifo(folder / has.pack.name)


def fifo_for_folder(folder: Path, _has: CachedPack, _other: Path) -> None:
    shutil.rmtree(folder)
    os.mkfifo(folder)


def socket_file(folder: Path, has: CachedPack, _other: Path) -> None:
    (folder / has.pack.name).unlink()
    with contextlib.chdir(folder), socket.socket(socket.AF_UNIX) as it:
        it.bind(has.pack.name)  # such an address is a short one


def device_like_folder(folder: Path, has: CachedPack, _other: Path) -> None:
    (folder / has.index.name).unlink()
    (folder / has.index.name).mkdir()


def huge(folder: Path, has: CachedPack, _other: Path) -> None:
    os.truncate(folder / has.pack.name, 1 << 40)  # a hole of a terabyte behind what is right


def short(folder: Path, has: CachedPack, _other: Path) -> None:
    os.truncate(folder / has.pack.name, 20)


def nothing(folder: Path, _has: CachedPack, _other: Path) -> None:
    shutil.rmtree(folder)


POISONS: list[Poison] = [
    *(flip_pack, flip_index, swap_index, swap_both, link_pack, link_folder, fifo),
    *(fifo_for_folder, socket_file, device_like_folder, huge, short, nothing),
]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Events of the log, in words."""
    said: list[str] = []

    def event(name: str, **more: object) -> None:
        said.append(f"{name} {more.get('why', '')}")

    monkeypatch.setattr(log, "event", event)
    return said


@pytest.mark.parametrize("poison", POISONS, ids=lambda poison: poison.__name__)
def test_content_is_right_and_nothing_of_the_poison_is_in_the_repository(
    checkouts: Checkouts,
    grow: Grow,
    new_origin: Callable[[], Origin],
    told: list[str],
    tmp_path: Path,
    poison: Poison,
) -> None:
    grow()
    content = checkouts.fill()
    other = new_origin()
    evil = other.commit({"evil": "yes\n"}, ref="refs/heads/main")
    theirs = Checkouts(other, tmp_path / "other")
    theirs.folder.mkdir()
    theirs.fill()
    poison(checkouts.volume, content, theirs.volume)

    ours, without = checkouts.same(content)

    assert any(line.startswith("cache-not-used ") for line in told), told
    assert packs(ours.git_dir) == packs(without.git_dir)
    assert not (ours.git_dir / "cached").exists()
    assert not ours.has_commit(evil)


def test_what_changes_after_it_was_looked_at_is_not_what_is_taken(
    checkouts: Checkouts, grow: Grow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest is that of the bytes that were copied, not of those that were there before."""
    grow()
    content = checkouts.fill()
    copy = cached._copy

    def late(folder: int, file: CachedFile, target: Path, until: float) -> None:
        copy(folder, file, target, until)
        flips(checkouts.volume / file.name)  # too late: what was copied stays what it was

    monkeypatch.setattr(cached, "_copy", late)
    ours, _ = checkouts.same(content)
    assert content.pack.name in packs(ours.git_dir)


@pytest.mark.parametrize(
    "change",
    [
        {"folder": "../volume"},
        {"pack": "../../evil.pack"},
        {"pack": "pack-1.idx"},
        {"commit": "--upload-pack=x"},
    ],
    ids=str,
)
def test_a_name_that_leads_elsewhere_is_none(
    checkouts: Checkouts, grow: Grow, change: dict[str, str], told: list[str]
) -> None:
    grow()
    content = checkouts.fill()
    content = replace(
        content,
        commit=change.get("commit", content.commit),
        pack=replace(content.pack, name=change.get("pack", content.pack.name)),
    )
    if "folder" in change:
        (checkouts.volume / content.pack.name).unlink()
    checkouts.same(content)
    assert any(line.startswith("cache-not-used ") for line in told)


def test_a_volume_that_is_slower_than_the_server_is_given_up(
    checkouts: Checkouts, grow: Grow, monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    grow()
    content = checkouts.fill()
    monkeypatch.setattr(cached, "COPY_SECONDS", -1.0)
    began = time.monotonic()
    checkouts.same(content)
    assert time.monotonic() - began < 30
    assert any("too slowly" in line for line in told)
