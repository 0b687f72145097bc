"""What people read is cut where they read it, and nowhere else."""

from __future__ import annotations

import pytest

from bernstein.cli.output import tables
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.settings import CliSettings
from tests.unit.cli.scenes import plan, running_tasks, terminal

LONG = "Add RateLimiter middleware"


@pytest.mark.parametrize("columns", ["40", "80"])
def test_in_a_pipe_nothing_of_a_table_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    piped = Terminal(CliSettings())

    piped.show(tables.steps_table(plan(), running_tasks(), {}))
    piped.show(tables.task_table(running_tasks(), piped.people))
    piped.show(tables.plan_table([plan()], namespaces=True))

    shown = capsys.readouterr().out
    assert "…" not in shown
    assert shown.count(LONG) == 2, "the table of Tasks has their titles, too"
    assert all(task.metadata.name in shown for task in running_tasks())
    assert "NAMESPACE" in shown
    assert max(map(len, shown.splitlines())) < 400


@pytest.mark.parametrize("width", [30, 60])
def test_a_terminal_wraps_what_helps_and_keeps_commands_whole(width: int) -> None:
    shown, console = terminal(width=width, tty=True, settings=CliSettings(namespace="team"))

    shown.advise(
        "Read the failed Tasks' messages, then give them another round (`bernstein retry x`)."
    )

    rows = console.export_text().splitlines()
    assert len(rows) > 1
    assert all(row.startswith("    ") for row in rows[1:])
    assert any("(`bernstein retry x -n team`)." in row for row in rows)
    assert all(len(row) <= width or "`" in row for row in rows)


def test_a_pipe_gets_no_blanks_at_the_ends_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Terminal(CliSettings())

    shown.show(tables.steps_table(plan(), running_tasks(), {}))

    rows = capsys.readouterr().out.splitlines()
    assert len(rows) > 5
    assert [row for row in rows if row != row.rstrip()] == []
