"""What people see of verdicts that were known before."""

from __future__ import annotations

from bernstein.cli.output import details
from tests.unit.cli.scenes import task, terminal, verification

LINT = {"name": "lint", "kind": "gate", "title": "lint", "required": True, "cached": True}
LET_ON = {
    "by": "ann",
    "reason": "wrong here",
    "approval": "lint-of-work",
    "verdict": "Failed",
    "time": "2030-01-01T00:00:00Z",
}


def told(**more: object) -> str:
    """What is said of a gate that was not run."""
    shown, console = terminal(width=200)
    status = {"state": "Closed", "verification": verification(checks=[LINT | more])}

    details.tell_verdicts(shown, task(0, **status))

    return console.export_text().splitlines()[-1]


def test_a_verdict_that_was_known_says_so() -> None:
    assert told(verdict="Passed").endswith("Passed, known from the same tree")


def test_what_a_person_has_let_go_on_is_his_word_about_this_commit_alone() -> None:
    assert told(verdict="Bypassed", bypass=LET_ON).endswith("by ann, who says: wrong here")
