"""A check that makes files without end takes all inodes of the file system on which it makes them.

In pods those of `/dev/shm` are as many as the node's memory allows: here there are few, in a mount
namespace of its own. What ends it in a pod is shown in `tests/e2e/hostile/test_greedy_checks.py`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs.hostile.payloads import makes_files
from tests.programs.hostile.test_names import APART

pytestmark = pytest.mark.verification

INODES = 2_000
FREE = 15 << 10
"""KiB: of 16 MiB empty files take next to nothing."""
MAKES = f"""\
for each in its own; do
  mount -t tmpfs -o nr_inodes={INODES},size=16m $each $each || exit
done
"{sys.executable}" -c "$1"
for each in its own; do
  df --output=avail $each | tail -n 1
  touch $each/another && echo made
done
"""
"""Both are as `/dev/shm` is: `its` the greedy one's, `own` that of another pod."""


def test_files_without_end_leave_none_to_who_shares_their_file_system_and_to_nobody_else(
    tmp_path: Path,
) -> None:
    for each in ("its", "own"):
        (tmp_path / each).mkdir()

    done = subprocess.run(
        [*APART, "sh", "-c", MAKES, "sh", makes_files(str(tmp_path / "its"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    refused, beside = done.stderr.splitlines()
    assert refused.startswith(f"no more than {INODES - 1} files: [Errno 28]"), done
    assert beside.startswith("touch: "), "the payload works"
    assert beside.endswith("No space left on device")
    left, others, made = done.stdout.splitlines()
    assert int(left) > FREE, "it is the inodes that are used up"
    assert (int(others) > FREE, made) == (True, "made")
