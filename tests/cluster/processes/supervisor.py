"""Components of one cluster as processes: start, wait until ready, say which one died."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.processes import record as records
from tests.cluster.processes.process import (
    Process,
    alive,
    kill_all,
    log_tail,
    marked,
    spawn,
    wait_until,
)
from tests.cluster.processes.record import Record

POLL = 0.05


class Supervisor:
    """Starts processes and keeps the record of them on disk."""

    def __init__(self, cluster_id: str, record_file: Path, logs: Path) -> None:
        self.id = cluster_id
        self._file = record_file
        self._logs = logs

    def record(self) -> Record | None:
        """What is written down about the cluster; None when it is not there."""
        return records.load(self._file)

    def write(self, record: Record) -> None:
        """Write the record down."""
        records.save(self._file, record)

    def start(self, name: str, argv: list[str]) -> None:
        """Start a component and write it down."""
        record = self.known()
        process = spawn(name, argv, self._logs / f"{name}.log", self.id)
        record.processes[name] = process
        self.write(record)

    def restart(self, name: str) -> None:
        """Start a component again with the command line it had, if it does not run."""
        process = self.component(name)
        if not alive(process):
            self.start(name, list(process.argv))

    def component(self, name: str) -> Process:
        """A component by name; ClusterError NoSuchComponent, or NotRunning without a cluster."""
        processes = self.known().processes
        if name not in processes:
            raise ClusterError(
                "NoSuchComponent",
                f"the cluster has no component {name}",
                f"use one of: {', '.join(processes)}",
            )
        return processes[name]

    def kill(self, name: str) -> None:
        """Kill one component and wait until it is gone."""
        process = self.component(name)
        if alive(process):
            kill_all([process.pid])
        self._wait_gone([process.pid], lambda: not alive(process))

    def kill_components(self, *, spare: str) -> None:
        """Kill all recorded components except `spare`; what they started lives on."""
        record = self.record()
        doomed = [
            process
            for process in (record.processes.values() if record else ())
            if process.name != spare and alive(process)
        ]
        kill_all(process.pid for process in doomed)
        pids = [process.pid for process in doomed]
        self._wait_gone(pids, lambda: not any(alive(process) for process in doomed))

    def kill_everything(self) -> None:
        """Kill all processes of the cluster, recorded or not."""
        self.kill_components(spare="")

        def emptied() -> bool:
            pids = marked(self.id)
            kill_all(pids)
            return not pids

        self._wait_gone(marked(self.id), emptied)

    def wait_ready(self, conditions: Mapping[str, Callable[[], bool]], timeout: float) -> None:
        """Wait until each condition has held once.

        ClusterError ComponentFailed as soon as any component of the cluster is dead, and
        NotReadyInTime with the log of the component whose condition is the first that lacks.
        """
        waiting = dict(conditions)
        deadline = time.monotonic() + timeout
        while True:
            self.check_alive()
            waiting = {name: holds for name, holds in waiting.items() if not holds()}
            if not waiting:
                return
            if time.monotonic() > deadline:
                name = next(iter(waiting))
                raise ClusterError(
                    "NotReadyInTime",
                    f"{', '.join(waiting)} not ready after {timeout:.0f} s; {self._tail(name)}",
                    f"read the logs in {self._logs}",
                )
            time.sleep(POLL)

    def check_alive(self) -> None:
        """ClusterError ComponentFailed when a component is dead."""
        for process in self.known().processes.values():
            if not alive(process):
                raise ClusterError(
                    "ComponentFailed",
                    f"{process.name} (process {process.pid}) died; {self._tail(process.name)}",
                    f"read the whole log: {process.log}",
                )

    def set_ready(self) -> None:
        """Write down that the cluster came up completely."""
        self.write(dataclasses.replace(self.known(), ready=True))

    def _tail(self, name: str) -> str:
        tail = log_tail(self._logs / f"{name}.log")
        return f"the end of its log:\n{tail}" if tail else "it has written no log"

    def known(self) -> Record:
        """What is written down; ClusterError NotRunning when nothing is."""
        record = self.record()
        if record is None:
            raise ClusterError("NotRunning", f"cluster {self.id} is not up", "start it with: up")
        return record

    @staticmethod
    def _wait_gone(pids: list[int], gone: Callable[[], bool]) -> None:
        if not wait_until(gone, timeout=20):
            raise ClusterError(
                "ProcessesRemain",
                f"processes {pids} do not die",
                "look at them with ps; a process in state D waits for a device",
            )
