"""The base image where it cannot be pulled: Debian by debootstrap, slim as the published one."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from tests.cluster.machine.packages import program
from tests.cluster.progress import step
from tests.images.command import run

SUITE = "bookworm"

_DPKG = """\
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/groff/*
path-exclude /usr/share/info/*
path-exclude /usr/share/linda/*
path-exclude /usr/share/lintian/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
force-unsafe-io
"""
_APT = """\
APT::Install-Recommends "false";
APT::Install-Suggests "false";
Acquire::Languages "none";
Acquire::GzipIndexes "true";
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };
"""
_POLICY = "#!/bin/sh\nexit 101\n"
"""Services are not started when a package is installed in an image."""

_STRIPPED = (
    "usr/share/doc",
    "usr/share/groff",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
    "var/cache/apt",
    "var/lib/apt/lists",
    "var/log",
    "debootstrap",
)


def recipe() -> str:
    """Identifies what `bootstrap` makes."""
    return hashlib.sha256("\0".join((SUITE, _DPKG, _APT, _POLICY, *_STRIPPED)).encode()).hexdigest()


def bootstrap(folder: Path) -> Path:
    """Archive of a minimal Debian's root file system, made unless it lies in `folder` already."""
    archive = folder / f"{SUITE}-{recipe()[:12]}.tar"
    if archive.exists():
        return archive
    tree = folder / "rootfs"
    if tree.exists():
        shutil.rmtree(tree)
    folder.mkdir(parents=True, exist_ok=True)
    with step(f"debootstrap {SUITE}"):
        _debootstrap(tree, folder)
        _strip(tree)
        _settle(tree)
        _pack(tree, archive, folder)
    shutil.rmtree(tree)
    return archive


def _debootstrap(tree: Path, folder: Path) -> None:
    # In namespaces of its own, so that nothing stays mounted or running when it is interrupted.
    isolated = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    command = [program("debootstrap"), "--variant=minbase", SUITE, str(tree)]
    run([*isolated, *command], folder / "debootstrap.log")


def _strip(tree: Path) -> None:
    for name in _STRIPPED:
        path = tree / name
        if name == "usr/share/doc":
            _strip_documentation(path)
        elif path.exists():
            shutil.rmtree(path)
    for name in ("var/cache/apt/archives/partial", "var/lib/apt/lists/partial", "var/log/apt"):
        (tree / name).mkdir(parents=True)
    for machine_id in (tree / "etc/machine-id", tree / "var/lib/dbus/machine-id"):
        if machine_id.exists():
            machine_id.write_text("")


def _strip_documentation(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.name != "copyright":
            path.unlink()


def _settle(tree: Path) -> None:
    (tree / "etc/dpkg/dpkg.cfg.d/docker").write_text(_DPKG)
    (tree / "etc/apt/apt.conf.d/docker").write_text(_APT)
    policy = tree / "usr/sbin/policy-rc.d"
    policy.write_text(_POLICY)
    policy.chmod(0o755)
    for name in ("etc/hostname", "etc/resolv.conf"):
        (tree / name).unlink(missing_ok=True)


def _pack(tree: Path, archive: Path, folder: Path) -> None:
    partial = archive.with_suffix(".partial")
    run(
        ["tar", "--numeric-owner", "--sort=name", "-C", str(tree), "-cf", str(partial), "."],
        folder / "tar.log",
    )
    partial.replace(archive)
