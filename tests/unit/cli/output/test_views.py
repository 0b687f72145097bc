"""A Plan's progress, on a terminal and in a log."""

from __future__ import annotations

import re

from bernstein.cli.output.views import LineView, LiveView, view
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
        "plan        Running: Tasks are running",
        f"open        {name(0)}  Created",
        f"claimed     {name(0)}  attempt 1",
        f"claimed     {name(1)}  attempt 1",
        f"in_progress {name(0)}  the agent is at work",
    ]


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

    assert log_lines(console.export_text())[1:] == [
        f"failed      {name(0)}  SignalFailed: no file gnp.exe {AT}everyone",
        f"waiting     {name(2)}  4 agents run",
        "connection lost",
    ]


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
