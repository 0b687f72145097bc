"""Checks of a change that take all that their container lets them have, or end as if they had
judged, in a real pod each. The Tasks of all tests work side by side in one Project."""

from __future__ import annotations

import re

import pytest

from bernstein.controllers.jobs import pod
from tests.cluster.interface import PROCESSES_OF_A_POD
from tests.e2e.conftest import MakeWorld, Object, World, does
from tests.programs.hostile.payloads import forges, makes_files

pytestmark = pytest.mark.verification

TAKES = "python3 -c \"x = b'x' * (1 << 30)\""
FILLS = "head -c 8G /dev/zero >/dev/shm/full"
GREEDY: dict[str, tuple[str, str, str]] = {
    "takes all memory": (TAKES, "Failed", "OutOfMemory"),
    "fills shared memory": (FILLS, "Failed", ""),
    "fills it with empty files": ("python3 empty.py", "Failed", ""),
    "makes many files": (
        "python3 -c \"for n in range(50_000): open(f'/tmp/{n}', 'w').close()\""
        " && [ $(ls /tmp | wc -l) -ge 50000 ]",
        "Passed",
        "",
    ),
    "says that it has passed": (
        forges("signal-4", "/dev/termination-log"),
        "Failed",
        "ExitCode",
    ),
    "has many children": (
        "for n in $(seq 200); do sleep 600 & done; [ $(ls -d /proc/[0-9]* | wc -l) -gt 200 ]",
        "Passed",
        "",
    ),
}
"""By name: the command, its verdict, and the reason if there is only one that can be. What could
not do what it is called for has another verdict."""
EMPTY = makes_files("/dev/shm")
"""Each takes an inode, and some of the memory that the pod may have: one of both ends first. That
who has no inode left can make no file, `tests/programs/pods/test_files_without_end.py` shows."""
TAKEN = {
    "fills shared memory": "No space left on device",
    "fills it with empty files": r"no more than \d{3,} files",
}
"""What is said where something was taken, and more was refused."""


FORKS = """\
import os
import signal
import sys
import time

children, until = 0, None
while children < 20_000:
    try:
        if os.fork() == 0:
            signal.pause()
        children += 1
    except BlockingIOError:
        until = until or time.monotonic() + float(*sys.argv[1:] or "0")
        if time.monotonic() >= until:
            sys.exit(f"no more than {children} children")
"""
"""For so many seconds after the first refusal it takes what others leave, too."""
LEAVES = {"conftest.py": "import os\n\nos._exit(0)\n", "forks.py": FORKS}
SLY: dict[str, tuple[str, str, str]] = {
    "forks until it may not any more": ("python3 forks.py", "Failed", "ExitCode"),
    "ends as if its tool were not there": ("exit 127", "Errored", "ToolMissing"),
    "ends before any test has run": ("python3 -m pytest -q", "Passed", ""),
}
"""As GREEDY. Of a command alone the exit code counts: so the last one is seen to work."""
LIKE_OURS = {
    "exit.json": '{"exitCode": 1, "signal": null, "stopped": true}',
    **dict.fromkeys(("start", "stop", "code", "findings", "packs"), "1\n"),
    "termination-log": '{"check": "tests", "verdict": "Passed", "version": 1}',
    "tests.xml": '<testsuite tests="0">',
    "prompt.md": "Attempt: 9\n",
}
"""Files by which programs of ours tell each other something, in the folders of pods."""


def leaving(files: dict[str, str]) -> Object:
    steps = [{"write": {"path": path, "content": text}} for path, text in files.items()]
    return {"steps": steps, "text": "done"}


@pytest.fixture(scope="module")
def here(shared_world: MakeWorld) -> World:
    """Every Task applied."""

    def change(spec: Object) -> None:
        # So many processes have to find room.
        spec["toolchain"]["resources"] = {"cpu": "1", "memory": "512Mi"}
        spec["gates"] = {"pipeline": [{"name": "tests"}]}

    here = shared_world(
        [
            does("greedy", leaving({"a.py": "A = 1\n", "empty.py": EMPTY})),
            does("sly", leaving({"c.py": "C = 1\n", **LEAVES})),
            does("fine", leaving({"b.py": "B = 1\n", **LIKE_OURS})),
        ],
        change,
    )
    for name, checks in (("greedy", GREEDY), ("sly", SLY)):
        signals = [{"type": "test_passes", "command": command} for command, *_ in checks.values()]
        here.task(name, completionSignals=signals, maxRetries=0)
    here.task("fine")
    return here


def judged(here: World, name: str, checks: dict[str, tuple[str, str, str]]) -> dict[str, Object]:
    """Every verdict of the Task, by name, of which those of the signals are as they should be."""
    task = here.stalled("task", name, "SignalFailed", 240)
    assert task["status"]["attempt"] == 1
    found = {c["name"]: c for c in task["status"]["verification"]["checks"]}
    for number, (which, (_, verdict, reason)) in enumerate(checks.items()):
        check = found[f"signal-{number}"]
        assert check["verdict"] == verdict, (which, check)
        assert reason in ("", check["reason"]), (which, check)
    return found


def test_what_takes_all_that_it_can_have_costs_its_own_attempt_and_nobody_elses(
    here: World,
) -> None:
    judged(here, "greedy", GREEDY)
    fine = here.closed("fine", 240)
    assert fine["status"]["attempt"] == 1
    assert "a.py" not in here.files()


@pytest.fixture(scope="module")
def outside(shared_world: MakeWorld) -> World:
    """Where no check is."""
    return shared_world()


def beside(at: World, name: str, **commands: str) -> dict[str, tuple[int, str]]:
    """The exit codes and logs of containers of one pod that run these commands without any limit
    of memory; the pod is none of ours."""
    image, resources = "bernstein-toolchain:dev", {"requests": {"cpu": "100m"}}
    containers = [
        pod.container(called, image, ("sh", "-c", command), mounts=[], resources=resources)
        for called, command in commands.items()
    ]
    spec = {**pod.restricted(), "containers": containers}
    at.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
    over = at.await_(
        "pod", name, lambda found: found["status"]["phase"] in ("Succeeded", "Failed"), 180
    )
    ends = {c["name"]: c["state"]["terminated"] for c in over["status"]["containerStatuses"]}
    logs = {called: at.kubectl("logs", name, "-c", called) for called in commands}
    return {called: (ends[called]["exitCode"], logs[called]) for called in commands}


def test_without_a_limit_of_memory_nothing_ends_who_takes_it(outside: World) -> None:
    ends = beside(outside, "unlimited", takes=TAKES, empties=f"python3 -c '{EMPTY}'")

    assert {called: code for called, (code, _) in ends.items()} == {"takes": 0, "empties": 0}, ends


BEGINS = "until [ -e /dev/shm/here ]; do sleep 1; done; "
INNOCENT = """\
touch /dev/shm/here
for second in $(seq 60); do
  date >/dev/shm/$second || exit 2
  sleep 1
done
"""
SHARED = {
    "shared-memory": (f"{FILLS}; sleep 20", "No space left on device"),
    "processes": (f"exec python3 -c '{FORKS}' 40", "Cannot fork"),
}
"""What the one does, and what becomes of the other one's work."""


@pytest.mark.parametrize("what", SHARED)
def test_in_one_pod_what_one_takes_ends_the_other(outside: World, what: str) -> None:
    greedy, told = SHARED[what]

    ends = beside(outside, f"shared-{what}", greedy=BEGINS + greedy, innocent=INNOCENT)

    code, said = ends["innocent"]
    assert code == 2, ends
    assert told in said, ends


@pytest.mark.parametrize("which", TAKEN)
def test_what_fills_shared_memory_takes_some_until_it_is_refused(here: World, which: str) -> None:
    check = judged(here, "greedy", GREEDY)[f"signal-{[*GREEDY].index(which)}"]

    assert check["reason"] == "OutOfMemory" or re.search(TAKEN[which], check["excerpt"]), check


def test_what_forks_without_end_meets_the_limit_of_its_pod(here: World) -> None:
    check = judged(here, "sly", SLY)["signal-0"]
    (children,) = re.findall(r"no more than (\d+) children", check["excerpt"])
    assert PROCESSES_OF_A_POD - 20 < int(children) < PROCESSES_OF_A_POD


def test_an_end_before_any_test_has_run_is_no_pass_of_the_gate_for_tests(here: World) -> None:
    check = judged(here, "sly", SLY)["tests"]
    assert (check["verdict"], check["reason"]) == ("Failed", "ExitCode")
    assert "pytest has left no report of a test that it has run" in check["excerpt"]
    assert "c.py" not in here.files()


def test_files_called_like_those_by_which_our_programs_speak_are_files(here: World) -> None:
    task = here.closed("fine", 240)
    assert task["status"]["attempt"] == 1
    assert [(c["name"], c["verdict"]) for c in task["status"]["verification"]["checks"]] == [
        ("tests", "Passed")
    ]
    for path, text in LIKE_OURS.items():
        assert here.on_server("show", f"main:{path}") == text
