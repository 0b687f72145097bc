"""The commands that decide what people are asked: each can be called as it is told."""

from __future__ import annotations

from typing import Any

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli.output import asked, details, notes
from bernstein.cli.output.views import LineView
from tests.unit.cli.scenes import SHA, move, name, plan, task, terminal, verification
from tests.unit.core.approvals.asked import ANN, DIGEST

WHY = "gate 'no_foo' has said no: Failed: shall it go on without that?"
NEEDED = {
    "reason": "AwaitingApproval",
    "message": f"a person must decide, as Approval 'q-1' asks: {WHY}",
    "since": "2030-01-01T12:00:00Z",
}


def question(gate: str | None = "no_foo", **more: Any) -> dict[str, Any]:
    asks = {"digest": DIGEST, "attempt": 0, "sha": SHA} | ({"gate": gate} if gate else {})
    told = {"name": "q-1", "asks": asks, "because": [WHY], "since": "2030-01-01T12:00:00Z"}
    return {"approval": told | more}


def asks(index: int = 0, **status: Any) -> Task:
    found = {"state": "PendingApproval", "waiting": NEEDED, **question()}
    return task(index, **(found | status))


def test_what_lets_work_go_on_without_a_gate_has_room_for_why() -> None:
    assert asked.remedy(asks()) == f'decide with `bernstein approve {name(0)} --reason "…"`'
    assert asked.remedy(asks(**question(None))) == f"decide with `bernstein approve {name(0)}`"


def test_what_is_asked_after_a_decision_names_the_question() -> None:
    """Without that the call might be the one before once more, and is refused."""
    history = [
        move("PendingApproval", "BypassNeeded", attempt=1, seconds=9),
        move("Done", "Bypassed", attempt=1, seconds=8) | {"fromState": "PendingApproval"},
        move("PendingApproval", "BypassNeeded", attempt=1, seconds=5),
    ]

    told = asked.remedy(asks(history=history))

    command = f'bernstein approve {name(0)} --approval q-1 --reason "…"'
    assert told == f"decide with `{command}`"


def phase(name: str, approval: str, decision: str | None = None) -> dict[str, Any]:
    asks = {"digest": DIGEST, "phase": name}
    told = {"name": approval, "asks": asks, "since": "2030-01-01T12:00:00Z"}
    return {"name": name, "approval": told | ({"decision": decision} if decision else {})}


def in_phases(*phases: dict[str, Any], **status: Any) -> Plan:
    nodes = [{"name": "a", "state": "Awaiting"}]
    workflow = {"digest": DIGEST, "nodes": nodes, "phases": phases}
    return plan(phase="Running", workflow=workflow, **status)


def test_a_plan_whose_phase_waits_for_a_person_is_asked_about() -> None:
    waits = in_phases(phase("build", "q-1"), phase("ship", "q-2"))

    assert asked.is_asked(waits)
    assert asked.remedy(waits) == "decide with `bernstein approve rate-limit-api`"
    question = asked.question_of(waits)
    assert question is not None
    assert question.name == "q-1"


def test_of_a_plan_that_was_asked_about_before_the_command_names_the_question() -> None:
    waits = in_phases(phase("build", "q-1", "Approve"), phase("ship", "q-2"))

    assert asked.remedy(waits) == "decide with `bernstein approve rate-limit-api --approval q-2`"
    assert [each.name for each in asked.questions_of(waits)] == ["q-1", "q-2"]
    assert not asked.is_asked(in_phases(phase("build", "q-1", "Approve")))


def test_a_step_that_waits_for_a_person_says_what_is_asked() -> None:
    assert notes.note(asks(), "") == f"awaits approval: {WHY}"


def test_every_question_of_a_plan_is_told_once() -> None:
    shown, console = terminal(width=400)
    waiting = NEEDED | {"message": f"Task '{name(0)}': {NEEDED['message']}"}

    details.tell_standing(shown, plan(waiting=waiting), [asks(0), asks(1)])

    said = console.export_text()
    assert said.count(WHY) == 2
    assert f"  {name(1)}: a person must decide, as Approval 'q-1' asks: {WHY}\n" in said


def test_what_waits_for_a_merge_by_people_does_not_go_on_by_itself() -> None:
    merges = "a person merges https://git.example.com/app/pulls/1"
    waiting = {
        "reason": "PullRequestOpen",
        "message": merges,
        "since": "2030-01-01T12:00:00Z",
    }

    assert asked.or_goes_on([plan(waiting=waiting)]) == merges
    assert asked.or_goes_on([plan()]) == "it goes on"


BYPASSED = {
    "name": "no_foo",
    "kind": "gate",
    "title": "no_foo",
    "verdict": "Bypassed",
    "bypass": {
        "by": ANN,
        "reason": "it is due",
        "approval": "q-1",
        "verdict": "Failed",
        "time": "2030-01-01T12:00:00Z",
    },
}
MERGED = {"state": "Closed", "delivery": {"state": "Merged", "sha": SHA}}


def test_what_was_merged_says_who_has_let_it_go_on_and_without_what() -> None:
    approved = question(None, decision="Approve", by=ANN, reason="well done")
    merged = task(0, **MERGED, verification=verification(checks=[BYPASSED]), **approved)

    assert notes.note(merged, "") == (
        f"merged {SHA[:8]}, without no_foo by {ANN}, approved by {ANN}"
    )


def test_below_the_verdicts_stands_who_has_approved_the_work_and_why() -> None:
    shown, console = terminal(width=200)
    approved = question(None, decision="Approve", by=ANN, reason="well done")
    judged = verification(checks=[BYPASSED])

    details.tell_verdicts(shown, task(0, **MERGED, verification=judged, **approved))
    details.tell_verdicts(
        shown, task(1, **MERGED, verification=judged, **approved | {"attempt": 1})
    )

    said = console.export_text()
    assert f"gate no_foo: Bypassed by {ANN}, who says: it is due\n" in said
    assert said.count(f"  approved by {ANN}, who says: well done\n") == 1, "of this attempt alone"


def test_a_log_tells_once_how_to_decide_about_each_phase_that_waits() -> None:
    shown, console = terminal(width=300)
    second = in_phases(phase("build", "q-1", "Approve"), phase("ship", "q-2"))

    with LineView(shown) as lines:
        for seen in (in_phases(), in_phases(phase("build", "q-1")), second, second):
            lines.update(seen, [], {}, "")

    told = [row for row in console.export_text().splitlines() if "bernstein approve" in row]
    assert [row.partition("decide with ")[2] for row in told] == [
        "`bernstein approve rate-limit-api`",
        "`bernstein approve rate-limit-api --approval q-2`",
    ]
