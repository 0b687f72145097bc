"""Layers of an image as they are published: without the time at which they were built.

An engine stamps files with the time of the build, and installers leave logs and caches that name
it. Neither means anything to who runs the image, and both would give each build another digest.
So every file has one time. Python takes a compiled module only where that names its source's time:
there the same one is written into it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import struct
import tarfile
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, Protocol

_Entry = tuple[tarfile.TarInfo, IO[bytes] | None]

FORMAT = 2
"""Part of the name of what is kept: raise it when the same layer comes out otherwise."""
LEVEL = 6
_BLOB, _RECORD, _PARTIAL = ".tar.gz", ".json", ".partial"
WHITEOUT = ".wh."
"""Begins the name of a file that says: what lies below in this place is gone."""

_LEFT_BEHIND = re.compile(
    r"var/log/.+|var/cache/(ldconfig|apt|debconf)/.+|var/lib/apt/lists/.+|"
    r"etc/(passwd|shadow|group|gshadow|subuid|subgid)-"
)
_SHADOW = "etc/shadow"
_BY_TIME, _HEADER = bytes(4), 16
"""Flags of a compiled module that is of use for a source of one time, and bytes before its code."""
_TELLING = re.compile(
    r"var/lib/dpkg/status|.*\.dist-info/METADATA|.*/node_modules/((@[^/]+/)?[^/]+)/package\.json"
)


@dataclass(frozen=True)
class Layer:
    """One layer, compressed; `telling` has the files that say which packages are in it."""

    digest: str
    size: int
    diff_id: str
    telling: dict[str, str] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    """Paths of what lies below and is gone; with `/` at the end all that is in that folder."""


class _Writable(Protocol):
    def write(self, data: bytes, /) -> int: ...


@dataclass
class _Counted:
    """Passes bytes on; knows their digest and number."""

    to: _Writable
    digest: str = ""
    size: int = 0

    def __post_init__(self) -> None:
        self._hash = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self._hash.update(data)
        self.size += len(data)
        self.to.write(data)
        return len(data)

    def tell(self) -> int:
        return self.size

    def named(self) -> str:
        return f"sha256:{self._hash.hexdigest()}"


def published(source: IO[bytes], diff_id: str, epoch: int, kept: Path) -> tuple[Layer, Path]:
    """The layer, and the file below `kept` that holds it. Every file in it is of `epoch`.

    `diff_id` identifies the source: it is not read where `kept` has what comes of it. The caller
    sees to it that nobody else writes into `kept` meanwhile.
    """
    name = f"{diff_id.removeprefix('sha256:')}-{epoch}-{FORMAT}"
    blob, record = kept / f"{name}{_BLOB}", kept / f"{name}{_RECORD}"
    if not record.exists() or not blob.exists():
        kept.mkdir(parents=True, exist_ok=True)
        partial = kept / f"{name}{_PARTIAL}"
        layer = _write(source, epoch, partial)
        partial.replace(blob)
        partial.write_text(json.dumps(asdict(layer)))
        partial.replace(record)
    return Layer(**json.loads(record.read_text())), blob


def forget(kept: Path, used: Collection[Path]) -> None:
    """Remove the layers in `kept` whose files are not among those that were used."""
    names = {path.name.removesuffix(_BLOB) for path in used}
    for ending in (_RECORD, _BLOB, _PARTIAL):
        for path in kept.glob(f"*{ending}"):
            if path.name.removesuffix(ending) not in names:
                path.unlink()


def _write(source: IO[bytes], epoch: int, to: Path) -> Layer:
    telling: dict[str, str] = {}
    removed: list[str] = []
    with to.open("wb") as file:
        packed = _Counted(file)
        # As an empty name and no time: neither is in the bytes.
        with gzip.GzipFile("", "wb", LEVEL, packed, 0) as pressed:  # type: ignore[call-overload]
            plain = _Counted(pressed)
            with (
                tarfile.open(fileobj=source, mode="r|*") as old,
                tarfile.open(fileobj=plain, mode="w|", format=tarfile.PAX_FORMAT) as new,  # type: ignore[call-overload]
            ):
                for entry, content in _timeless(old, epoch):
                    path = entry.name.removeprefix("./")
                    if content is not None and _TELLING.fullmatch(path):
                        telling[path] = content.read().decode(errors="replace")
                        content.seek(0)
                    removed += _removed(path)
                    new.addfile(entry, content)
    return Layer(packed.named(), packed.size, plain.named(), telling, removed)


def _timeless(old: tarfile.TarFile, epoch: int) -> Iterator[_Entry]:
    for entry in old:
        path = entry.name.removeprefix("./")
        if _LEFT_BEHIND.fullmatch(path) and not entry.isdir():
            continue
        content: IO[bytes] | None = old.extractfile(entry) if entry.isreg() else None
        if content is not None and (path == _SHADOW or _TELLING.fullmatch(path)):
            data = content.read()
            data = _undated(data) if path == _SHADOW else data
            entry.size, content = len(data), BytesIO(data)
        elif content is not None and path.endswith(".pyc"):
            content = BytesIO(_compiled(content.read(), epoch))
        entry.mtime = epoch
        entry.uname = entry.gname = ""
        # Extended attributes stay, such as a program's capabilities.
        entry.pax_headers = {
            name: value for name, value in entry.pax_headers.items() if name.startswith("SCHILY.")
        }
        yield entry, content


def _undated(shadow: bytes) -> bytes:
    """Without the day on which an account's password was set: there is none in an image."""
    rows = [row.split(b":") for row in shadow.splitlines()]
    return b"".join(b":".join([*row[:2], b"", *row[3:]]) + b"\n" for row in rows)


def _compiled(module: bytes, epoch: int) -> bytes:
    """As if its source were of that time, where it says one: PEP 552."""
    if module[4:8] != _BY_TIME or len(module) < _HEADER:
        return module
    return module[:8] + struct.pack("<L", epoch & 0xFFFFFFFF) + module[12:]


def _removed(path: str) -> list[str]:
    folder, _, name = path.rpartition("/")
    if not name.startswith(WHITEOUT):
        return []
    before = f"{folder}/" if folder else ""
    return [before] if name == ".wh..wh..opq" else [before + name.removeprefix(WHITEOUT)]


def merged(layers: list[Layer]) -> dict[str, str]:
    """Text of each telling file as a container sees it, by its path."""
    seen: dict[str, str] = {}
    for layer in layers:
        for gone in layer.removed:
            below = gone if gone.endswith("/") else f"{gone}/"
            seen = {p: t for p, t in seen.items() if p != gone and not p.startswith(below)}
        seen |= layer.telling
    return dict(sorted(seen.items()))
