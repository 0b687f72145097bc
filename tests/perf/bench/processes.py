"""CPU time and memory of processes, and how busy the machine is, from /proc."""

from __future__ import annotations

import os
import re
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_IDLE_FIELDS = (3, 4)
"""Of a line of /proc/stat, after its name: idle, and idle while a disk is waited for."""


def cpu_of(stat: str) -> float:
    """CPU seconds, user and system, in the text of /proc/PID/stat."""
    fields = stat.rpartition(")")[2].split()  # the name before it may hold spaces
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory_of(status: str) -> int:
    """Resident bytes in the text of /proc/PID/status; 0 where none are told."""
    found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def busy_of(stat: str) -> float:
    """Seconds that the machine's cores have worked, in the text of /proc/stat."""
    fields = [int(field) for field in stat.splitlines()[0].split()[1:9]]
    idle = sum(fields[index] for index in _IDLE_FIELDS)
    return (sum(fields) - idle) / _TICKS


def cpu_seconds(pid: int) -> float:
    """OSError when there is no such process."""
    return cpu_of(Path(f"/proc/{pid}/stat").read_text())


def memory_bytes(pid: int) -> int:
    """OSError when there is no such process."""
    return memory_of(Path(f"/proc/{pid}/status").read_text())


def busy_seconds() -> float:
    """Of all cores since the machine started."""
    return busy_of(Path("/proc/stat").read_text())
