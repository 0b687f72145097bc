"""The image of a release that is kept: another one, with the modules of the release's wheel.

What is no module is the other's: libraries, git and the launcher.
"""

from __future__ import annotations

import hashlib
import json
import py_compile
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import IO

from tests.releases import Release

MODULES = "opt/bernstein/lib/python3.11/site-packages"
"""Where our image has them."""
_OPAQUE = ".wh..wh..opq"
"""In a folder of a layer: nothing of it counts that layers below have."""
_LISTS = ("manifest.json", "index.json", "oci-layout", "repositories")
"""Each says which images an archive holds; the first is enough for whoever loads one."""


def write(base: Path, release: Release, reference: str, to: Path) -> None:
    """Write the image under this name into the archive `to`.

    `base`: archive of the other one, as `docker save` or a release writes it.
    """
    layer = _layer(release)
    digest = hashlib.sha256(layer).hexdigest()
    with tarfile.open(base) as old, tarfile.open(to, "w") as new:
        (image,) = json.load(_member(old, "manifest.json"))
        config = json.load(_member(old, image["Config"]))
        config["rootfs"]["diff_ids"].append(f"sha256:{digest}")
        config.pop("history", None)  # it has a line for each layer
        told = json.dumps(config).encode()
        image = {
            "Config": f"{hashlib.sha256(told).hexdigest()}.json",
            "RepoTags": [reference],
            "Layers": [*image["Layers"], f"{digest}/layer.tar"],
        }
        for entry in old:
            if entry.name not in _LISTS:
                new.addfile(entry, old.extractfile(entry) if entry.isreg() else None)
        _add(new, image["Layers"][-1], layer)
        _add(new, image["Config"], told)
        _add(new, "manifest.json", json.dumps([image]).encode())


def _layer(release: Release) -> bytes:
    """The modules, also compiled: containers cannot keep what they compile."""
    with tempfile.TemporaryDirectory() as name:
        folder = release.unpack(Path(name))
        _compile(folder)
        packed = BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for package in sorted(path for path in folder.iterdir() if path.is_dir()):
                _folder(tar, f"{MODULES}/{package.name}")
                _add(tar, f"{MODULES}/{package.name}/{_OPAQUE}", b"")
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                _add(tar, f"{MODULES}/{path.relative_to(folder)}", path.read_bytes())
    return packed.getvalue()


def _compile(folder: Path) -> None:
    """Beside the sources, wherever this process keeps its own."""
    for path in folder.rglob("*.py"):
        kept = path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"
        shown = f"/{MODULES}/{path.relative_to(folder)}"
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(path), str(kept), shown, doraise=True, invalidation_mode=unchecked)


def _folder(tar: tarfile.TarFile, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    tar.addfile(entry)


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    tar.addfile(entry, BytesIO(content))


def _member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    found = tar.extractfile(name)
    assert found is not None, name
    return found
