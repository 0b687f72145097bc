"""Choosing a provider by name, or by what the machine can do."""

from __future__ import annotations

import os
import sys

from tests.cluster import kind
from tests.cluster.control_plane.cluster import ControlPlane
from tests.cluster.errors import ClusterError
from tests.cluster.interface import Cluster
from tests.cluster.kwok.cluster import KwokCluster
from tests.cluster.local.cluster import LocalCluster

PROVIDERS = ("auto", "kind", "local", "control-plane", "kwok")
WITHOUT_CONTAINERS = ("control-plane", "kwok")


def select(provider: str = "auto", name: str | None = None) -> Cluster:
    """A cluster of the given provider; `auto` is kind where it can run, else local.

    `name` is the provider's own name by default. ClusterError NoProvider or UnknownProvider.
    """
    if provider == "auto":
        provider = _best_provider()
    if provider == "kind":
        return kind.KindCluster(name or "kind")
    if provider == "local":
        return LocalCluster(name or "local")
    if provider == "control-plane":
        return ControlPlane(name or "control-plane")
    if provider == "kwok":
        return KwokCluster(name or "kwok")
    raise ClusterError(
        "UnknownProvider", f"there is no provider {provider}", f"use one of {', '.join(PROVIDERS)}"
    )


def _best_provider() -> str:
    if kind.usable():
        return "kind"
    if sys.platform == "linux" and os.geteuid() == 0:
        return "local"
    raise ClusterError(
        "NoProvider",
        "kind cannot run here, and a local node needs Linux and root",
        "install kind and Docker with access to images, or run as root on Linux",
    )
