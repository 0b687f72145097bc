"""The operator's real processes in a world: killed by SIGKILL, and started again by whoever keeps
them, as a Deployment does."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import yaml

from bernstein.kube.config import ConnectionInfo
from tests.control_plane.controllers.crash.faults import Faults
from tests.control_plane.controllers.crash.proxy import Crash, Proxy
from tests.control_plane.controllers.world import World

LEASE_SECONDS = 2
LONGEST_LEASE_SECONDS = 32
"""Whoever loses a Lease on a busy machine has one that lasts twice as long the next time: with a
short one no process might ever come to its first write."""
NURSERY = "tests.control_plane.controllers.crash.nursery"


class Nursery:
    """The process that operators are forked from."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._turn = asyncio.Lock()

    async def start(self, arguments: list[str], folder: Path) -> int:
        """A file descriptor of the new process, whose kubeconfig and log are in the folder."""
        starting = asyncio.ensure_future(self._start(arguments, folder))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The answer comes all the same, and is nobody else's.
            process = await starting
            signal.pidfd_send_signal(process, signal.SIGKILL)
            os.close(process)
            raise

    async def _start(self, arguments: list[str], folder: Path) -> int:
        wanted = {"arguments": arguments, "folder": str(folder)}
        source, answers = self._process.stdin, self._process.stdout
        assert source is not None
        assert answers is not None
        async with self._turn:
            source.write(json.dumps(wanted).encode() + b"\n")
            return os.pidfd_open(int(await answers.readline()))


@contextlib.asynccontextmanager
async def nursery() -> AsyncIterator[Nursery]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", NURSERY),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        # The path is read once, with the imports: each operator has its own folder to find it in.
        env={**os.environ, "KUBECONFIG": "kubeconfig", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        yield Nursery(process)
    finally:
        process.kill()
        await process.wait()


class Replica:
    """One place of the Deployment: an operator that is started again whenever it ends."""

    def __init__(self, proxy: Proxy, nursery: Nursery, arguments: list[str], folder: Path) -> None:
        self.starts = 0
        self.lease_seconds = LEASE_SECONDS
        self._killed = False
        self._proxy = proxy
        self._nursery = nursery
        self._arguments = arguments
        self._folder = folder
        self._process: int | None = None
        proxy.kill = self.kill

    def kill(self) -> None:
        self._killed = True
        if self._process is not None:
            signal.pidfd_send_signal(self._process, signal.SIGKILL)

    async def keep(self) -> None:
        """Until cancelled; then the operator is killed."""
        while True:
            self.starts += 1
            self._killed = False
            arguments = [*self._arguments, f"--lease-seconds={self.lease_seconds}"]
            self._process = await self._nursery.start(arguments, self._folder)
            try:
                await _ended(self._process)
                if not self._killed:
                    self.lease_seconds = min(2 * self.lease_seconds, LONGEST_LEASE_SECONDS)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    self.kill()
                os.close(self._process)
                self._process = None
                self._proxy.hang_up()


async def _ended(process: int) -> None:
    """A process that has ended can be read from."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(process)


@contextlib.asynccontextmanager
async def deployment(
    world: World,
    nursery: Nursery,
    folder: Path,
    crash: Crash,
    *,
    replicas: int = 1,
    faults: Faults | None = None,
) -> AsyncIterator[list[Replica]]:
    """So many operators at work in the world, each behind a proxy of its own."""
    async with contextlib.AsyncExitStack() as stack:
        kept = []
        for number in range(replicas):
            place = folder / f"{world.namespace}-{number}"
            place.mkdir()
            proxy = await stack.enter_async_context(Proxy(world.operator, crash, faults))
            config = await _kubeconfig(world.operator, proxy.url)
            (place / "kubeconfig").write_text(yaml.safe_dump(config))
            (place / "kubeconfig").chmod(0o600)
            kept.append(Replica(proxy, nursery, _arguments(world), place))
        async with asyncio.TaskGroup() as group:
            keeping = [group.create_task(replica.keep()) for replica in kept]
            try:
                yield kept
            finally:
                for task in keeping:
                    task.cancel()


def _arguments(world: World) -> list[str]:
    options = {
        "image": "bernstein:dev",
        "namespace": world.namespace,
        "watch": world.namespace,
        "lease-name": "operator",
        "http-port": "0",
    }
    return [f"--{name}={value}" for name, value in options.items()]


async def _kubeconfig(account: ConnectionInfo, url: str) -> dict[str, object]:
    assert account.token is not None
    token = await account.token.token()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
