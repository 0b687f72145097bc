"""What a change of a Task or a Plan tells."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from bernstein.cli.commands.namespace.watch import events
from bernstein.cli.commands.namespace.watch.events import Event
from tests.unit.cli import courses
from tests.unit.cli.scenes import AT, HOSTILE, SHA, condition, move, name, plan, task

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
WAITING = {"reason": "MaxAgents", "message": "3 of 3 agents", "since": "2030-01-01T12:00:00Z"}
OPEN = move("Open", "Created", attempt=0, seconds=30)
CLAIMED = move("Claimed", "Scheduled", attempt=0, seconds=20) | {"fromState": "Open"}
GONE = move("Cancelled", "Cancelled", attempt=0, seconds=10) | {"actor": "ann", "fromState": "Open"}


def words(found: list[Event]) -> list[str]:
    return [str(event.record["event"]) for event in found]


def test_a_new_task_is_told_with_all_its_moves() -> None:
    found = list(events.of_task(None, task(0, state="Claimed", history=[OPEN, CLAIMED]), NOW))

    assert words(found) == ["task_created", "task_open", "task_claimed"]
    assert found[-1].message == f"{'claimed':<12}{name(0)}  attempt 1"


def test_a_move_is_told_once_with_who_made_it_and_why() -> None:
    before = task(0, state="Open", history=[OPEN])
    after = task(0, state="Cancelled", history=[OPEN, GONE])

    (event,) = events.of_task(before, after, NOW)

    record = event.document()
    assert json.loads(json.dumps(record)) == record
    assert record["time"].endswith("Z")
    assert record | {"time": "", "message": ""} == {
        "time": "",
        "event": "task_cancelled",
        "task_id": name(0),
        "plan_id": "rate-limit-api",
        "status": "cancelled",
        "from": "open",
        "to": "cancelled",
        "actor": "ann",
        "reason": "Cancelled",
        "attempt": 0,
        "message": "",
    }
    assert list(events.of_task(after, after, NOW)) == []


def test_what_is_waited_for_is_told_when_it_is_another_cause() -> None:
    idle = task(0, state="Open")
    waits = task(0, state="Open", waiting=WAITING)
    later = task(0, state="Open", waiting=WAITING | {"message": "2 of 2 agents"})
    other = task(0, state="Open", waiting=WAITING | {"reason": "FileOverlap"})

    told = [list(events.of_task(*pair, NOW)) for pair in ((idle, waits), (waits, later),
            (waits, other), (waits, idle))]  # fmt: skip

    assert list(map(words, told)) == [["task_waiting"], [], ["task_waiting"], []]
    assert told[0][0].record["reason"] == "MaxAgents"


def test_a_wait_has_the_time_when_it_began() -> None:
    waits = task(0, state="Open", waiting=WAITING | {"since": "2030-01-01T11:50:00Z"})
    stalled = plan(phase="Stalled", waiting=WAITING | {"needsPerson": True})

    (of_task,) = events.of_task(task(0, state="Open"), waits, NOW)
    *_, of_plan = events.of_plan(None, stalled, LATER)

    assert of_task.time == NOW - timedelta(minutes=10)
    assert of_plan.time == NOW


def test_of_what_has_ended_no_wait_is_told() -> None:
    failed = task(0, state="Failed", attempt=9, waiting=WAITING)
    over = condition("Succeeded", "False", "TaskFailed")
    before = plan(phase="Failed", conditions=[over])
    ended = plan(phase="Failed", conditions=[over], waiting=WAITING)

    assert words(list(events.of_task(None, failed, NOW))) == ["task_created"]
    assert list(events.of_plan(before, ended, NOW)) == []


def test_what_a_person_must_decide_has_its_command() -> None:
    waiting = WAITING | {"reason": "AwaitingApproval", "message": "a person must decide"}
    asks = task(0, state="PendingApproval", waiting=waiting)

    (of_task,) = events.of_task(task(0, state="Done"), asks, NOW)
    of_plan = list(events.of_plan(None, plan(phase="PendingApproval", waiting=waiting), NOW))[-1]

    assert of_task.message.endswith(f"decide with `bernstein approve {name(0)}`")
    assert of_plan.message.endswith("decide with `bernstein approve rate-limit-api`")


def test_one_that_is_deleted_is_told_as_it_was() -> None:
    (event,) = events.of_task(task(0, state="Closed", delivery={"sha": SHA}), None, NOW)

    assert (event.record["event"], event.record["status"]) == ("task_deleted", "closed")


def test_a_plan_is_told_by_its_phases() -> None:
    pending, running = plan(phase=None), plan()
    done = plan(
        phase="Succeeded", conditions=[condition("Succeeded", "True", "Delivered", "merged")]
    )

    assert words(list(events.of_plan(None, pending, NOW))) == ["plan_created"]
    (begun,) = events.of_plan(pending, running, NOW)
    (ended,) = events.of_plan(running, done, NOW)
    assert (begun.record["event"], begun.record["plan_id"]) == ("plan_running", "rate-limit-api")
    assert ended.record["event"] == "plan_succeeded"
    assert ended.message == f"{'plan':<12}rate-limit-api  succeeded: merged"
    assert list(events.of_plan(done, done, NOW)) == []


def test_what_no_task_tells_of_a_node_is_told_once() -> None:
    before = courses.plan()

    (event,) = events.of_plan(before, courses.mended(), NOW)

    assert event.message == (
        f"{'node':<12}ci-pipeline  run-tests is looping: waits for fix-bugs to decide"
    )
    assert {key: event.record[key] for key in ("event", "plan_id", "node", "run")} == {
        "event": "node_looping",
        "plan_id": "ci-pipeline",
        "node": "run-tests",
        "run": 1,
    }
    assert list(events.of_plan(courses.mended(), courses.mended(), NOW)) == []
    # Of one that is seen first nobody knows when it came to that.
    assert words(list(events.of_plan(None, courses.mended(), NOW)))[0] == "plan_created"


def test_a_plan_that_stands_still_says_for_what() -> None:
    waiting = WAITING | {"reason": "BudgetExceeded", "needsPerson": True}

    (event,) = events.of_plan(plan(), plan(waiting=waiting), NOW)

    assert (event.record["event"], event.record["reason"]) == ("plan_waiting", "BudgetExceeded")


def test_nothing_that_an_agent_says_reaches_a_terminal_as_it_is() -> None:
    failed = move("Failed", "GateFailed", attempt=1, seconds=1)
    after = task(0, state="Failed", attempt=1, feedback=HOSTILE, history=[failed])

    event = list(events.of_task(None, after, NOW))[-1]

    said = str(event.record["message"])
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert AT in said
