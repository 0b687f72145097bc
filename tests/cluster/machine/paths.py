"""Where caches and cluster state live.

Everything is below one cache folder. Binaries are keyed by content, so every checkout on the
machine shares them. containerd's sockets and state lie in /run, because a socket's path may have
107 bytes at most and a reboot has to forget them; the kubelet's own are in the cluster's folder.
"""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
GO_MODULE = REPOSITORY / "tests" / "kubernetes"
KWOK_MODULE = GO_MODULE / "kwok"
GITEA_MODULE = GO_MODULE / "gitea"
GITOPS_MODULE = GO_MODULE / "gitops"
COLLECTOR_MODULE = GO_MODULE / "collector"
"""Modules of their own: these programs want other versions of libraries."""


def cache_root() -> Path:
    """Folder of all caches: $XDG_CACHE_HOME/bernstein, or ~/.cache/bernstein."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base).resolve() / "bernstein"


def binaries_root() -> Path:
    """Folder with one subfolder per build of the Go module."""
    return cache_root() / "kubernetes"


def clusters_root() -> Path:
    """Folder with one subfolder per cluster name."""
    return cache_root() / "clusters"


def image_store(name: str) -> Path:
    """Root of a cluster's containerd: images survive `down` here."""
    return cache_root() / "containerd" / name


def runtime_folder(cluster_id: str) -> Path:
    """Folder for sockets and containerd's state of a running cluster."""
    return Path("/run/bernstein") / cluster_id
