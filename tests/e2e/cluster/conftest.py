"""The local cluster itself: what pods get, what survives, and what `down` leaves behind.

All tests share one machine and its cluster, one after another: none may run beside them, because
they count what the machine holds.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import pytest

from tests.cluster.binaries.build import ensure_binaries
from tests.cluster.local import image_archive
from tests.cluster.machine.packages import NODE, ensure_packages
from tests.cluster.machine.paths import binaries_root
from tests.e2e.cluster.machine import IMAGE, Machine


@pytest.fixture(scope="session")
def machine() -> Iterator[Machine]:
    if os.geteuid() != 0:
        pytest.skip("a local node needs root")
    ensure_packages(NODE)
    ensure_binaries()
    # The paths of pytest's own temporary folders are too long for the sockets in it.
    with TemporaryDirectory(prefix="bernstein-") as folder:
        cache = Path(folder)
        (cache / "bernstein").mkdir()
        (cache / "bernstein" / "kubernetes").symlink_to(binaries_root())
        made = Machine(f"bernstein-test-{uuid4().hex[:8]}", cache)
        subprocess.run(["ip", "netns", "add", made.namespace], check=True)
        try:
            made.inside("ip", "link", "set", "lo", "up")
            yield made
            made.cluster("down", "--all")
        finally:
            subprocess.run(["ip", "netns", "delete", made.namespace], check=True)


@pytest.fixture(scope="session")
def untouched(machine: Machine) -> set[str]:
    """What there was before any cluster."""
    return machine.inventory()


@pytest.fixture(scope="session")
def archive(machine: Machine) -> Path:
    path = machine.cache / "probe.tar"
    probe = ensure_binaries().path("probe").read_bytes()
    image_archive.write(path, IMAGE, [("/probe", probe)], ["/probe"])
    return path


@pytest.fixture
def running(machine: Machine, untouched: set[str], archive: Path) -> Machine:
    """The machine with a cluster that is up, and the probe's image in it."""
    machine.up()
    machine.cluster("load", str(archive))
    return machine
