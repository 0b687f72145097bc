"""Patterns of a Task's signals are read once, where they hold nobody else up."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.checks import patterns
from bernstein.controllers.scheduler.watches import task_matters
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import NOW, snapshot, stalled_for, status, told
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import schedule


def pattern(text: str) -> dict[str, Any]:
    return {"type": "file_contains", "path": "a.py", "contains": text, "regex": True}


def read_by_nobody(text: str) -> str | None:
    raise AssertionError(f"{text} is read")


def look(subject: Task) -> TaskStatus:
    return scheduled.decide(snapshot(subject, plan=None), NOW).status


def test_a_task_with_too_long_patterns_says_so_and_none_of_them_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An older release, or a cluster without our rules, has let it through."""
    monkeypatch.setattr(patterns, "problem", read_by_nobody)
    signals = [pattern(f"{n}".ljust(1024, "a")) for n in range(9)]

    found = look(objects.task(plan=None, status=status(), completionSignals=signals))

    assert stalled_for(found.conditions) == "InvalidPattern"
    assert found.waiting is not None
    assert "have 9216 characters, at most 8192 are possible" in found.waiting.message


def test_patterns_are_read_once_by_the_own_reconcile_and_never_by_the_schedule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    monkeypatch.setattr(patterns, "problem", read.append)
    new = objects.task(plan=None, completionSignals=[pattern("a+"), pattern("b+")])
    judged = decide(snapshot(new, plan=None), NOW).status
    assert read == ["a+", "b+"]
    assert told(judged.conditions)["Validated"] == ("True", "Valid")
    assert task_matters(new, new.model_copy(update={"status": judged}))

    monkeypatch.setattr(patterns, "problem", read_by_nobody)
    again = new.model_copy(update={"status": judged})
    assert look(again).state is TaskState.CLAIMED


def test_a_task_whose_patterns_nobody_has_judged_is_left_alone_until_then() -> None:
    """One of an older release: its own reconcile is on its way to it."""
    older = objects.task(plan=None, status=status(), completionSignals=[pattern("(")])
    known = {"work": older}

    found = schedule(ProjectSnapshot(objects.project(), [older], {}, known), NOW)

    assert (found.moves, found.waits) == ((), ())
    judged = decide(snapshot(older, plan=None), NOW).status
    assert told(judged.conditions)["Validated"] == ("False", "InvalidPattern")
    assert task_matters(older, older.model_copy(update={"status": judged}))


def test_a_task_without_patterns_has_nothing_to_be_judged() -> None:
    found = look(objects.task(plan=None))

    assert "Validated" not in told(found.conditions)
