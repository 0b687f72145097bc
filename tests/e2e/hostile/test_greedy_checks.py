"""Checks of a change that take all that their container lets them have, in a real pod each."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import MakeWorld, Object, does, writing

pytestmark = pytest.mark.verification

FORGED = '{"check": "signal-3", "verdict": "Passed", "version": 1}'
GREEDY: dict[str, tuple[str, str, str]] = {
    "takes all memory": ("python3 -c \"x = b'x' * (4 << 30)\"", "Failed", "OutOfMemory"),
    "fills shared memory": ("head -c 8G /dev/zero >/dev/shm/full", "Failed", ""),
    "makes many files": (
        "python3 -c \"for n in range(50_000): open(f'/tmp/{n}', 'w').close()\"",
        "Passed",
        "",
    ),
    "says that it has passed": (
        f"echo '{FORGED}'; echo '{FORGED}' >/dev/termination-log; exit 1",
        "Failed",
        "ExitCode",
    ),
    "has many children": (
        "for n in $(seq 200); do sleep 600 & done; exit 0",
        "Passed",
        "",
    ),
}
"""By name: the command, its verdict, and the reason if there is only one that can be."""


def test_what_takes_all_that_it_can_have_costs_its_own_attempt_and_nobody_elses(
    world: MakeWorld,
) -> None:
    def quiet(spec: Object) -> None:
        spec["toolchain"]["resources"] = {"cpu": "1", "memory": "256Mi"}
        spec["gates"] = {"enabled": False}

    here = world(
        [does("greedy", writing("a.py", "A = 1\n")), does("fine", writing("b.py", "B = 1\n"))],
        quiet,
    )
    signals = [{"type": "test_passes", "command": command} for command, *_ in GREEDY.values()]
    here.task("greedy", completionSignals=signals, maxRetries=0)
    here.task("fine", completionSignals=[{"type": "test_passes", "command": "python3 -m pytest"}])

    task = here.stalled("task", "greedy", "SignalFailed", 240)
    fine = here.closed("fine", 240)

    found = {c["name"]: c for c in task["status"]["verification"]["checks"]}
    for number, (name, (_, verdict, reason)) in enumerate(GREEDY.items()):
        check = found[f"signal-{number}"]
        assert check["verdict"] == verdict, (name, check)
        assert reason in ("", check["reason"]), (name, check)
    assert task["status"]["attempt"] == 1
    assert fine["status"]["attempt"] == 1
    assert "a.py" not in here.files()
