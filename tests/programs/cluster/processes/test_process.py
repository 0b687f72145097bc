from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tests.cluster.errors import ClusterError
from tests.cluster.processes.process import (
    alive,
    clusters_running,
    kill_all,
    log_tail,
    marked,
    run,
    spawn,
    start_time,
    wait_until,
)


@pytest.fixture
def cluster() -> Iterator[str]:
    """ID of a cluster whose processes are gone after the test."""
    name = f"test-{uuid4().hex[:8]}"
    yield name
    kill_all(marked(name))


def test_started_process_is_alive_until_it_is_killed(tmp_path: Path, cluster: str) -> None:
    process = spawn("sleeper", ["sleep", "60"], tmp_path / "log", cluster)
    assert alive(process)
    kill_all([process.pid])
    assert wait_until(lambda: not alive(process), timeout=60)


def test_dead_child_does_not_stay_a_zombie(tmp_path: Path, cluster: str) -> None:
    process = spawn("short", ["true"], tmp_path / "log", cluster)
    assert wait_until(lambda: not alive(process), timeout=60)
    assert not Path(f"/proc/{process.pid}").exists()


def test_process_is_alive_while_one_of_its_threads_is(tmp_path: Path, cluster: str) -> None:
    """The kernel calls it a zombie as soon as its first thread ended."""
    code = (
        "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start();"
        "print('started', flush=True); ctypes.CDLL(None).pthread_exit(None)"
    )
    log = tmp_path / "log"
    process = spawn("threads", [sys.executable, "-c", code], log, cluster)
    stat = Path(f"/proc/{process.pid}/stat")
    assert wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "Z", timeout=60)
    assert log_tail(log) == "started"
    assert alive(process)
    kill_all([process.pid])
    assert wait_until(lambda: not alive(process), timeout=60)


def test_another_process_with_the_same_pid_is_not_ours(tmp_path: Path, cluster: str) -> None:
    process = spawn("sleeper", ["sleep", "60"], tmp_path / "log", cluster)
    assert not alive(replace(process, started=process.started - 1))


def test_start_time_survives_a_name_with_spaces_and_brackets(tmp_path: Path) -> None:
    program = tmp_path / "a ) b"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([str(program), "60"]) as child:
        assert wait_until(lambda: start_time(child.pid) is not None, timeout=60)
        child.kill()


def test_descendants_are_found_after_their_parent_died(tmp_path: Path, cluster: str) -> None:
    parent = spawn("parent", ["sh", "-c", "sleep 60 & exec sleep 61"], tmp_path / "log", cluster)
    assert wait_until(lambda: len(marked(cluster)) == 2, timeout=60)
    kill_all([parent.pid])
    assert wait_until(lambda: not alive(parent), timeout=60)
    (orphan,) = marked(cluster)
    assert orphan != parent.pid


def test_running_programs_tell_which_clusters_use_this_network(
    tmp_path: Path, cluster: str
) -> None:
    program = tmp_path / "kube-proxy"
    program.symlink_to("/bin/sleep")
    spawn("kube-proxy", [str(program), "60"], tmp_path / "log", cluster)
    assert wait_until(
        lambda: cluster in clusters_running("kube-proxy", in_this_network=True), timeout=5
    )
    assert cluster in clusters_running("kube-proxy", in_this_network=False)
    assert cluster not in clusters_running("kubelet", in_this_network=False)


def test_output_goes_to_the_log_and_its_end_can_be_read(tmp_path: Path, cluster: str) -> None:
    log = tmp_path / "log"
    process = spawn("talker", ["sh", "-c", "seq 100; echo oops >&2"], log, cluster)
    assert wait_until(lambda: not alive(process), timeout=60)
    assert log_tail(log, 3).split() == ["99", "100", "oops"]
    assert log_tail(tmp_path / "none") == ""


def test_failed_command_says_what_it_said() -> None:
    with pytest.raises(ClusterError, match="ended with 3: broken"):
        run(["sh", "-c", "echo broken >&2; exit 3"])


def test_killing_a_pid_that_is_gone_is_no_error() -> None:
    with subprocess.Popen(["true"]) as child:
        child.wait()
    kill_all([child.pid])
    assert start_time(child.pid) is None
    assert start_time(os.getpid()) is not None
