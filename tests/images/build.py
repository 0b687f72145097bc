"""Builds what changed and keeps, per image, an archive that a container runtime can import."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import tarfile
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.cluster.machine.lock import locked
from tests.cluster.machine.paths import cache_root
from tests.cluster.progress import say, step
from tests.images import catalog, engine
from tests.images.catalog import Image
from tests.images.command import BuildError

__all__ = ["BuildError", "Built", "build", "cache_folder", "clean", "load"]

CA_IN_CONTEXT = "build-ca.crt"
"""Certificates that this machine trusts, for the build stages that download."""
_CA_FILES = ("SSL_CERT_FILE", "PIP_CERT", "NODE_EXTRA_CA_CERTS")
_SYSTEM_CA = Path("/etc/ssl/certs/ca-certificates.crt")


@dataclass(frozen=True, slots=True)
class Built:
    """One image as it lies in the cache."""

    name: str
    tag: str
    hash: str
    tar: str
    """Archive of `docker save`; of this image alone, so that no old neighbour is loaded with it."""


def cache_folder() -> Path:
    return cache_root() / "images"


def build(names: list[str], cache: Path | None = None) -> list[Built]:
    """Bring the images of these names (all if none) up to date.

    Raises BuildError with the tail of the failed step's log, ValueError for an unknown name.
    """
    images = catalog.select(names)
    cache = cache or cache_folder()
    with locked(cache / "lock", "the build of images"):
        manifest = load(cache)
        machine = engine.present(cache / "logs/pull.log")
        base = machine.base if machine else engine.own_base()
        wanted = {image: catalog.digest(image, base) for image in images}
        stale = [i for i in images if not _current(manifest.get(i.name), wanted[i])]
        if stale:
            with contextlib.nullcontext(machine) if machine else engine.own(cache) as builder:
                for image in stale:
                    archive = _build(builder, image, wanted[image], cache)
                    manifest[image.name] = Built(
                        image.name, image.reference, wanted[image], str(archive)
                    )
                    _store(cache, manifest)
                _prune(builder, cache)
        say(f"images: {len(stale)} built, {len(images) - len(stale)} unchanged")
        return [manifest[image.name] for image in images]


def load(cache: Path | None = None) -> dict[str, Built]:
    """The manifest by image name: what the last builds left."""
    try:
        records = json.loads(((cache or cache_folder()) / "manifest.json").read_text())
    except FileNotFoundError:
        return {}
    return {record["name"]: Built(**record) for record in records}


def clean(cache: Path | None = None) -> None:
    """Remove everything that builds keep."""
    cache = cache or cache_folder()
    with locked(cache / "lock", "the build of images"):
        engine.remove_storage(cache)
    shutil.rmtree(cache, ignore_errors=True)


def _current(built: Built | None, digest: str) -> bool:
    return built is not None and built.hash == digest and Path(built.tar).exists()


def _build(builder: engine.Engine, image: Image, digest: str, cache: Path) -> Path:
    context = cache / "context.tar"
    _write_context(image, context)
    with step(f"building {image.reference}"):
        builder.docker(
            *("build", "--network=host", "--tag", image.reference),
            *("--label", f"bernstein.hash={digest}"),
            *("--file", image.dockerfile, "-"),
            log=cache / f"logs/{image.name}.log",
            stdin=context,
        )
    context.unlink()
    archive = cache / f"archives/{image.name}-{digest[:12]}.tar"
    archive.parent.mkdir(parents=True, exist_ok=True)
    partial = archive.with_suffix(".partial")
    with step(f"saving {image.reference}"):
        builder.docker(
            *("save", "--output", str(partial), image.reference), log=cache / "logs/save.log"
        )
    partial.replace(archive)
    return archive


def _prune(builder: engine.Engine, cache: Path) -> None:
    """Remove what earlier builds left and no build used lately; the younger is the layer cache."""
    builder.docker(
        "image", "prune", "--force", "--filter", "until=72h", log=cache / "logs/prune.log"
    )


def _write_context(image: Image, archive: Path) -> None:
    with tarfile.open(archive, "w") as tar:
        for name, path in catalog.files(image):
            info = tarfile.TarInfo(name)
            info.size = path.stat().st_size
            info.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            with path.open("rb") as content:
                tar.addfile(info, content)
        certificates = _certificates()
        info = tarfile.TarInfo(CA_IN_CONTEXT)
        info.size, info.mode = len(certificates), 0o644
        tar.addfile(info, io.BytesIO(certificates))


def _certificates() -> bytes:
    named = [Path(os.environ[name]) for name in _CA_FILES if os.environ.get(name)]
    for path in [*named, _SYSTEM_CA]:
        if path.is_file():
            return path.read_bytes()
    return b""


def _store(cache: Path, manifest: dict[str, Built]) -> None:
    partial = cache / "manifest.partial"
    partial.write_text(json.dumps([asdict(built) for built in manifest.values()], indent=2))
    partial.replace(cache / "manifest.json")
    used = {Path(built.tar).name for built in manifest.values()}
    for path in (cache / "archives").iterdir():
        if path.name not in used:
            path.unlink()
