"""When the containers of a local node ran, by containerd's own events: the kubelet tells of whole
seconds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.cluster import Cluster
from tests.cluster.local.cluster import LocalCluster

_EVENT = re.compile(r"(\S+ \S+) \+0000 UTC \S+ /tasks/(start|exit) (\{.*\})")
_STATUSES = ("initContainerStatuses", "containerStatuses")


@dataclass(frozen=True)
class Run:
    """One container, from its first process's start to its end."""

    begun: datetime
    ended: datetime

    @property
    def seconds(self) -> float:
        return (self.ended - self.begun).total_seconds()


def runs(events: Iterable[str]) -> dict[str, Run]:
    """By ID those that have begun and ended, of the lines that `ctr events` prints."""
    moments: dict[str, dict[str, datetime]] = {"start": {}, "exit": {}}
    for line in events:
        if (event := _EVENT.match(line)) is None:
            continue
        said = json.loads(event[3])
        container = said["container_id"]
        if said.get("id", container) == container:  # else it is a process that was started in it
            moments[event[2]][container] = datetime.fromisoformat(f"{event[1]}+00:00")
    begun, ended = moments["start"], moments["exit"]
    return {each: Run(begun[each], ended[each]) for each in begun.keys() & ended.keys()}


def of_pod(pod: Mapping[str, Any], ran: Mapping[str, Run]) -> dict[str, Run]:
    """The pod's containers by name. Raises RuntimeError where the run of one is not known."""
    statuses = (each for kind in _STATUSES for each in pod["status"].get(kind, ()))
    ids = {each["name"]: each["containerID"].rpartition("/")[2] for each in statuses}
    if missing := [name for name, found in ids.items() if found not in ran]:
        pod_name = pod["metadata"]["name"]
        raise RuntimeError(f"containerd has not told all of {pod_name}: {', '.join(missing)}")
    return {name: ran[found] for name, found in ids.items()}


@contextmanager
def recorded(cluster: Cluster) -> Iterator[Path]:
    """A file of events for as long as the block lasts; it stays empty for another kind of
    cluster."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "events")
        file.touch()
        if not isinstance(cluster, LocalCluster):
            yield file
            return
        with file.open("wb") as output:
            watching = cluster.container_events(output)
        try:
            yield file
        finally:
            watching.terminate()
            watching.wait()
