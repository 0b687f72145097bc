"""Who keeps operators starts them again, and gives them time where they lose their Lease."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.background import eventually
from tests.control_plane.controllers.crash.operators import (
    LEASE_SECONDS,
    LONGEST_LEASE_SECONDS,
    Replica,
)


class Sleepers:
    """In place of operators: each ends by itself after so long. `begun`: called once it runs."""

    def __init__(self, seconds: float) -> None:
        self.leases: list[str] = []
        self.begun: Callable[[], None] = lambda: None
        self._seconds = seconds
        self._processes: list[subprocess.Popen[bytes]] = []

    async def start(self, arguments: list[str], _: Path) -> int:
        self.leases.append(arguments[-1].removeprefix("--lease-seconds="))
        asyncio.get_running_loop().call_later(0.05, self.begun)
        return self._sleeper()

    def _sleeper(self) -> int:
        """Nobody waits for it, so that its number is no other's."""
        process = subprocess.Popen(["sleep", str(self._seconds)])
        self._processes.append(process)
        return os.pidfd_open(process.pid)

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


class NoProxy:
    """Of which nothing is asked but to hang up."""

    def hang_up(self) -> None: ...


@pytest.mark.parametrize("is_killed", [True, False])
async def test_only_who_ends_by_itself_gets_a_longer_lease_the_next_time(
    tmp_path: Path, *, is_killed: bool
) -> None:
    sleepers, proxy = Sleepers(60 if is_killed else 0), NoProxy()
    nursery: Any = sleepers
    way: Any = proxy
    replica = Replica(way, nursery, ["--http-port=0"], tmp_path)
    if is_killed:
        sleepers.begun = replica.kill
    keeping = asyncio.create_task(replica.keep())
    try:
        await eventually(lambda: len(sleepers.leases) >= 6)
    finally:
        sleepers.begun = lambda: None
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        sleepers.end()

    longer = [min(LEASE_SECONDS * 2**n, LONGEST_LEASE_SECONDS) for n in range(6)]
    wanted = [LEASE_SECONDS] * 6 if is_killed else longer
    assert sleepers.leases[:6] == [str(seconds) for seconds in wanted]
