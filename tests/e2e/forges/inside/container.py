"""What a container that runs can read, seen from its node: nobody may connect to one of ours."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import signal
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.background import wait_for

_PROC = Path("/proc")
_LEFT = re.compile(
    r"/pods/(?P<pod>[0-9a-f-]{36})/containers/(?P<name>[a-z0-9-]+)/[0-9a-f]+ /dev/termination-log "
)
"""Where the node keeps what a container leaves at its end: that says whose container it is."""
_NOT_OURS = ("proc", "sysfs", "cgroup", "cgroup2", "mqueue", "devpts")
"""Kinds of mounts that every container has, and that no volume is of."""
_MOST = 1 << 19
"""Bytes of a file that is read: credentials are small."""
_TOKEN = re.compile(rb"eyJ[\w-]{20,}\.(eyJ[\w-]{20,})\.[\w-]{20,}")
"""As Kubernetes makes them for pods, with what it says of itself."""
ENVIRONMENT, COMMAND = "environment", "command"

Held = Mapping[str, frozenset[str]]
"""By the name of a credential, where in the container it is: a variable, a command, or a mount."""


@dataclass(frozen=True)
class Container:
    """One of a pod, with the processes in it that have been started."""

    pod: str
    """Its UID."""
    name: str
    processes: tuple[int, ...]

    def stop(self) -> None:
        """Whoever gets the signal stops a moment later, unless it ends meanwhile. One that waits in
        the kernel (D) stops before it does anything else; it may wait for its own stopped child."""
        self._send(signal.SIGSTOP)
        wait_for(lambda: all(state_of(process) in "TDZX" for process in self.processes))

    def is_stopped(self) -> bool:
        """Its volumes can be read: one that has ended has none any more."""
        return state_of(self.processes[0]) in "TD"

    def go_on(self) -> None:
        self._send(signal.SIGCONT)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, what: signal.Signals) -> None:
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, what)

    def holds(self, secrets: Mapping[str, str]) -> Held:
        """Which of these texts, and which tokens of Kubernetes, are in its volumes, or are what its
        processes were started with."""
        found = defaultdict[str, set[str]](set)
        for place, content in self._readable():
            for name, text in secrets.items():
                if text.encode() in content:
                    found[name].add(place)
            for token in _TOKEN.finditer(content):
                found[f"token for {_audience(token[1])}"].add(place)
        return {name: frozenset(places) for name, places in found.items()}

    def _readable(self) -> Iterator[tuple[str, bytes]]:
        for each in self.processes:
            yield ENVIRONMENT, _read(_PROC / str(each) / "environ")
            yield COMMAND, _read(_PROC / str(each) / "cmdline")
        first = _PROC / str(self.processes[0])
        rows = [row.split(" ") for row in _read(first / "mounts").decode().splitlines()]
        places = {at for _, at, kind, *_ in rows if kind not in _NOT_OURS}
        for at in sorted(places):
            if at != "/" and not at.startswith(("/proc", "/sys", "/dev")):
                yield from ((at, content) for content in contents_of(Path(f"{first}/root{at}")))


def needs_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root sees the processes of containers")


def running(network: str | None = None) -> list[Container]:
    """Those of this node whose program has been started; `network`: of the pod with this one."""
    found = defaultdict[tuple[str, str], list[int]](list)
    for process in processes():
        if network is None or network_of(process) == network:
            who = of_process(process)
            if who is not None:
                found[who].append(process)
    return [Container(pod, name, tuple(sorted(ids))) for (pod, name), ids in found.items()]


def processes() -> Iterator[int]:
    return (int(name) for name in os.listdir(_PROC) if name.isdecimal())  # noqa: PTH208 - it is asked often


def of_process(process: int) -> tuple[str, str] | None:
    """The pod's UID and the container's name; None while it is in none, or not yet its program."""
    if is_being_made(process):
        return None
    found = _LEFT.search(_read(_PROC / str(process) / "mountinfo").decode(errors="replace"))
    return (found["pod"], found["name"]) if found is not None else None


def is_being_made(process: int) -> bool:
    """It is still the program that makes containers: its next one may be a container's."""
    return _read(_PROC / str(process) / "comm").startswith(b"runc")


def state_of(process: int) -> str:
    """A letter, as `ps` shows it; X: it has gone."""
    _, _, rest = _read(_PROC / str(process) / "stat").decode(errors="replace").rpartition(") ")
    return rest[:1] or "X"


def network_of(process: int) -> str:
    try:
        return str((_PROC / str(process) / "ns/net").readlink())
    except OSError:
        return ""


def that_connects(address: str, port: int) -> str | None:
    """The network with a connection from there; None: nobody's on this node."""
    parts = reversed(address.split("."))
    wanted = f"{''.join(f'{int(part):02X}' for part in parts)}:{port:04X}".encode()
    seen = {network_of(os.getpid())}
    for process in processes():
        network = network_of(process)
        if network not in seen:
            seen.add(network)
            rows = map(bytes.split, _read(_PROC / str(process) / "net/tcp").splitlines())
            if any(row[1] == wanted for row in rows):  # the node has it as a remote address
                return network
    return None


def contents_of(root: Path) -> Iterator[bytes]:
    """A folder that has gone meanwhile has none: a process that is not stopped may take it away."""
    below = (Path(folder, name) for folder, _, names in os.walk(root) for name in names)
    for file in [root] if root.is_file() else below:
        with contextlib.suppress(OSError):
            if file.is_file() and not file.is_symlink() and file.stat().st_size < _MOST:
                yield _read(file)


def _read(file: Path) -> bytes:
    """What has gone meanwhile is empty."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _audience(claims: bytes) -> str:
    told = json.loads(base64.urlsafe_b64decode(claims + b"=="))
    return " ".join(told["aud"])
