"""Debian packages that clusters and image builds need, installed only where they are missing.

A package counts as present when its program is, so that a machine with Docker's own containerd
keeps it: Debian's would remove it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.machine.lock import locked
from tests.cluster.machine.paths import REPOSITORY, cache_root
from tests.cluster.progress import say, step

CNI_FOLDERS = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))
# What the engine of network policies imports.
PYTHON_PACKAGES = ("aiohttp", "orjson", "structlog")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# program -> Debian package
CONTROL_PLANE: Mapping[str, str] = {"openssl": "openssl"}
NODE: Mapping[str, str] = {
    **CONTROL_PLANE,
    "bridge": "containernetworking-plugins",
    "conntrack": "conntrack",
    "containerd": "containerd",
    "ctr": "containerd",
    "ip": "iproute2",
    "nft": "nftables",
    "runc": "runc",
}
IMAGES: Mapping[str, str] = {"debootstrap": "debootstrap", "dockerd": "docker.io"}


def find_program(name: str) -> str | None:
    """Path of a system program, also when the caller's PATH lacks the sbin folders."""
    return shutil.which(name) or shutil.which(name, path=SYSTEM_PATH)


def program(name: str) -> str:
    """Path of a system program; ClusterError ProgramMissing when there is none."""
    path = find_program(name)
    if path is None:
        package = {**NODE, **IMAGES}.get(name, name)
        raise ClusterError(
            "ProgramMissing",
            f"the program {name} is not installed",
            f"install it, on Debian with: apt-get install {package}",
        )
    return path


def cni_folder() -> Path:
    """Folder of the CNI plugins; ClusterError ProgramMissing when there is none."""
    for folder in CNI_FOLDERS:
        if (folder / "bridge").exists():
            return folder
    raise ClusterError(
        "ProgramMissing",
        "the CNI plugins are in none of " + ", ".join(map(str, CNI_FOLDERS)),
        "install them, on Debian with: apt-get install containernetworking-plugins",
    )


def development_python() -> str:
    """A Python that has the project's packages: this one, or that of the checkout's environment.

    ClusterError PythonPackagesMissing when neither has.
    """
    own = REPOSITORY / ".venv" / "bin" / "python"
    if all(importlib.util.find_spec(name) for name in PYTHON_PACKAGES):
        return sys.executable
    if own.exists():
        return str(own)
    raise ClusterError(
        "PythonPackagesMissing",
        f"{sys.executable} lacks the project's packages, and there is no {own}",
        "make the development environment with: make venv",
    )


def missing_packages(needed: Mapping[str, str]) -> list[str]:
    """Sorted names of the packages whose programs are not there."""

    def present(name: str) -> bool:
        if needed[name] == "containernetworking-plugins":
            return any((folder / name).exists() for folder in CNI_FOLDERS)
        return find_program(name) is not None

    return sorted({needed[name] for name in needed if not present(name)})


def ensure_packages(needed: Mapping[str, str] | None = None) -> None:
    """Install what is missing of `needed` (program -> package; default: node and images).

    Safe to call from several processes. ClusterError when a package is missing and cannot be
    installed.
    """
    wanted = {**NODE, **IMAGES} if needed is None else needed
    if not missing_packages(wanted):
        return
    with locked(cache_root() / "packages.lock", "the installation of Debian packages"):
        missing = missing_packages(wanted)
        if missing:
            _install(missing)


def _install(packages: list[str]) -> None:
    command = "apt-get install --no-install-recommends " + " ".join(packages)
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise ClusterError(
            "PackagesMissing",
            f"these packages are missing: {', '.join(packages)}",
            f"install them as root, on Debian with: {command}",
        )
    with step(f"installing Debian packages: {', '.join(packages)}"):
        if _apt("install", *packages) != 0:
            say("the package lists may be old: updating them")
            _apt("update")
            if _apt("install", *packages) != 0:
                log = cache_root() / "packages.log"
                raise ClusterError(
                    "PackagesNotInstalled",
                    f"apt-get failed; its output is in {log}",
                    f"run it by hand and see: {command}",
                )


def _apt(verb: str, *packages: str) -> int:
    # --no-remove: never trade an engine that somebody uses for ours.
    options = ["-y", "-o", "DPkg::Lock::Timeout=300"]
    if verb == "install":
        options += ["--no-install-recommends", "--no-remove"]
    with (cache_root() / "packages.log").open("a") as log:
        return subprocess.run(
            ["apt-get", verb, *options, *packages],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=False,
        ).returncode
