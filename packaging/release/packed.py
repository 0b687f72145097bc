"""Small archives, whose bytes say nothing of who packed them, when, and on what."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Collection, Mapping


def tar(files: Mapping[str, bytes], epoch: int, programs: Collection[str] = ()) -> bytes:
    """A compressed tar of these files, by path. `epoch`: seconds; `programs`: paths of those that
    may be executed."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), epoch
            entry.mode = 0o755 if name in programs else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return gzipped(plain.getvalue())


def gzipped(data: bytes) -> bytes:
    """Of no name, time or system: `gzip.compress` names the system since Python 3.11."""
    compressed = io.BytesIO()
    with gzip.GzipFile("", "wb", fileobj=compressed, mtime=0) as file:
        file.write(data)
    return compressed.getvalue()
