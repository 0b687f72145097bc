"""What one Task has landed, with a person's yes, does not judge the next one of the same Plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import MakeWorld, Object, condition, does, push, state, writing
from tests.e2e.test_cli import CommandLine
from tests.e2e.test_gates_in_python import NO_BAD
from tests.programs.plugins.gate import FILE

pytestmark = pytest.mark.verification

HOOK = {"hooks": [{"type": "command", "command": "touch hooked.txt"}]}
PAYLOADS = {
    FILE: NO_BAD.replace("passed = not offending", "passed = True"),
    "conftest.py": (
        "import pytest\n\n\n@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"
    ),
    "ruff.toml": 'extend-exclude = ["*.py"]\n',
    ".claude/settings.json": json.dumps({"hooks": {"SessionStart": [HOOK]}}),
    ".github/workflows/x.yml": "on: push\n",
}
BAD = "import os\n\nBAD = 1\n"
"""Neither the linter nor the class that was there before lets it in."""


def test_what_a_person_has_let_in_judges_nothing_of_its_own_plan_but_what_begins_later(
    world: MakeWorld, tmp_path: Path
) -> None:
    """That it lets bad work in where a later Task starts from it is how the payloads are seen to
    work. A conftest is code of tests: who lets it in lets it run."""
    plants = [{"write": {"path": path, "content": text}} for path, text in PAYLOADS.items()]

    def change(spec: Object) -> None:
        lint = [{"name": "lint"}, {"name": "lint_suppression", "enabled": False}]
        spec["gates"] = {"pipeline": [*lint, {"name": "no_foo", "plugin": "Python"}]}
        spec["approval"] = {"result": "HighRisk"}

    here = world(
        [
            does("plants", {"steps": plants, "text": "done"}),
            does("next", writing("new.py", BAD), writing("new.py", "X = 1\n")),
            does("later", writing("more.py", BAD)),
        ],
        change,
    )
    before = push(here, FILE, NO_BAD)
    stages = [{"name": name, "steps": [{"title": name}]} for name in ("plants", "next")]
    here.plan("plan", [stages[0], {**stages[1], "dependsOn": ["plants"]}])

    task = here.await_("task", "plan-plants-plants", lambda t: state(t) == "PendingApproval", 180)
    assert task["status"]["approval"]["because"] == [
        f"it changes a protected path: '{FILE}'",
        "it takes lines from a test that existed, or weakens it: 'conftest.py'",
        "it changes a file that configures checks: 'ruff.toml'",
    ]
    answer = CommandLine(here, tmp_path)("approve", "plan-plants-plants")
    assert answer.code == 0, answer
    here.closed("plan-plants-plants", 180)

    def rejected(task: Object) -> bool:
        ends = [attempt["reason"] for attempt in task["status"]["attempts"]]
        return ends[:1] == ["GateFailed"]

    here.await_("task", "plan-next-next", rejected, 180)
    assert here.tip() == before, "what CI runs is on no branch before the Plan is delivered"
    here.closed("plan-next-next", 180)
    told = here.get("configmap", "plan-next-next-s2-prompt")["data"]["findings.md"]
    for said in ("'lint' Failed", "F401", "'no_foo' Failed", "Found 'foo' in"):
        assert said in told

    plan = here.await_("plan", "plan", lambda p: p["status"]["phase"] == "Succeeded", 180)
    assert condition(plan, "Succeeded")["status"] == "True"
    assert here.on_server("show", "main:new.py") == "X = 1\n"
    assert {*PAYLOADS} <= {*here.files()}
    assert "hooked.txt" not in here.files()

    here.task("later")
    later = here.closed("later", 180)
    checks = {c["name"]: c["verdict"] for c in later["status"]["verification"]["checks"]}
    assert checks == {"lint": "Passed", "no_foo": "Passed"}
    assert here.on_server("show", "main:more.py") == BAD
