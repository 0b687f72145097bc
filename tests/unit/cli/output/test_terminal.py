"""What people read is cut where they read it, and nowhere else."""

from __future__ import annotations

import pytest

from bernstein.cli.output import tables
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.settings import CliSettings
from tests.unit.cli.scenes import plan, running_tasks

LONG = "Add RateLimiter middleware"


@pytest.mark.parametrize("columns", ["40", "80"])
def test_in_a_pipe_nothing_of_a_table_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    terminal = Terminal(CliSettings())

    terminal.show(tables.steps_table(plan(), running_tasks(), {}))
    terminal.show(tables.task_table(running_tasks(), terminal.people))
    terminal.show(tables.plan_table([plan()], namespaces=True))

    shown = capsys.readouterr().out
    assert "…" not in shown
    assert shown.count(LONG) == 2, "the table of Tasks has their titles, too"
    assert all(task.metadata.name in shown for task in running_tasks())
    assert "NAMESPACE" in shown
    assert max(map(len, shown.splitlines())) < 400
