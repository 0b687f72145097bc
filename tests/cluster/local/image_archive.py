"""Image archives as `docker save` writes them: reading their contents, and making small ones."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.errors import ClusterError


def full_name(reference: str) -> str:
    """The reference with registry, repository and tag spelled out, as containerd stores it."""
    name, separator, digest = reference.partition("@")
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif not ("." in first or ":" in first or first == "localhost"):
        name = f"docker.io/{name}"
    if separator:
        return f"{name}@{digest}"
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def contents(archive: Path) -> dict[str, str]:
    """Full image name -> sha256 digest of its configuration, for every tag in the archive.

    The digest is what Docker shows as image ID. ClusterError BadImageArchive.
    """
    try:
        with tarfile.open(archive) as tar:
            member = tar.extractfile("manifest.json")
            assert member is not None
            found = {}
            for image in json.load(member):
                config = tar.extractfile(image["Config"])
                assert config is not None
                digest = hashlib.sha256(config.read()).hexdigest()
                for tag in image["RepoTags"] or []:
                    found[full_name(tag)] = digest
    except (OSError, KeyError, ValueError, AssertionError, tarfile.TarError) as error:
        raise ClusterError(
            "BadImageArchive",
            f"{archive} is no image archive: {error!r}",
            "write it with: docker save -o FILE IMAGE:TAG",
        ) from error
    if not found:
        raise ClusterError(
            "BadImageArchive",
            f"{archive} holds no tagged image",
            "save the image by its name and tag, not by its ID",
        )
    return found


def write(
    archive: Path, reference: str, files: Sequence[tuple[str, bytes]], entrypoint: Sequence[str]
) -> None:
    """Write an image of one layer with these executable files (path in the image, contents)."""
    layer = _tar([(path.lstrip("/"), data, 0o755) for path, data in files])
    layer_digest = hashlib.sha256(layer).hexdigest()
    config = json.dumps(
        {
            "architecture": architecture(),
            "os": "linux",
            "config": {"Entrypoint": list(entrypoint)},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_digest}"]},
        }
    ).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    layer_name = f"{layer_digest}/layer.tar"
    manifest = [{"Config": config_name, "RepoTags": [reference], "Layers": [layer_name]}]
    members = [
        (layer_name, layer, 0o644),
        (config_name, config, 0o644),
        ("manifest.json", json.dumps(manifest).encode(), 0o644),
    ]
    archive.write_bytes(_tar(members))


def architecture() -> str:
    """This machine's architecture by the name that images use."""
    machine = platform.machine()
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


def _tar(members: Sequence[tuple[str, bytes, int]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path, data, mode in members:
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            entry.mode = mode
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()
