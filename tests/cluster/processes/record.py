"""What a cluster put on the machine, written down so that any later process can take it away."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.cluster.processes.process import Process


@dataclass
class Record:
    """State of one cluster of processes, kept as JSON in its folder."""

    provider: str
    slot: int
    address: str
    ports: dict[str, int]
    build: str
    ready: bool = False
    processes: dict[str, Process] = field(default_factory=dict)
    sysctls: dict[str, str] = field(default_factory=dict)


def load(path: Path) -> Record | None:
    """Read a record; None when there is none."""
    try:
        raw = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    raw["processes"] = {
        name: Process(**{**entry, "argv": tuple(entry["argv"])})
        for name, entry in raw["processes"].items()
    }
    return Record(**raw)


def save(path: Path, record: Record) -> None:
    """Write a record in one step: a reader sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(asdict(record), indent=1))
    partial.replace(path)


def known_clusters(root: Path) -> list[tuple[str, str]]:
    """Provider and name of every cluster that has state below `root`."""
    found = []
    for state in sorted(root.glob("*/state")):
        record = load(state / "record.json")
        if record is not None:
            found.append((record.provider, state.parent.name))
        elif (state / "kind.json").exists():
            found.append(("kind", state.parent.name))
    return found
