"""Which gates run in pods: none that is known or not reached, and every one that a person asks for.

`tests/control_plane/controllers/gates/test_known_verdicts.py` plays the node, its images and words.
"""

from __future__ import annotations

import pytest

from bernstein.core import labels
from tests.background import wait_for
from tests.e2e.conftest import MakeWorld, Object, World, does, state, writing

pytestmark = pytest.mark.verification

IMAGE = "bernstein-toolchain:dev"
ENOUGH = 180
TOOL = "a-tool-of-ours"
"""Name of a Service without which the last gate fails, whatever it looks at."""
GATES: list[Object] = [
    {"name": "advises", "command": "! test -e bad.py", "image": IMAGE, "required": False},
    {"name": "no_bad", "command": "! test -e bad.py", "image": IMAGE},
    {"name": "tooled", "command": f"getent hosts {TOOL}", "image": IMAGE},
]


def in_turn(spec: Object) -> None:
    spec["gates"] = {"execution": "Sequential", "pipeline": GATES}


@pytest.fixture(scope="module")
def here(shared_world: MakeWorld) -> World:
    """Whose Tasks `one` and `two` leave the same tree, and are Done: the tool is not there yet. The
    work of `bad` has failed by a gate.

    `one` is judged before all others: the first verdicts of a Project are written before the status
    of their Task is, later ones after a minute. Tests of other files kill the operator meanwhile.
    """
    scripts = [
        does("same", writing("new.py", "X = 1\n")),
        does("bad", writing("bad.py", "X = 1\n")),
    ]
    built = shared_world(scripts, in_turn)
    built.task("one", title="same", maxRetries=0)
    built.stalled("task", "one", "BaseFails", ENOUGH)
    built.task("bad", maxRetries=0)
    built.task("two", title="same", maxRetries=0)
    built.stalled("task", "two", "BaseFails", ENOUGH)
    built.stalled("task", "bad", "GateFailed", ENOUGH)
    return built


def mend(here: World) -> None:
    """The tool is there from now on."""
    tool = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": TOOL}}
    here.apply({**tool, "spec": {"ports": [{"port": 80}]}})
    found = f"{TOOL}.{here.namespace}.svc.cluster.local"
    pod = ("exec", f"deploy/{here.server.name}", "--", "getent", "hosts", found)

    def resolves() -> bool:
        return bool(here.stack.kubectl("-n", here.server.namespace, *pod, check=False).strip())

    wait_for(resolves, 60)


def checks(here: World, task: str) -> dict[str, Object]:
    found = here.get("task", task)["status"]["verification"]["checks"]
    return {check["name"]: check for check in found}


def begun(here: World, task: str) -> dict[str, list[str]]:
    """When each pod was made that has judged the only attempt of this Task, by gate."""
    found: dict[str, list[str]] = {gate["name"]: [] for gate in GATES}
    for pod in here.all("pod"):
        of = pod["metadata"]["labels"]
        if of.get(labels.CHECK) in found and of[labels.JOB_NAME].startswith(f"{task}-s1-"):
            found[of[labels.CHECK]].append(pod["metadata"]["creationTimestamp"])
    return found


def ran(here: World, task: str) -> dict[str, int]:
    """How many pods these are."""
    return {name: len(times) for name, times in begun(here, task).items()}


def test_a_gate_has_no_pod_where_another_task_has_left_the_same_tree(here: World) -> None:
    first, second = checks(here, "one"), checks(here, "two")

    assert ran(here, "one") == {"advises": 1, "no_bad": 1, "tooled": 1}
    assert ran(here, "two") == {"advises": 0, "no_bad": 0, "tooled": 1}
    for name in ("advises", "no_bad"):
        assert (first[name]["verdict"], first[name].get("cached")) == ("Passed", None)
        assert (second[name]["verdict"], second[name].get("cached")) == ("Passed", True)
        assert second[name]["endedAt"] == first[name]["endedAt"]
    assert [each["tooled"]["reason"] for each in (first, second)] == ["BaseFails"] * 2


def test_gates_run_in_turn_until_a_required_one_says_no(here: World) -> None:
    found = checks(here, "bad")

    said = {name: (check["verdict"], check.get("reason")) for name, check in found.items()}
    assert said == {
        "advises": ("Failed", "ExitCode"),
        "no_bad": ("Failed", "ExitCode"),
        "tooled": ("Skipped", "NotReached"),
    }
    assert ran(here, "bad") == {"advises": 1, "no_bad": 1, "tooled": 0}
    assert found["advises"]["endedAt"] <= begun(here, "bad")["no_bad"][0]


def test_work_that_has_failed_is_judged_again_and_stays_failed(here: World) -> None:
    before = checks(here, "bad")

    answer = here.bernstein("verify", "bad", "--timeout", f"{ENOUGH}s")

    assert answer.code == 1, answer
    assert "it is rejected again: no_bad (Failed)" in answer.out
    after = checks(here, "bad")
    assert state(here.get("task", "bad")) == "Failed"
    assert (after["no_bad"]["verdict"], after["no_bad"].get("cached")) == ("Failed", None)
    assert after["no_bad"]["endedAt"] > before["no_bad"]["endedAt"]
    assert ran(here, "bad") == {"advises": 2, "no_bad": 2, "tooled": 0}


def test_work_that_is_done_is_judged_again_by_every_gate_and_lands_when_it_passes(
    here: World,
) -> None:
    """What is known of its tree counts for nothing then."""
    mend(here)
    assert state(here.get("task", "two")) == "Done"

    answer = here.bernstein("verify", "two", "--timeout", f"{ENOUGH}s", "-r", "it is there")

    assert answer.code == 0, answer
    task = here.closed("two", ENOUGH)
    assert (task["status"]["attempt"], here.tip()) == (1, task["status"]["delivery"]["sha"])
    after = checks(here, "two")
    assert {name: check["verdict"] for name, check in after.items()} == dict.fromkeys(
        ran(here, "two"), "Passed"
    )
    assert not [name for name, check in after.items() if check.get("cached")]
    assert ran(here, "two") == {"advises": 1, "no_bad": 1, "tooled": 2}
    assert state(here.get("task", "one")) == "Done", "of which nobody has asked"
