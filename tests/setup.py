"""`python3 -m tests.setup packages`: what the Debian machine itself must have."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.cluster import kind
from tests.cluster.errors import ClusterError
from tests.cluster.machine.packages import CONTROL_PLANE, IMAGES, NODE, ensure_packages

DEVELOPMENT = {
    "amtool": "prometheus-alertmanager",
    "cc": "gcc",
    "git": "git",
    "jq": "jq",
    "promtool": "prometheus",
    "redis-server": "redis-server",
    "ssh": "openssh-client",
}


def _cluster() -> Mapping[str, str]:
    """Programs of a node and of image builds, where they are not in kind's and Docker's hands."""
    return CONTROL_PLANE if kind.usable() else {**NODE, **IMAGES}


def _libraries() -> dict[str, str]:
    """Packages that are known by files instead of programs."""
    missing = {}
    if not Path("/usr/include/stdio.h").exists():
        missing["stdio.h"] = "libc6-dev"
    if importlib.util.find_spec("ensurepip") is None:
        missing["ensurepip"] = "python3-venv"
    return missing


def main() -> int:
    try:
        ensure_packages({**_cluster(), **DEVELOPMENT, **_libraries()})
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
