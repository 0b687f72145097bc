"""What is found of a large Plan in pieces is what the decision would find by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.task import Task, parse
from bernstein.core.plans import decide as decisions
from bernstein.core.plans import expansion, judgement
from bernstein.core.plans.decide import decide, look_ahead
from bernstein.core.plans.expansion import expand
from bernstein.core.plans.judgement import KnownProblems
from bernstein.core.snapshot import PlanSnapshot
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at

NAMES = ("one", "two", "three", "four")
PATTERNS = ("a", "(b)", "a" * 1000 + "|b", "[z-a]")
TITLES = st.lists(st.sampled_from("abc"), min_size=1, unique=True)
SIGNAL = {"type": "file_contains", "path": "a", "regex": True}


@st.composite
def steps(draw: st.DrawFn, title: str) -> dict[str, Any]:
    found: dict[str, Any] = {"title": title}
    patterns = draw(st.lists(st.sampled_from(PATTERNS), max_size=1))
    if patterns:
        found["completionSignals"] = [SIGNAL | {"contains": text} for text in patterns]
    return found


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Valid ones, and others."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    stages = [
        {
            "name": name,
            "steps": [draw(steps(f"{name} {title}")) for title in draw(TITLES)],
            "dependsOn": [
                *(before for before in names[:at] if draw(st.booleans())),
                *draw(st.sampled_from(((), (), (), ("nobody",), NAMES))),
            ],
        }
        for at, name in enumerate(names)
    ]
    status: dict[str, Any] = {}
    if draw(st.booleans()):
        status["waiting"] = objects.held("SecretNotFound", at(30))
    made = objects.plan(stages=stages).model_copy(update={"status": PlanStatus(**status)})
    if draw(st.booleans()):
        made = made.model_copy(update={"status": decide(of(made), NOW).status})
    return made


def as_served(made: dict[str, Any]) -> Task:
    """As the API server has it, before anybody has looked at it."""
    return parse(made | {"metadata": made["metadata"] | {"uid": "uid", "resourceVersion": "1"}})


def of(plan: Plan, **more: Any) -> PlanSnapshot:
    return PlanSnapshot(plan, objects.project(), **more)


@pytest.fixture(scope="module", autouse=True)
def every_plan_is_large() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decisions, "is_large", lambda _: True)
        yield


@given(given=plans(), data=st.data())
def test_a_decision_is_the_same_whether_it_was_looked_ahead_or_not(
    given: Plan, data: st.DataObject
) -> None:
    tasks = {}
    if given.status.expanded:
        made = [as_served(obj) for obj in expand(given, "default")]
        there = data.draw(st.lists(st.sampled_from(made), unique_by=lambda t: t.metadata.name))
        tasks = {task.metadata.name: task for task in there}
        if data.draw(st.booleans()):
            given = given.model_copy(update={"status": PlanStatus()})
    snapshot = of(given, tasks=tasks)
    forget()
    alone = decide(snapshot, NOW)

    forget()
    ahead = [snapshot, *look_ahead(snapshot, NOW)][-1]

    assert decide(ahead, NOW) == alone
    assert ahead.expansion in (None, expansion.expansion(snapshot) if ahead.expansion else None)


@given(given=plans())
def test_problems_that_were_looked_for_in_pieces_are_all_problems(given: Plan) -> None:
    project, known = objects.project().spec, KnownProblems()

    pieces = sum(1 for _ in known.ahead(given.spec, project))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judgement, "validate_plan", judged_again)
        told = known.of(given.spec, project)
    assert told == KnownProblems().of(given.spec, project)
    assert pieces > len(given.spec.stages)
    assert not [*known.ahead(given.spec, project)], "they are known"


def test_a_plan_that_has_its_tasks_and_says_nothing_new_is_not_gone_through() -> None:
    begun = objects.plan(begun=True)
    status = decide(of(begun.model_copy(update={"status": PlanStatus()})), NOW).status

    assert [*look_ahead(of(begun.model_copy(update={"status": status})), NOW)] == []


def judged_again(*_: object) -> None:
    raise AssertionError("they are known")


def forget() -> None:
    judgement.problems_of.__self__._known.clear()  # type: ignore[attr-defined]
