"""A budget over agents that do not tell what they spend."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.core import conditions
from bernstein.core.plans.enforced import not_enforced, warned
from tests.unit.core import objects
from tests.unit.core.objects import plan_snapshot, project
from tests.unit.core.plans.decisions import again, look, task

TELLS = {"name": "teller", "adapter": "codex", "image": "x"}
SILENT = {"name": "quiet", "adapter": "generic", "image": "x", "command": ["a"]}
KIND = "BudgetNotEnforced"


def stages(*agents: str | None) -> list[dict[str, Any]]:
    steps = [{"title": f"s{n}"} | ({"cli": a} if a else {}) for n, a in enumerate(agents)]
    return [{"name": "one", "steps": steps}]


@pytest.mark.parametrize(
    ("agents", "of_plan", "first", "found"),
    [
        (("quiet",), None, TELLS, "agent 'quiet' (adapter generic) does not tell"),
        (("teller", "quiet", "quiet"), None, TELLS, "agent 'quiet' (adapter generic) does not"),
        ((None,), "quiet", TELLS, "agent 'quiet' (adapter generic) does not"),
        ((None,), None, SILENT, "agent 'quiet' (adapter generic) does not"),
        ((None,), None, TELLS, None),
        (("teller",), "quiet", SILENT, None),
    ],
)
def test_it_is_not_enforced_where_an_agent_of_a_step_tells_no_tokens(
    agents: tuple[str | None, ...], of_plan: str | None, first: dict[str, Any], found: str | None
) -> None:
    second = SILENT if first is TELLS else TELLS
    spec = objects.plan(stages=stages(*agents), budget="5", cli=of_plan).spec

    told = not_enforced(spec, project(agents=[first, second]).spec)

    assert (told or "").startswith(found or "")
    assert (told is None) is (found is None)


def test_without_a_budget_there_is_nothing_to_enforce() -> None:
    spec = objects.plan(stages=stages("quiet")).spec

    assert not_enforced(spec, project(agents=[SILENT]).spec) is None


def test_who_submits_it_is_warned_where_the_project_is_known() -> None:
    spec = objects.plan(stages=stages(None), budget="5").spec

    assert warned(spec, None) == ()
    (warning,) = warned(spec, project(agents=[SILENT]).spec)
    assert warning.path == "budget"
    assert "the budget does not stop it" in warning.message


def test_where_the_project_denies_that_nothing_starts_and_whoever_submits_it_is_told() -> None:
    strict = project(agents=[TELLS, SILENT], budget={"onUnpriced": "deny"})
    subject = objects.plan(stages=stages("quiet"), budget="5")

    assert not_enforced(subject.spec, strict.spec) is None, "the budget is kept"
    (warning,) = warned(subject.spec, strict.spec)
    assert warning.message == (
        "budget: agent 'quiet' (adapter generic) does not tell what is spent, and the Project says "
        "`onUnpriced: deny`: no session of it starts"
    )
    said = look(subject, task(), project=strict).status
    assert conditions.find(said.conditions, KIND) is None


def test_the_plan_says_so_until_it_is_so_no_more() -> None:
    subject = objects.plan(stages=stages(None), budget="5")
    silent = plan_snapshot(subject, task(), project=project(agents=[SILENT]))

    said = look(subject, task(), project=silent.project)
    told = conditions.find(said.status.conditions, KIND)
    changed = again(subject, said, budget=None)
    mended = look(changed, task(), project=silent.project)

    assert told is not None
    assert (told.status, told.reason) == ("True", "TokensNotReported")
    assert "adapter generic" in told.message
    assert conditions.find(mended.status.conditions, KIND) is None
