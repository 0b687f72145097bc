"""A Plan is judged once for what it and its Project say, and anew when either says otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanSpec
from bernstein.core.plans import judgement
from bernstein.core.plans.judgement import KnownProblems
from bernstein.core.plans.validation import validate_plan
from tests.unit.core import objects


class Judged:
    """How often a Plan is gone through."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.times = 0

        def counted(*asked: Any) -> Any:
            self.times += 1
            return validate_plan(*asked)

        patch.setattr(judgement, "validate_plan", counted)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Judged:
    return Judged(monkeypatch)


def plan(after: str) -> PlanSpec:
    stage = {"name": "one", "dependsOn": [after], "steps": [{"title": "t"}]}
    return objects.plan(stages=[stage]).spec


PROJECT = objects.project().spec


def test_a_plan_that_says_the_same_is_not_judged_again(judged: Judged) -> None:
    known = KnownProblems()

    told = {known.of(plan("nobody"), PROJECT) for _ in range(5)}

    assert judged.times == 1
    (problems,) = told
    assert "nobody" in problems


def test_another_plan_or_another_project_is_judged_anew(judged: Judged) -> None:
    known = KnownProblems()
    other = objects.project(limits={"maxAgents": 2}).spec

    for asked in ((plan("a"), PROJECT), (plan("b"), PROJECT), (plan("a"), other)):
        known.of(*asked)

    assert judged.times == 3
    assert known.of(plan("a"), PROJECT) != known.of(plan("b"), PROJECT)


def test_as_many_are_known_as_there_is_room_for_and_the_last_ones_stay(judged: Judged) -> None:
    known = KnownProblems(most=2)

    for after in ("a", "b", "a", "c", "a"):
        known.of(plan(after), PROJECT)
    assert judged.times == 3

    known.of(plan("b"), PROJECT)
    assert judged.times == 4
    assert len(known._known) == 2
