from __future__ import annotations

from pathlib import Path

from tests.cluster.processes.process import Process
from tests.cluster.processes.record import Record, known_clusters, load, save


def record(provider: str = "local") -> Record:
    process = Process("etcd", 7, 99, ("etcd", "--flag"), "/log")
    return Record(
        provider=provider,
        slot=3,
        address="10.0.0.1",
        ports={"etcd": 2379},
        build="abc",
        ready=True,
        processes={"etcd": process},
        sysctls={"kernel.panic": "0"},
    )


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    save(tmp_path / "state" / "record.json", record())
    assert load(tmp_path / "state" / "record.json") == record()


def test_absent_record_is_none(tmp_path: Path) -> None:
    assert load(tmp_path / "record.json") is None


def test_clusters_are_known_by_their_state(tmp_path: Path) -> None:
    save(tmp_path / "demo" / "state" / "record.json", record("control-plane"))
    (tmp_path / "k" / "state").mkdir(parents=True)
    (tmp_path / "k" / "state" / "kind.json").touch()
    (tmp_path / "down" / "logs").mkdir(parents=True)
    assert known_clusters(tmp_path) == [("control-plane", "demo"), ("kind", "k")]
