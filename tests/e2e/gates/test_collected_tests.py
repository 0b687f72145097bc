"""Tests that are not collected any more, though no file of tests differs, are told in real pods."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import MakeWorld, Object, World, does, push, state, writing
from tests.e2e.gates.test_every_gate import ENOUGH

pytestmark = pytest.mark.verification

TESTS = """\
import pytest

from rows import ROWS


@pytest.mark.parametrize("row", ROWS)
def test_row(row: int) -> None:
    assert row
"""
KEPT, LOST = writing("rows.py", "ROWS = [1, 2, 3, 4]\n"), writing("rows.py", "ROWS = [1]\n")
TOLD = "2 of 4 tests are not collected any more:\ntest_rows.py::test_row[2]\n"
"""One of the four is the repository's own."""


def begin(world: MakeWorld, attempts: list[Object], **more: object) -> World:
    def change(spec: Object) -> None:
        spec.update(collectTests={"enabled": True}, **more)
        spec["toolchain"] = {"image": "bernstein-toolchain:dev"}

    here = world([does("rows", *attempts)], change)
    push(here, "rows.py", "ROWS = [1, 2, 3]\n")
    push(here, "test_rows.py", TESTS)
    here.task("rows")
    return here


def verdicts(task: Object) -> dict[str, str]:
    return {c["name"]: c["verdict"] for c in task["status"]["verification"]["checks"]}


def test_work_that_loses_tests_is_rejected_and_the_next_attempt_that_keeps_them_lands(
    world: MakeWorld,
) -> None:
    here = begin(world, [LOST, KEPT], protectTests=True)

    task = here.closed("rows", ENOUGH)

    ends = [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]
    assert ends == [("TestsWeakened", True), ("Succeeded", True)]
    told = here.get("configmap", "rows-s2-prompt")["data"]["findings.md"]
    assert f"Rule 'collected-tests' Failed:\n{TOLD}" in told
    assert "protect-tests" not in told
    assert verdicts(task) == {"protect-tests": "Passed", "collected-tests": "Passed"}
    assert "4]" in here.on_server("show", "main:rows.py")


def test_where_tests_are_not_protected_a_person_is_asked(world: MakeWorld) -> None:
    here = begin(world, [LOST], approval={"result": "HighRisk"})

    task = here.await_("task", "rows", lambda t: state(t) == "PendingApproval", ENOUGH)

    because = (
        "tests that were there are not collected any more: 2 of 4, such as "
        "'test_rows.py::test_row[2]'"
    )
    asked = task["status"]["approval"]
    assert asked["because"] == [because]
    approval = here.await_("bappr", asked["name"], lambda a: bool(a["status"]["shown"]))
    assert approval["status"]["shown"]["because"] == [because]
    assert verdicts(task) == {"collected-tests": "Failed"}
