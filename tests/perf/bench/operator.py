"""The operator's real process on a cluster, as its Deployment would run it."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bernstein.kube.config import ConnectionInfo
from bernstein.observe import series
from tests.cluster.control_plane.addresses import free_ports
from tests.control_plane.conftest import RELEASE_NAMESPACE
from tests.perf.bench.processes import cpu_seconds, memory_bytes
from tests.perf.bench.prometheus import Samples, parse

RECONCILES = series.RECONCILES.name
REQUESTS = series.REQUESTS.name
LEADER = series.LEADER.name
DEPTH = series.QUEUE_DEPTH.name
METRICS = frozenset({RECONCILES, REQUESTS, LEADER, DEPTH})
PROGRAM = ("bernstein.controllers",)
"""As Python's option -m takes it, with what comes before the operator's own arguments."""
LOOK_SECONDS = 0.2
AT_REST_SECONDS = 0.02
"""CPU that it may use between two looks without being at work."""
QUIET_SECONDS = 2.0
"""After so long without work it is asked, and once more half as long after that."""
NO_WORK = ("leases", "events")
"""Requests about these are no work: of its Lease, and of what it tells."""


class Operator:
    """One replica, started again whenever it ends by itself: then it has lost its Lease."""

    def __init__(self, account: ConnectionInfo, token: str, folder: Path) -> None:
        self.lost = 0
        """How often it ended by itself."""
        self.asked = 0
        """How often its metrics were read: what that costs is the bench's and not its own."""
        self._folder = folder
        self._kubeconfig = folder / "operator.kubeconfig"
        self._kubeconfig.touch(mode=0o600)
        self._kubeconfig.write_text(json.dumps(_kubeconfig(account, token)))
        self._port = 0
        self._arguments: tuple[str, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._used = 0.0

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def cpu(self) -> float:
        """Seconds, of those that ended by themselves, too."""
        return self._used + cpu_seconds(self.pid)

    @property
    def memory(self) -> int:
        """Resident bytes."""
        return memory_bytes(self.pid)

    def start(self, *arguments: str, program: Sequence[str] = PROGRAM) -> None:
        """Start it with these arguments besides its usual ones; another program looks at it while
        it works."""
        self._port = free_ports(["metrics"], ())["metrics"]
        self._arguments = arguments
        command = [
            *(sys.executable, "-m", *program),
            *("--image=bernstein:dev", f"--namespace={RELEASE_NAMESPACE}"),
            *(f"--http-port={self._port}", "--log-level=warning"),
            *arguments,
        ]
        self._started = time.monotonic()
        with (self._folder / "operator.log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={
                    **os.environ,
                    "KUBECONFIG": str(self._kubeconfig),
                    "PYTHONPATH": os.pathsep.join(sys.path),
                },
            )

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def stop(self) -> None:
        """As on SIGTERM: it ends its work and gives its Lease back."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def keep(self) -> None:
        """Start it again if it has ended by itself."""
        if self._process is None or not _has_ended(self.pid):
            return
        self._used += cpu_seconds(self.pid)  # as long as nobody has waited for it
        self._process.wait()
        self.lost += 1
        self.start(*self._arguments)

    async def kept(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.keep()

    def metrics(self) -> Samples | None:
        """None: it does not answer, or not yet."""
        self.asked += 1
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        try:
            connection.request("GET", "/metrics")
            return parse(connection.getresponse().read().decode(), METRICS)
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def settle(self, seconds: float, *, reconciles: int = 0) -> float:
        """Wait until it leads, has looked so often, and has nothing to do; the time from its start
        to its last work.

        It is asked only when it seems to rest, because every answer costs it CPU. Raises
        TimeoutError after so many seconds.
        """
        deadline = time.monotonic() + seconds
        said, since, used = None, time.monotonic(), 0.0
        while time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
            self.keep()
            now, before, used = time.monotonic(), used, self.cpu
            if used - before > AT_REST_SECONDS:
                said, since = None, now
            elif now - since >= QUIET_SECONDS * (1 if said is None else 1.5):
                samples, used = self.metrics(), self.cpu
                state = None if samples is None else _state(samples, reconciles)
                if state is None or said not in (None, state):
                    said, since = None, time.monotonic()
                elif said == state:
                    return since - self._started
                said = state
        raise TimeoutError(f"the operator has not settled within {seconds:.0f} s")

    def wait(self, holds: Callable[[Samples], bool], seconds: float) -> None:
        """Until its metrics say so. Raises TimeoutError after so many seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.keep()
            samples = self.metrics()
            if samples is not None and holds(samples):
                return
            time.sleep(LOOK_SECONDS)
        raise TimeoutError(f"the operator has not come so far within {seconds:.0f} s")


def _has_ended(pid: int) -> bool:
    """Whether a child has, which nobody has waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _state(samples: Samples, least: int) -> tuple[float, float] | None:
    """What grows with every piece of work; None: it does not lead, or there is work to be done."""
    reconciles = samples.total(RECONCILES)
    if not samples.total(LEADER) or samples.total(DEPTH) or reconciles < least:
        return None
    return reconciles, requests(samples, ("GET", "WATCH", "POST", "PATCH", "PUT", "DELETE"))


def requests(samples: Samples, verbs: Sequence[str]) -> float:
    """How many it has made with these methods, but for its Lease and its Events."""
    found = samples.by(REQUESTS, "method", "resource")
    return sum(n for (verb, what), n in found.items() if verb in verbs and what not in NO_WORK)


def writes(samples: Samples) -> float:
    """How often it has written, but for its Lease and its Events."""
    return requests(samples, ("POST", "PATCH", "PUT", "DELETE"))


def _kubeconfig(account: ConnectionInfo, token: str) -> dict[str, object]:
    assert account.ca_file is not None
    authority = base64.b64encode(Path(account.ca_file).read_bytes()).decode()
    cluster = {"server": account.server, "certificate-authority-data": authority}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
