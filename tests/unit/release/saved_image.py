"""Archives as `docker save` writes them, as small as they can be."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Files = Mapping[str, bytes]


def layer(files: Files, mtime: float) -> bytes:
    """As an engine writes it: with the time of the build, and who it was."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.uname = len(content), mtime, "builder"
            entry.pax_headers = {"SCHILY.xattr.user.kept": "yes"}
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def save(
    to: Path,
    layers: Sequence[Files],
    *,
    mtime: float = 5000.5,
    architecture: str = "amd64",
    config: Mapping[str, Any] | None = None,
) -> Path:
    """Write an image of these layers, built at that time."""
    packed = [layer(files, mtime) for files in layers]
    described = {
        "architecture": architecture,
        "os": "linux",
        "created": f"1970-01-01T01:23:{int(mtime) % 60:02}Z",
        "container": f"made at {mtime}",
        "config": {"Cmd": ["sh"], "Hostname": f"host-{mtime}", **(config or {})},
        "history": [{"created": str(mtime), "created_by": f"step {i}"} for i in range(len(layers))],
        "rootfs": {
            "type": "layers",
            "diff_ids": [f"sha256:{hashlib.sha256(each).hexdigest()}" for each in packed],
        },
    }
    names = [f"{number}/layer.tar" for number in range(len(packed))]
    listed = [{"Config": "config.json", "RepoTags": ["thing:dev"], "Layers": names}]
    files = {
        "config.json": json.dumps(described).encode(),
        "manifest.json": json.dumps(listed).encode(),
        **dict(zip(names, packed, strict=True)),
    }
    to.write_bytes(layer(files, 0))
    return to
