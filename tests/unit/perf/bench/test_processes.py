"""CPU time and memory, as /proc tells them."""

from __future__ import annotations

import os

import pytest

from tests.perf.bench import processes

TICKS = os.sysconf("SC_CLK_TCK")


def test_cpu_time_is_that_of_user_and_system_whatever_the_name() -> None:
    fields = ["S", *["0"] * 10, "150", "50", *["7"] * 30]

    assert processes.cpu_of(f"12 (a ) 99 b) {' '.join(fields)}\n") == 200 / TICKS


def test_memory_is_what_is_resident() -> None:
    assert processes.memory_of("VmPeak:\t  900 kB\nVmRSS:\t    2048 kB\n") == 2_097_152
    assert processes.memory_of("Name:\tkthread\n") == 0


def test_a_machine_is_not_busy_while_it_is_idle_or_waits_for_a_disk() -> None:
    stat = "cpu  100 20 30 4000 500 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"

    assert processes.busy_of(stat) == pytest.approx(171 / TICKS)


def test_this_process_has_used_cpu_and_memory() -> None:
    assert 0 < processes.cpu_seconds(os.getpid()) <= processes.busy_seconds()
    assert processes.memory_bytes(os.getpid()) > 1_000_000


def test_a_process_that_is_gone_is_an_error() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(OSError, match=str(child)):
        processes.cpu_seconds(child)
