"""A Plan's progress, on a terminal and in a log."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from bernstein.cli.output.views import LineView, LiveView, view
from bernstein.cli.settings import CliSettings
from tests.unit.cli.scenes import (
    AT,
    HOSTILE,
    condition,
    move,
    name,
    plan,
    running_tasks,
    task,
    terminal,
)

WAITS_FOR_A_YES = {
    "reason": "AwaitsApproval",
    "message": "decide with `bernstein approve a`",
    "since": "2030-01-01T12:00:00Z",
}


def log_lines(text: str) -> list[str]:
    """Without the times."""
    return [re.sub(r"^\d\d:\d\d:\d\d  ", "", row) for row in text.splitlines()]


def test_a_terminal_gets_the_live_table_and_anything_else_lines() -> None:
    assert isinstance(view(terminal(tty=True)[0]), LiveView)
    assert isinstance(view(terminal(tty=False)[0]), LineView)


def test_a_log_gets_every_move_once_in_the_order_of_time() -> None:
    shown, console = terminal(width=200)
    first = [
        task(
            0,
            state="InProgress",
            history=[
                move("Open", "Created", attempt=0, seconds=50),
                move("Claimed", "Scheduled", attempt=0, seconds=40),
                move("InProgress", "AgentStarted", attempt=0, seconds=20),
            ],
        ),
        task(1, state="Claimed", history=[move("Claimed", "Scheduled", attempt=0, seconds=30)]),
    ]
    with LineView(shown) as lines:
        lines.update(plan(), first, {}, "")
        lines.update(plan(), first, {name(0): "typing"}, "")

    assert log_lines(console.export_text()) == [
        f"open        {name(0)}  Created",
        f"claimed     {name(0)}  attempt 1",
        f"claimed     {name(1)}  attempt 1",
        f"in_progress {name(0)}  the agent is at work",
        "plan        Running: Tasks are running",
    ]


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("Approved", "it goes on to land, approved by ann"),
        ("Bypassed", "it is judged on without a gate, by ann"),
        ("ApprovalNotNeeded", "it goes on: nobody has to decide about it any more"),
        ("AgentEnded", "the agent has ended, its work is being verified"),
    ],
)
def test_a_log_says_why_work_is_done_again_and_who_has_decided_so(reason: str, says: str) -> None:
    shown, console = terminal(width=200)
    asked = reason != "AgentEnded"
    done = move("Done", reason, attempt=1, seconds=5)
    done |= {"fromState": "PendingApproval", "actor": "ann"} if asked else {}
    with LineView(shown) as lines:
        lines.update(plan(), [task(0, state="Done", history=[done])], {}, "")

    first, *_ = log_lines(console.export_text())
    assert first == f"done        {name(0)}  {says}"


def test_a_log_that_begins_later_leaves_out_what_was_known() -> None:
    shown, console = terminal(width=200)
    old = [move("Open", "Created", attempt=0, seconds=50)]
    new = [*old, move("Claimed", "Scheduled", attempt=0, seconds=5)]
    with view(shown, known=[task(0, state="Open", history=old)]) as lines:
        lines.update(plan(), [task(0, state="Claimed", history=new)], {}, "")

    first, *_ = log_lines(console.export_text())
    assert first == f"claimed     {name(0)}  attempt 1"


def test_a_log_says_that_a_task_is_split_and_that_its_parts_are_done() -> None:
    history = [
        move("WaitingForSubtasks", "Split", attempt=1, seconds=20),
        move("Done", "SubtasksClosed", attempt=1, seconds=10) | {"fromState": "WaitingForSubtasks"},
    ]
    parts = [{"name": "a"}, {"name": "b"}]
    shown, console = terminal(width=300)

    with LineView(shown) as lines:
        split = task(0, state="Done", history=history, subtasks=parts)
        lines.update(plan(phase="Running"), [split], {}, "")

    first, second, _ = log_lines(console.export_text())
    assert first == f"split       {name(0)}  into 2 subtasks"
    told = "its subtasks are Closed, what they have landed is being verified"
    assert second == f"done        {name(0)}  {told}"


def test_a_log_says_why_an_attempt_was_refused_and_what_a_task_waits_for() -> None:
    shown, console = terminal(width=200)
    refused = task(
        0,
        state="Failed",
        attempt=1,
        feedback=f"SignalFailed: no file {HOSTILE}",
        history=[move("Failed", "SignalFailed", attempt=1, seconds=3)],
    )
    waiting = task(2, state="Open", queue={"reason": "MaxAgents", "message": "4 agents run"})

    with LineView(shown) as lines:
        lines.update(plan(), [refused, waiting], {}, "connection lost")

    assert log_lines(console.export_text()) == [
        f"failed      {name(0)}  SignalFailed: no file gnp.exe {AT}everyone",
        f"waiting     {name(2)}  4 agents run",
        "plan        Running: Tasks are running",
        "connection lost",
    ]


def test_a_log_shows_what_a_check_printed_line_by_line() -> None:
    shown, console = terminal(width=200)
    refused = task(
        0,
        state="Failed",
        attempt=1,
        feedback="Quality gate 'lint' Failed:\nsrc/a.py:1: F401\nsrc/b.py:2: E501\n",
        history=[move("Failed", "GateFailed", attempt=1, seconds=3)],
    )

    with LineView(shown) as lines:
        lines.update(plan(), [refused], {}, "")

    first, *printed = console.export_text().splitlines()[:3]
    assert first.endswith("Quality gate 'lint' Failed:")
    assert [row.strip() for row in printed] == ["src/a.py:1: F401", "src/b.py:2: E501"]
    assert all(row.startswith(" " * 10) for row in printed)


def test_a_log_tells_of_a_wait_once_however_its_words_and_times_change() -> None:
    shown, console = terminal(width=200)

    def waits(reason: str, message: str, **more: object) -> dict[str, object]:
        since = "2030-01-01T12:00:00Z"
        return {"reason": reason, "message": message, "since": since, **more}

    with LineView(shown) as lines:
        for number in range(3):
            until = f"2030-01-01T12:00:0{number}Z"
            missing = waits("SecretNotFound", "no secret", until=until, needsPerson=True)
            pending = waits("DependencyPending", f"waits for {number} Tasks")
            tasks = [
                task(0, state="Open", waiting=missing),
                task(2, state="Open", waiting=pending),
            ]
            lines.update(plan(waiting=pending), tasks, {}, "")
            lines.update(plan(), [task(0, state="Open", waiting=missing), task(2)], {}, "")

    assert [row.split("  ")[0] for row in log_lines(console.export_text())] == [
        "waiting",
        "waiting",
        "plan",
    ]


def test_a_log_tells_anew_what_a_plan_stalls_for_when_that_is_something_else() -> None:
    shown, console = terminal(width=200)
    with LineView(shown) as lines:
        for message in ("no secret", "no secret", "no image"):
            waiting = {
                "reason": "SecretNotFound",
                "message": f"{message}. Remedy: do it",
                "since": "2030-01-01T12:00:00Z",
                "needsPerson": True,
            }
            lines.update(plan(phase="Stalled", waiting=waiting), [], {}, "")

    assert log_lines(console.export_text()) == [
        "plan        Stalled: SecretNotFound: no secret.",
        "plan        Stalled: SecretNotFound: no image.",
    ]


def test_a_log_says_which_pull_request_people_are_to_merge() -> None:
    shown, console = terminal(width=200)
    merges = "a person merges https://git.example.com/app/pulls/1"
    began = "2030-01-01T12:00:00Z"
    waiting = {"reason": "PullRequestOpen", "message": merges, "since": began}
    reconciling = condition("Reconciling", "True", "PullRequestOpen", merges)
    open_ = plan(phase="Delivering", waiting=waiting, conditions=[reconciling])

    with LineView(shown) as lines:
        lines.update(plan(phase="Delivering"), [], {}, "")
        lines.update(open_, [], {}, "")
        lines.update(open_, [], {}, "")

    assert log_lines(console.export_text())[1:] == [f"plan        Delivering: {merges}"]


def test_a_log_tells_a_wait_with_the_time_when_it_began_and_in_the_order_of_time() -> None:
    shown, console = terminal(width=200)
    began = datetime.now(UTC) - timedelta(minutes=7)
    waiting = WAITS_FOR_A_YES | {"reason": "MaxAgents", "since": began.isoformat()}
    opened = task(1, state="Open", history=[move("Open", "Created", attempt=0, seconds=60)])

    with LineView(shown) as lines:
        lines.update(plan(), [opened, task(0, state="Open", waiting=waiting)], {}, "")

    first, second, _ = console.export_text().splitlines()
    assert first.startswith(f"{began.astimezone():%H:%M:%S}  waiting")
    assert "open" in second


def test_a_log_tells_no_wait_of_what_has_ended() -> None:
    shown, console = terminal(width=200)
    done = condition("Succeeded", "False", "TaskFailed")
    waits = [task(0, state="Open", waiting=WAITS_FOR_A_YES)]
    failed = [task(1, state="Failed", attempt=9, waiting=WAITS_FOR_A_YES)]

    with LineView(shown) as lines:
        lines.update(plan(phase="Running"), failed, {}, "")
        lines.update(plan(phase="Failed", conditions=[done]), waits, {}, "")

    assert "waiting" not in console.export_text()


def test_in_a_log_what_a_person_must_decide_has_its_command() -> None:
    settings = CliSettings(namespace="team-a")
    shown, console = terminal(width=300, settings=settings)
    waiting = WAITS_FOR_A_YES | {"reason": "AwaitingApproval", "message": "a person must decide"}

    with LineView(shown) as lines:
        asks = task(0, state="PendingApproval", waiting=waiting)
        lines.update(plan(phase="PendingApproval", waiting=waiting), [asks], {}, "")

    of_task, of_plan = log_lines(console.export_text())
    helps = "a person must decide; decide with `bernstein approve {} -n team-a`"
    assert of_task.endswith(helps.format(name(0)))
    assert of_plan.endswith(helps.format("rate-limit-api"))


def test_the_live_table_of_what_waits_for_a_person_has_the_command_below_it() -> None:
    shown, console = terminal(tty=True, width=80, settings=CliSettings(namespace="team-a"))
    with LiveView(shown) as live:
        live.update(plan(), [task(0, state="PendingApproval")], {}, "")

    words = " ".join(console.export_text().split())
    command = f"`bernstein approve {name(0)} -n team-a`"
    assert f"A person must decide with {command}." in words


def test_the_live_table_ends_with_the_last_state() -> None:
    shown, console = terminal(tty=True)
    stalled = condition("Stalled", "True", "TaskFailed", "1 Task ended.")

    with LiveView(shown) as live:
        live.update(plan(), running_tasks(), {name(2): HOSTILE}, "")
        live.update(plan(phase="Failed", conditions=[stalled]), running_tasks(), {}, "")

    last = console.export_text().rpartition("rate-limit-api")[2]
    assert last.startswith("  Failed · 2/7 closed")
    assert "Update API reference" in last
    assert "owned" not in last


def test_commands_in_a_line_reach_the_same_namespace_and_what_was_printed_stays_as_it_is() -> None:
    shown, console = terminal(width=200, settings=CliSettings(namespace="team"))
    printed = "GateFailed: run `bernstein retry a`\nI ran `kubectl get pods`"
    failed = [move("Failed", "GateFailed", attempt=1, seconds=5)]
    waiting = {"waiting": WAITS_FOR_A_YES, "state": "Done"}
    with LineView(shown) as lines:
        lines.update(
            plan(),
            [task(0, **waiting), task(1, state="Failed", feedback=printed, history=failed)],
            {},
            "`bernstein doctor` tells",
        )

    assert log_lines(console.export_text()) == [
        f"failed      {name(1)}  GateFailed: run `bernstein retry a -n team`",
        "          I ran `kubectl get pods`",
        f"waiting     {name(0)}  decide with `bernstein approve a -n team`",
        "plan        Running: Tasks are running",
        "`bernstein doctor -n team` tells",
    ]


def test_a_long_word_keeps_its_distance_from_the_name() -> None:
    shown, console = terminal(width=200)
    asked = [move("PendingApproval", "ApprovalNeeded", attempt=1, seconds=5)]
    with LineView(shown) as lines:
        lines.update(plan(), [task(0, state="PendingApproval", history=asked)], {}, "")

    first, *_ = log_lines(console.export_text())
    assert first == f"pending_approval {name(0)}  ApprovalNeeded"


def test_so_they_do_in_the_live_table() -> None:
    shown, console = terminal(width=200, tty=True, settings=CliSettings(namespace="team"))
    with LiveView(shown) as live:
        live.update(plan(), [], {}, "`bernstein doctor` tells")

    assert "`bernstein doctor -n team` tells" in console.export_text()
