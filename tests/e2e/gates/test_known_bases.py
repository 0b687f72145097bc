"""What a gate has measured in a base is told to the Job that judges other work on it: in pods.

`tests/control_plane/controllers/gates/test_known_bases.py` plays the node, its images and words.
"""

from __future__ import annotations

import pytest

from tests.e2e.conftest import MakeWorld, Object, World
from tests.e2e.gates.groups import begun, written
from tests.e2e.gates.test_every_gate import ENOUGH, verdicts
from tests.unit.checks import examples

pytestmark = pytest.mark.verification

GATE = "complexity_check"
EXAMPLE = examples.of_gate(GATE)
KNOWN = "what the base has was known"


def containers(here: World, task: str) -> list[str]:
    """Of the pod in which the gate judged the only attempt of this Task."""
    (pod,) = [
        pod
        for pod in here.all("pod")
        if pod["metadata"]["labels"].get("bernstein.dev/check") == GATE
        and pod["metadata"]["name"].startswith(f"{task}-s1-")
    ]
    spec = pod["spec"]
    return [each["name"] for each in (*spec["initContainers"], *spec["containers"])]


def told(task: Object) -> str:
    (check,) = task["status"]["verification"]["checks"]
    return str(check.get("excerpt", ""))


def test_a_base_is_measured_once_and_other_work_on_it_is_compared_with_that(
    world: MakeWorld,
) -> None:
    """The first work is rejected, so that the second has the same base."""

    def change(spec: Object) -> None:
        spec["gates"] = {"pipeline": [{"name": GATE, "required": True}]}
        spec["retention"] = {"podsSeconds": 2 * ENOUGH}

    works = {"bad": written(EXAMPLE.reject), "good": written(EXAMPLE.accept)}
    here = begun(world, EXAMPLE.accept.before, works, change)

    here.task("bad", maxRetries=0)
    rejected = here.stalled("task", "bad", "GateFailed", ENOUGH)
    here.task("good", maxRetries=0)
    accepted = here.closed("good", ENOUGH)

    assert (verdicts(rejected), verdicts(accepted)) == ({GATE: "Failed"}, {GATE: "Passed"})
    assert containers(here, "bad") == ["checkout", "list-before", "list-head", "check"]
    assert containers(here, "good") == ["checkout", "list-head", "check"]
    assert KNOWN not in told(rejected)
    assert KNOWN in told(accepted)
