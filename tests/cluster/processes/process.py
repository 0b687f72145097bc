"""Long-running processes: started in their own session, recognised by pid and start time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.errors import ClusterError

# Every process of a cluster inherits this variable, containerd's shims included, so that a
# leftover is found even if the process that started it died before writing it down.
MARKER = "BERNSTEIN_CLUSTER"

# Kubernetes is written in Go, whose collector takes a tenth of its processor time by default. Here
# memory is not what there is little of.
COLLECTOR = {"GOGC": "400"}


@dataclass(frozen=True)
class Process:
    """A process that was started; `started` is its start time in clock ticks since boot."""

    name: str
    pid: int
    started: int
    argv: tuple[str, ...]
    log: str


def start_time(pid: int) -> int | None:
    """Start time of a live process in clock ticks; None when it is gone or a zombie."""
    state, started = _state(pid)
    return None if state in "ZX" else started


def alive(process: Process) -> bool:
    """Whether this very process runs (not another one that got its pid)."""
    state, started = _state(process.pid)
    if state == "Z" and started == process.started:
        # It may be a child of ours: then nobody else takes its status away.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)
    return state not in "ZX" and started == process.started


def _state(pid: int) -> tuple[str, int]:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "X", 0
    fields = stat.rpartition(")")[2].split()  # the name before it may hold spaces
    state, started = fields[0], int(fields[19])
    return ("R" if state == "Z" and _threads(pid) > 1 else state), started


def _threads(pid: int) -> int:
    """How many threads a process has left. One whose first thread ended is called a zombie while
    others still hold its memory, files and ports."""
    try:
        return len(list(Path(f"/proc/{pid}/task").iterdir()))
    except FileNotFoundError:
        return 0


def spawn(name: str, argv: Sequence[str], log: Path, cluster_id: str) -> Process:
    """Start a process whose output is appended to `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=log.parent,
            start_new_session=True,
            env={**COLLECTOR, **os.environ, MARKER: cluster_id},
        )
    # Nobody waits for it through this object: alive() does, by pid.
    child.returncode = 0
    _, started = _state(child.pid)  # known even if it died at once: nobody waited for it yet
    return Process(name, child.pid, started, tuple(argv), str(log))


def marked(cluster_id: str) -> list[int]:
    """Pids of all live processes that belong to the cluster by their environment."""
    return [pid for pid, owner in _marked_processes() if owner == cluster_id]


def clusters_running(program_name: str, *, in_this_network: bool) -> set[str]:
    """IDs of the clusters of which a program of that name runs, on the whole machine or only in
    the caller's network namespace."""
    here = Path("/proc/self/ns/net").readlink()
    found = set()
    for pid, owner in _marked_processes():
        folder = Path(f"/proc/{pid}")
        with contextlib.suppress(OSError):
            name = (folder / "cmdline").read_bytes().split(b"\0")[0].rpartition(b"/")[2]
            near = not in_this_network or (folder / "ns/net").readlink() == here
            if name.decode() == program_name and near:
                found.add(owner)
    return found


def _marked_processes() -> Iterator[tuple[int, str]]:
    """Pid and cluster ID of every live process that belongs to a cluster."""
    prefix = f"{MARKER}=".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        marks = [variable for variable in environment if variable.startswith(prefix)]
        if marks and start_time(int(entry.name)) is not None:
            yield int(entry.name), marks[0].removeprefix(prefix).decode()


def kill_all(pids: Iterable[int], sign: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to each pid that still exists."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)


def log_tail(log: Path, lines: int = 25) -> str:
    """Last lines of a log; empty when there is none."""
    try:
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""


def wait_until(condition: Callable[[], bool], timeout: float, interval: float = 0.05) -> bool:
    """Poll until the condition holds; False when the time (seconds) is over first."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(interval)
    return True


def run(argv: Sequence[str], *, stdin: str | None = None, timeout: float = 60) -> str:
    """Run a program to its end and return its output; ClusterError CommandFailed if it fails."""
    done = subprocess.run(
        argv, input=stdin, capture_output=True, text=True, timeout=timeout, check=False
    )
    if done.returncode != 0:
        raise ClusterError(
            "CommandFailed",
            f"{' '.join(argv[:6])} ended with {done.returncode}: "
            + (done.stderr or done.stdout).strip()[-2000:],
            "run the command by hand to see more",
        )
    return done.stdout
