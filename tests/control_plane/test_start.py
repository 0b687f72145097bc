"""How long this tier's cluster takes to start, once it is built."""

from __future__ import annotations

import os
import time

from tests.cluster import select
from tests.cluster.binaries import ensure_binaries

START_SECONDS = 15


def test_a_control_plane_is_ready_within_15_seconds() -> None:
    ensure_binaries()
    took = _start()
    if took >= START_SECONDS:  # whoever else is at work on the machine gets a second chance
        took = _start()
    assert took < START_SECONDS


def _start() -> float:
    """Seconds until a new cluster is ready, which is then taken down."""
    cluster = select("control-plane", f"timed-{os.environ.get('BERNSTEIN_TEST_CLUSTER', 'tier')}")
    begun = time.monotonic()
    try:
        cluster.up()
        took = time.monotonic() - begun
        assert cluster.status().ready
        return took
    finally:
        cluster.down()
