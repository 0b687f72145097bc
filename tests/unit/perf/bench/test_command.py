"""How the bench ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.perf.bench import __main__ as command
from tests.perf.bench import overhead
from tests.perf.bench.goals import OF_OURS
from tests.perf.bench.overhead import NoTrailError
from tests.perf.bench.table import Table


def measured(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    table = Table("From the agent's end to Closed, 20 Tasks", ["p50", "p95"])
    table.add(OF_OURS, "s", {"p50": (1.0, 1.0)})
    table.add("all", "s", {"p50": (seconds, seconds), "p95": (9.0, 9.0)})
    monkeypatch.setattr(overhead, "overhead", lambda *_: [table])


def test_all_goals_reached_is_a_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured(monkeypatch, 7.0)

    assert command.main(["overhead"]) == 0
    assert "reached: " in capsys.readouterr().out


@pytest.mark.parametrize("form", [[], ["--markdown"]])
def test_a_goal_that_is_missed_is_no_success(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    form: list[str],
) -> None:
    measured(monkeypatch, 7.7)
    file = tmp_path / "found.json"

    assert command.main(["overhead", "--json", str(file), *form]) == 1
    said = capsys.readouterr()
    assert "MISSED: " in said.out
    assert ("| all | s |" in said.out) == bool(form)
    assert said.err == "1 of 4 goals are missed\n"
    assert [line[:8] for line in json.loads(file.read_text())["goals"]] == [
        "MISSED: ",
        "  the lo",
        "reached:",
        "reached:",
        "reached:",
    ]


def test_a_goal_whose_figure_nobody_tells_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table("From the agent's end to Closed, 20 Tasks", ["p50"])
    table.add("everything", "s", {"p50": (1.0, 1.0)})
    monkeypatch.setattr(overhead, "overhead", lambda *_: [table])

    assert command.main(["overhead"]) == 1
    said = capsys.readouterr()
    assert "UNTOLD: From the agent's end to Closed, 20 Tasks: all, p50: no run" in said.out
    assert said.err == "4 of 4 goals are missed\n"


def test_what_goes_wrong_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(*_: object) -> list[Table]:
        raise NoTrailError("nobody has written it")

    monkeypatch.setattr(overhead, "overhead", wrong)

    assert command.main(["overhead"]) == 1
    assert capsys.readouterr().err == "error: nobody has written it\n"
