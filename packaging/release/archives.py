"""Images as archives in the layout of OCI, from those that `docker save` writes.

They also have the list by which `docker load` finds an image, so that each of `docker load`,
`ctr images import` and `skopeo copy oci-archive:` takes them. One with several architectures has
an index, which Docker before 25 does not read: its list names the first alone.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from release.errors import ReleaseError
from release.layers import Layer, merged, published
from release.parts import INDEX, MANIFEST, Json, Part, part

CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


@dataclass(frozen=True)
class Archived:
    """An image in an archive."""

    digest: str
    """By which a registry gives it: of the index, where there are several architectures."""
    architectures: tuple[str, ...]
    telling: dict[str, str]
    """Files that say which packages are in it, by path."""
    layers: tuple[Path, ...] = ()
    """The files that hold what is kept of it."""


def convert(saved: Path, archive: Path, reference: str, epoch: int, kept: Path) -> Archived:
    """Write the image of an archive of `docker save` under this name.

    `epoch`: seconds; of that time is all in the image. `kept`: a folder for layers, which the next
    call reads again. Raises ReleaseError BadArchive.
    """
    blobs: dict[str, bytes | Path] = {}
    used: list[Path] = []
    try:
        with tarfile.open(saved) as tar:
            (image,) = json.load(_member(tar, "manifest.json"))
            old = json.load(_member(tar, image["Config"]))
            layers = []
            for name, diff_id in zip(image["Layers"], old["rootfs"]["diff_ids"], strict=True):
                layer, blob = published(_member(tar, name), diff_id, epoch, kept)
                layers.append(layer)
                used.append(blob)
                blobs[layer.digest] = blob
    except (KeyError, ValueError, tarfile.TarError) as error:
        raise ReleaseError(
            "BadArchive", f"{saved} holds no image of one name: {error!r}", "build it anew"
        ) from error
    config = _blob(blobs, CONFIG, _config(old, layers, epoch))
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config,
        "layers": [
            {"mediaType": LAYER, "digest": layer.digest, "size": layer.size} for layer in layers
        ],
    }
    described = {**_blob(blobs, MANIFEST, manifest), "platform": _platform(old)}
    _write(archive, blobs, described, manifest, reference)
    architectures = (_platform(old)["architecture"],)
    return Archived(described["digest"], architectures, merged(layers), tuple(used))


def join(archives: Sequence[Path], archive: Path, reference: str) -> Archived:
    """Write one image of several architectures, each from an archive of its own.

    `architectures` of the answer are in the order of the archives. Each archive is looked into by
    itself, and only what its own digests say is taken. Raises ReleaseError BadArchive, also where
    one has several architectures itself, or SameArchitecture.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        blobs: dict[str, bytes | Path] = {}
        parts: list[Part] = []
        for number, each in enumerate(archives):
            parts.append(part(each, Path(folder, str(number))))
            blobs |= parts[-1].blobs
        names = [each.architecture for each in parts]
        if len(set(names)) < len(names):
            raise ReleaseError(
                "SameArchitecture",
                f"these archives of {reference} are of {', '.join(names)}",
                "join archives of machines whose architectures differ",
            )
        parts.sort(key=lambda each: each.architecture)
        described = [each.described for each in parts]
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": described}
        top = _blob(blobs, INDEX, index)
        _write(archive, blobs, top, parts[0].manifest, reference)
    return Archived(str(top["digest"]), tuple(names), {})


def _member(tar: tarfile.TarFile, name: str) -> Any:
    found = tar.extractfile(name)
    if found is None:
        raise KeyError(name)
    return found


def _platform(config: Json) -> Json:
    names = ("architecture", "os", "variant")
    return {name: config[name] for name in names if config.get(name)}


def _config(old: Json, layers: Sequence[Layer], epoch: int) -> Json:
    """What the image runs, without what says when, where, how and in which container it was
    built: engines tell their steps differently."""
    created = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    wanted = ("Cmd", "Entrypoint", "Env", "ExposedPorts", "User", "WorkingDir")
    ours = old.get("config") or {}
    return {
        "created": created,
        **_platform(old),
        "config": {name: ours[name] for name in wanted if ours.get(name)},
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]},
    }


def _blob(blobs: dict[str, bytes | Path], media_type: str, content: Json) -> Json:
    """Adds it, and gives its descriptor."""
    data = json.dumps(content, separators=(",", ":"), sort_keys=True).encode()
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    blobs[digest] = data
    return {"mediaType": media_type, "digest": digest, "size": len(data)}


def _write(
    archive: Path, blobs: dict[str, bytes | Path], top: Json, first: Json, reference: str
) -> None:
    """`top`: the descriptor of what the name means; `first`: the manifest that Docker loads."""
    named = {
        "io.containerd.image.name": full_name(reference),
        "org.opencontainers.image.ref.name": reference.rpartition(":")[2],
    }
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [{**top, "annotations": named}]}
    docker = [
        {
            "Config": _path(first["config"]["digest"]),
            "RepoTags": [reference],
            "Layers": [_path(layer["digest"]) for layer in first["layers"]],
        }
    ]
    files: dict[str, bytes | Path] = {
        "oci-layout": b'{"imageLayoutVersion":"1.0.0"}',
        "index.json": json.dumps(index, sort_keys=True).encode(),
        "manifest.json": json.dumps(docker, sort_keys=True).encode(),
        **{_path(digest): blobs[digest] for digest in sorted(blobs)},
    }
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            if isinstance(content, Path):
                entry.size = content.stat().st_size
                with content.open("rb") as file:
                    tar.addfile(entry, file)
            else:
                entry.size = len(content)
                tar.addfile(entry, BytesIO(content))


def _path(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")


def full_name(reference: str) -> str:
    """With the registry that a name without one means, as containerd has it."""
    first, slash, _ = reference.partition("/")
    if not slash:
        return f"docker.io/library/{reference}"
    host = "." in first or ":" in first or first == "localhost"
    return reference if host else f"docker.io/{reference}"
