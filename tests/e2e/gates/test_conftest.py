"""A conftest is the agent's to write: it runs with the tests of later work once it has landed.

What shows it is the change that brings it: with `protectTests` here, and with `HighRisk` in
`tests/e2e/test_payloads_that_landed.py`, where one that lets everything pass is let in by a person.
"""

from __future__ import annotations

import pytest

from tests.e2e.conftest import MakeWorld, Object, does, writing
from tests.e2e.gates.test_every_gate import ENOUGH, verdicts
from tests.programs.hostile.payloads import CONFTEST

pytestmark = pytest.mark.verification

FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef number() -> int:\n    return 7\n"
"""Known to do nothing by itself."""
USES_IT = "def test_number(number: int) -> None:\n    assert number == 7\n"


def test_a_conftest_that_decides_tests_is_rejected_and_one_that_landed_runs_with_later_tests(
    world: MakeWorld,
) -> None:
    def change(spec: Object) -> None:
        spec["protectTests"] = True
        spec["gates"] = {"pipeline": [{"name": "tests"}]}

    brings = [writing("conftest.py", text) for text in (CONFTEST, FIXTURE)]
    here = world(
        [does("brings", *brings), does("later", writing("test_later.py", USES_IT))], change
    )

    here.task("brings", maxRetries=1)
    brought = here.closed("brings", ENOUGH)
    here.task("later", maxRetries=0)
    later = here.closed("later", ENOUGH)

    assert [each["reason"] for each in brought["status"]["attempts"]] == [
        "TestsWeakened",
        "Succeeded",
    ]
    told = here.get("configmap", "brings-s2-prompt")["data"]["findings.md"]
    assert "Rule 'protect-tests' Failed:" in told
    assert "conftest.py" in told
    assert verdicts(later) == {"protect-tests": "Passed", "tests": "Passed"}
    assert here.on_server("show", "main:conftest.py") == FIXTURE
    assert "test_later.py" in here.files()
