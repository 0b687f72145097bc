"""Every gate and signal that executes or reads accepts and rejects in real pods.

Many judge one Task together: of each pair one's work passes all of them, the other one's none. That
it is rejected for what its own example brings, and neither for a neighbour's nor because its tool
breaks, is told by the reason and the words.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import MakeWorld, Object, World, does, push, state
from tests.e2e.gates import groups
from tests.unit.checks import examples

pytestmark = pytest.mark.verification

ENOUGH = 300
ROOM = {"cpu": "1", "memory": "768Mi", "ephemeralStorage": "512Mi"}
"""For a type checker, too."""
UNTIL_PUSHED = "sleep 30"


def verdicts(task: Object) -> dict[str, str]:
    return {c["name"]: c["verdict"] for c in task["status"]["verification"]["checks"]}


def failures(task: Object) -> dict[str, tuple[str, str]]:
    """(verdict, reason) of every check, by its name."""
    checks = task["status"]["verification"]["checks"]
    return {c["name"]: (c["verdict"], c.get("reason", "")) for c in checks}


def begin(
    world: MakeWorld, work: groups.Work, gates: Object, first: str = "true", **spec: Any
) -> World:
    """A Task of an agent that does this work, after a command, on a branch that holds what it is
    about."""
    steps = [{"run": first}, *groups.steps(work.writes)]

    def change(spec: Object) -> None:
        spec["toolchain"]["resources"] = ROOM
        spec["gates"] = gates

    here = world([does("work", {"steps": steps, "text": "done"})], change)
    for path, content in work.before.items():
        push(here, path, content)
    here.task("work", maxRetries=0, **spec)
    return here


@pytest.mark.parametrize("group", groups.GROUPS)
def test_gates_accept_and_reject(group: str, world: MakeWorld) -> None:
    names = groups.GROUPS[group]
    # Those that only advise have to let the good work on, and may not let the bad one.
    pipeline = [{"name": name, "required": True} for name in names]
    if "lint_suppression" not in names:  # else it comes along with the linters
        pipeline.append({"name": "lint_suppression", "enabled": False})
    gates = {"pipeline": pipeline, "timeoutSeconds": ENOUGH}
    meanwhile = groups.meanwhile(group)
    bad = begin(world, groups.bad(group), gates, UNTIL_PUSHED if meanwhile else "true")
    good = begin(world, groups.good(group), gates)
    if meanwhile:
        bad.await_("task", "work", lambda task: state(task) == "InProgress")
        for path, content in meanwhile.items():
            push(bad, path, content)

    accepted = good.closed("work", ENOUGH)
    rejected = bad.stalled("task", "work", "GateFailed", ENOUGH)
    assert verdicts(accepted) == dict.fromkeys(names, "Passed")
    why = {name: examples.of_gate(name) for name in names}
    assert failures(rejected) == {name: ("Failed", each.reason) for name, each in why.items()}
    for check in rejected["status"]["verification"]["checks"]:
        assert why[check["name"]].told in check["excerpt"], check
    assert rejected["status"]["state"] == "Failed"


def test_signals_accept_and_reject(world: MakeWorld) -> None:
    off = {"enabled": False}
    bad = begin(world, groups.that_fail(), off, completionSignals=groups.asked())
    good = begin(world, groups.that_hold(), off, completionSignals=groups.asked())

    accepted = good.closed("work", ENOUGH)
    rejected = bad.stalled("task", "work", "SignalFailed", ENOUGH)
    names = {f"signal-{number}": each for number, each in enumerate(groups.SIGNALS)}
    assert verdicts(accepted) == dict.fromkeys(names, "Passed")
    assert failures(rejected) == {
        name: ("Failed", groups.FAIL_FOR[each]) for name, each in names.items()
    }
