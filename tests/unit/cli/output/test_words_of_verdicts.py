"""What people see of verdicts: why, in whose words, and whether it keeps anything back."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.cli.output import details
from tests.unit.cli.scenes import AT, HOSTILE, condition, name, plan, task, terminal, verification

GATE: dict[str, Any] = {"name": "lint", "kind": "gate", "title": "lint", "required": True}
UNSURE: dict[str, Any] = {
    "name": "signal-0",
    "kind": "signal",
    "title": "llm_judge: it is done",
    "verdict": "Skipped",
    "reason": "Unsure",
    "byModel": True,
    "excerpt": f"the model accepts it, but is only 0.50 sure\nis it {HOSTILE} called?",
}
SAID = f"      is it gnp.exe {AT}everyone called?"


def told(*checks: dict[str, Any], tty: bool = False, **status: Any) -> list[str]:
    """What `logs` says of a Task with these verdicts, without its name and title."""
    shown, console = terminal(width=200, tty=tty)
    judged = verification(checks=checks) if checks else None
    details.tell_task(shown, task(0, verification=judged, **({"state": "Done"} | status)))
    return [row.rstrip() for row in console.export_text().splitlines()[3:]]


@pytest.mark.parametrize(
    ("verdict", "reason", "mark"),
    [
        ("Passed", "PartlyMet", "✓"),
        ("Skipped", "BaseFails", "-"),
        ("Skipped", "Unsure", "-"),
        ("Failed", "ExitCode", "✗"),
    ],
)
def test_what_did_not_pass_or_not_in_all_is_told_with_its_words(
    verdict: str, reason: str, mark: str
) -> None:
    assert told(GATE | {"verdict": verdict, "reason": reason, "excerpt": "Y is missing"}) == [
        f"  {mark} gate lint: {verdict} ({reason})",
        "      Y is missing",
    ]


def test_what_has_passed_in_all_needs_no_words() -> None:
    known = {"verdict": "Passed", "excerpt": "1 finding was there before"}

    assert told(GATE | known) == ["  ✓ gate lint: Passed"]


@pytest.mark.parametrize(
    ("verdict", "row"),
    [
        ("Failed", "  ! gate lint: Failed (NewFindings) (not required)"),
        ("Errored", "  ! gate lint: Errored (NewFindings) (not required)"),
        ("Passed", "  ✓ gate lint: Passed (NewFindings)"),
    ],
)
def test_what_keeps_nothing_back_does_not_look_like_what_does(verdict: str, row: str) -> None:
    assert told(GATE | {"required": False, "verdict": verdict, "reason": "NewFindings"}) == [row]


REJECTED = {
    "session": "one-s1",
    "attempt": 1,
    "counted": True,
    "reason": "ScopeViolation",
    "message": f"Rule 'file-scope' Failed:\nCHANGELOG.md: only adding {HOSTILE}",
}
REPORTED = REJECTED | {"session": "one-s2", "attempt": 2, "reason": "Succeeded", "message": ""}


def test_an_earlier_attempt_tells_all_of_what_it_was_rejected_for() -> None:
    assert told(GATE | {"verdict": "Passed"}, attempts=[REJECTED, REPORTED]) == [
        "  attempt 1 (one-s1)  ScopeViolation: Rule 'file-scope' Failed",
        f"      CHANGELOG.md: only adding gnp.exe {AT}everyone",
        "  attempt 2 (one-s2)  it reported success",
        "  ✓ gate lint: Passed",
    ]


def test_what_the_verdicts_tell_of_the_last_attempt_is_told_once() -> None:
    failed = GATE | {"verdict": "Failed", "excerpt": "the words"}
    last = REJECTED | {"message": "Quality gate 'lint' Failed:\nthe words"}

    assert told(failed, attempts=[last]).count("      the words") == 1
    assert told(attempts=[last]).count("      the words") == 1


def test_what_an_agent_said_is_not_told_twice() -> None:
    ended = REJECTED | {"reason": "AgentFailed", "message": "exit code 1:\n> I give up"}

    assert told(attempts=[ended]) == ["  attempt 1 (one-s1)  AgentFailed: exit code 1: I give up"]


def test_a_pause_is_told_with_its_end_and_what_helps() -> None:
    waiting = {
        "reason": "GateErrored",
        "message": "'no_foo' could not run: PluginNotFound. Remedy: Put it there.",
        "since": "2030-01-01T12:00:00Z",
        "until": "2030-01-01T12:01:00Z",
    }

    assert told(waiting=waiting) == [
        "  GateErrored: 'no_foo' could not run: PluginNotFound (again at 12:01:00 UTC)",
        "  Put it there.",
    ]


def standing(*, tty: bool = False, **check: Any) -> list[str]:
    """What `status` says of a Plan of which the work of one Task is asked about."""
    shown, console = terminal(width=200, tty=tty)
    passed = GATE | {"verdict": "Passed"}
    asking = task(0, state="PendingApproval", verification=verification(checks=[check, passed]))
    running = condition("Reconciling", "True", "Running", "Tasks are running")
    details.tell_standing(shown, plan(phase="Running", conditions=[running]), [asking])
    return [row.rstrip() for row in console.export_text().splitlines()[2:]]


def test_a_plan_tells_what_the_verdicts_say_that_a_person_decides_about() -> None:
    assert standing(**UNSURE) == [
        "",
        f"{name(0)}  awaits approval",
        "  - signal llm_judge: it is done: Skipped (Unsure)",
        "      the model accepts it, but is only 0.50 sure",
        SAID,
    ]
    assert standing(**GATE | {"name": "tests", "verdict": "Passed"}) == []


def test_of_a_plan_a_terminal_shows_the_beginning_of_the_words() -> None:
    long = UNSURE | {"excerpt": "\n".join(f"row {number}" for number in range(9))}

    assert standing(tty=True, **long)[-2:] == ["      row 4", "      …"]
    assert standing(**long)[-1] == "      row 8"
