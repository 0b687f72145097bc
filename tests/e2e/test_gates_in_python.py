"""Gates that are classes in the repository."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import MakeWorld, Object, does, push, writing
from tests.programs.plugins.gate import FILE, NO_FOO

pytestmark = pytest.mark.verification

NO_BAD = NO_FOO.replace('"foo" in', '"B" "AD" in')
"""Against what it does not hold itself: on the base it is asked about its own file, too."""


def test_a_class_of_the_branch_judges_and_no_work_puts_another_in_its_place(
    world: MakeWorld,
) -> None:
    def gates(spec: Object) -> None:
        spec["gates"] = {"pipeline": [{"name": "no_foo", "plugin": "Python"}]}

    good = writing("new.py", "X = 1\n")
    bad = writing("new.py", "BAD = 1\n")
    always_yes = NO_BAD.replace("passed = not offending", "passed = True")
    bad["steps"].append({"write": {"path": FILE, "content": always_yes}})
    here = world([does("gated", bad, good)], gates)
    push(here, FILE, NO_BAD)

    here.task("gated")
    task = here.closed("gated", 180)

    ends = [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]
    assert ends == [("GateFailed", True), ("Succeeded", True)]
    told = here.get("configmap", "gated-s2-prompt")["data"]["findings.md"]
    assert "'no_foo' Failed" in told
    assert "Found 'foo' in" in told
    assert "new.py" in told
    found = {c["name"]: c for c in task["status"]["verification"]["checks"]}["no_foo"]
    assert (found["verdict"], found["excerpt"]) == ("Passed", "Clean")
