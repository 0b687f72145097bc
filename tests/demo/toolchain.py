"""The example's toolchain on this machine: what its image holds, without the image."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from tests.cluster.machine.lock import locked
from tests.cluster.machine.packages import ensure_packages, find_program
from tests.cluster.machine.paths import cache_root

LOCK = Path(__file__).resolve().parents[2] / "images/toolchain/requirements.lock"


def environment() -> dict[str, str]:
    """Environment variables of a process that finds the toolchain; set up at the first call."""
    folder = cache_root() / f"toolchain-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    ensure_packages({"redis-server": "redis-server"})
    server = find_program("redis-server")
    assert server is not None
    with locked(cache_root() / "toolchain.lock", "the example's toolchain"):
        if not (folder / "complete").exists():
            _install(folder)
    path = f"{folder}/bin:{Path(server).parent}:/usr/bin:/bin"
    return {
        "PATH": path,
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RUFF_NO_CACHE": "true",
    }


def _install(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(folder / "bin/pip"), "install", "--quiet", "--no-deps", "--require-hashes"]
    subprocess.run([*pip, "-r", str(LOCK)], check=True)
    (folder / "complete").touch()
