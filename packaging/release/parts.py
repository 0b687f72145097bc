"""An archive of one architecture, from another machine: believed by its digests alone."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from release import sums
from release.errors import ReleaseError

Json = dict[str, Any]
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Part:
    """The one image of an archive."""

    described: Json
    """The descriptor of its manifest, with its platform and without a name."""
    manifest: Json
    blobs: Mapping[str, Path]
    """Files of the manifest, its config and its layers, by digest."""

    @property
    def architecture(self) -> str:
        return str(self.described["platform"]["architecture"])


def part(archive: Path, folder: Path) -> Part:
    """Unpack it into this folder, which is its own, and compare every blob with its descriptor.

    Raises ReleaseError BadArchive.
    """
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        return _read(folder)
    except (AttributeError, KeyError, OSError, TypeError, ValueError, tarfile.TarError) as error:
        raise ReleaseError(
            "BadArchive",
            f"{archive} is no image of one architecture: {error!r}",
            "take it from a folder that `make release` has made there, without ALSO",
        ) from error


def _read(folder: Path) -> Part:
    (top,) = json.loads((folder / "index.json").read_bytes())["manifests"]
    if top["mediaType"] != MANIFEST:
        raise ValueError("it has several architectures already")
    blobs: dict[str, Path] = {}
    manifest = json.loads(_blob(folder, top, blobs).read_bytes())
    config = json.loads(_blob(folder, manifest["config"], blobs).read_bytes())
    for layer in manifest["layers"]:
        _blob(folder, layer, blobs)
    for name in ("architecture", "os"):
        if not config[name] or config[name] != top["platform"][name]:
            raise ValueError(f"its platform has another {name} than its image")
    described = {name: top[name] for name in ("mediaType", "digest", "size", "platform")}
    return Part(described, manifest, blobs)


def _blob(folder: Path, described: Json, blobs: dict[str, Path]) -> Path:
    """Adds it. Raises ValueError where it is not what the descriptor says."""
    digest = described["digest"]
    named = _DIGEST.fullmatch(digest)
    if not named:
        raise ValueError(f"{digest!r} is no digest")
    path = folder / "blobs" / "sha256" / named[1]
    if path.stat().st_size != described["size"] or sums.of(path) != named[1]:
        raise ValueError(f"the blob {digest} has other bytes")
    blobs[digest] = path
    return path
