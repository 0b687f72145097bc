from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.cluster.errors import ClusterError
from tests.cluster.processes.process import log_tail, marked, wait_until
from tests.cluster.processes.record import Record
from tests.cluster.processes.supervisor import Supervisor


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    made = Supervisor(f"test-{uuid4().hex[:8]}", tmp_path / "record.json", tmp_path / "logs")
    made.write(Record(provider="local", slot=0, address="", ports={}, build=""))
    yield made
    made.kill_everything()


def test_component_that_dies_is_named_at_once_with_the_end_of_its_log(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    supervisor.start("steady", ["sleep", "60"])
    supervisor.start("broken", ["sh", "-c", "echo first; echo bad flag; exit 1"])
    begin = time.monotonic()
    with pytest.raises(ClusterError) as caught:
        supervisor.wait_ready({"steady": lambda: False}, timeout=30)
    assert time.monotonic() - begin < 20
    assert caught.value.reason == "ComponentFailed"
    assert caught.value.message.startswith("broken (process ")
    assert caught.value.message.endswith("first\nbad flag")
    assert str(tmp_path / "logs" / "broken.log") in caught.value.remedy


def test_component_that_is_late_is_named_with_the_end_of_its_log(supervisor: Supervisor) -> None:
    supervisor.start("late", ["sh", "-c", "echo waiting for a quorum; sleep 60"])
    supervisor.start("ready", ["sleep", "60"])
    log = Path(supervisor.component("late").log)
    assert wait_until(lambda: "waiting for a quorum" in log_tail(log), timeout=60)
    with pytest.raises(ClusterError, match="NotReadyInTime: late not ready") as caught:
        supervisor.wait_ready({"late": lambda: False, "ready": lambda: True}, timeout=0.5)
    assert "waiting for a quorum" in caught.value.message


def test_condition_has_to_hold_only_once(supervisor: Supervisor) -> None:
    answers = iter([True])
    turns = iter([False, False, True])
    supervisor.wait_ready({"a": lambda: next(answers), "b": lambda: next(turns)}, timeout=60)


def test_killed_component_starts_again_with_the_same_command(supervisor: Supervisor) -> None:
    supervisor.start("worker", ["sleep", "60"])
    before = supervisor.component("worker")
    supervisor.kill("worker")
    with pytest.raises(ClusterError, match="ComponentFailed"):
        supervisor.check_alive()
    supervisor.restart("worker")
    after = supervisor.component("worker")
    supervisor.check_alive()
    assert (after.argv, after.pid == before.pid) == (before.argv, False)


def test_starting_a_running_component_changes_nothing(supervisor: Supervisor) -> None:
    supervisor.start("worker", ["sleep", "60"])
    before = supervisor.component("worker")
    supervisor.restart("worker")
    assert supervisor.component("worker") == before


def test_unknown_component_is_answered_with_the_known_ones(supervisor: Supervisor) -> None:
    supervisor.start("etcd", ["sleep", "60"])
    with pytest.raises(ClusterError) as caught:
        supervisor.kill("etdc")
    assert caught.value.reason == "NoSuchComponent"
    assert caught.value.remedy == "use one of: etcd"


def test_all_is_killed_even_what_the_record_does_not_know(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    supervisor.start("parent", ["sh", "-c", "sleep 60 & exec sleep 61"])
    assert wait_until(lambda: len(running(supervisor)) == 2, timeout=60)
    (tmp_path / "record.json").unlink()
    supervisor.kill_everything()
    assert running(supervisor) == []


def test_spared_component_survives(supervisor: Supervisor) -> None:
    supervisor.start("containerd", ["sleep", "60"])
    supervisor.start("kubelet", ["sleep", "60"])
    supervisor.kill_components(spare="containerd")
    assert running(supervisor) == [supervisor.component("containerd").pid]


def test_cluster_without_record_is_not_running(tmp_path: Path) -> None:
    nothing = Supervisor("test-nothing", tmp_path / "none.json", tmp_path)
    with pytest.raises(ClusterError, match="NotRunning"):
        nothing.kill("etcd")


def running(supervisor: Supervisor) -> list[int]:
    return marked(supervisor.id)
