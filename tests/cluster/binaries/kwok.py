"""KWOK, which plays nodes and pods, built from its Go module when a bench first wants it."""

from __future__ import annotations

import hashlib
import platform
import shutil
from pathlib import Path

from tests.cluster.binaries.build import COLLECTOR, COMPILER, run_build
from tests.cluster.binaries.go import toolchain
from tests.cluster.machine.lock import locked
from tests.cluster.machine.paths import KWOK_MODULE, kwok_root
from tests.cluster.progress import step

COMMAND = "sigs.k8s.io/kwok/cmd/kwok"
FLAGS = ("-buildvcs=false", "-trimpath", *COMPILER, "-ldflags", "-s -w")


def kwok_key(module: Path) -> str:
    """Sixteen hex digits over the module's files, the flags and the architecture."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((module / name).read_bytes() + b"\0")
    digest.update("\0".join([*FLAGS, COMMAND, platform.machine()]).encode())
    return digest.hexdigest()[:16]


def ensure_kwok() -> Path:
    """The program, built unless it is in the cache. Safe to call from several processes.

    ClusterError GoMissing, GoTooOld or BuildFailed.
    """
    folder = kwok_root() / kwok_key(KWOK_MODULE)
    if not folder.is_dir():
        with locked(kwok_root() / "build.lock", "the build of KWOK"):
            if not folder.is_dir():
                _build(folder)
    return folder / "kwok"


def _build(folder: Path) -> None:
    partial = folder.with_name(folder.name + ".partial")
    go = toolchain(partial, KWOK_MODULE)
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    log = kwok_root() / "build.log"
    log.unlink(missing_ok=True)
    with step(f"building KWOK (log: {log})"):
        run_build(
            [*go(COLLECTOR), "build", "-v", *FLAGS, "-o", f"{partial}/", COMMAND], log, KWOK_MODULE
        )
    for old in kwok_root().iterdir():
        if old.is_dir() and old != partial:
            shutil.rmtree(old)
    partial.rename(folder)
