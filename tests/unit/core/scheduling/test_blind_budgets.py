"""Nothing starts whose cost nobody would know, where the Project denies that."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import Waiting
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import NOW, plan, project, snapshot, status


def waiting(subject: Task, **more: Any) -> Waiting | None:
    """What it waits for; None: it has started."""
    found = scheduled.decide(snapshot(subject, **more), NOW, (), None).status
    assert (found.state is TaskState.OPEN) is (found.waiting is not None)
    return found.waiting


def waits_for(subject: Task, **more: Any) -> str | None:
    found = waiting(subject, **more)
    return found.reason if found is not None else None


@pytest.mark.parametrize(
    ("deny", "budget", "reason"),
    [("deny", "5", "NoPricing"), ("allow", "5", None), ("deny", None, None)],
)
def test_a_model_without_price_starts_unless_a_budget_would_be_blind(
    deny: str, budget: str | None, reason: str | None
) -> None:
    subject = objects.task(status=status(), model="mystery-1")
    agent = {"name": "demo", "adapter": "demo", "image": "d", "models": {"opus": "mystery-1"}}
    strict = project(agents=[agent], budget={"onUnpriced": deny})

    assert waits_for(subject, plan=plan(budget=budget), project=strict) == reason


@pytest.mark.parametrize(
    ("deny", "budget", "adapter", "reason"),
    [
        ("deny", "5", "generic", "TokensNotReported"),
        ("deny", "5", "codex", None),
        ("allow", "5", "generic", None),
        ("deny", None, "generic", None),
    ],
)
def test_an_agent_that_tells_no_tokens_starts_unless_a_budget_would_be_blind(
    deny: str, budget: str | None, adapter: str, reason: str | None
) -> None:
    subject = objects.task(status=status())
    agent = {"name": "quiet", "adapter": adapter, "image": "d", "command": ["run"]}
    prices = [{"model": m, "input": "5", "output": "25"} for m in ("opus", "sonnet")]
    strict = project(agents=[agent], budget={"onUnpriced": deny, "prices": prices})

    assert waits_for(subject, plan=plan(budget=budget), project=strict) == reason


def test_who_waits_for_that_names_the_agent_and_what_helps() -> None:
    agent = {"name": "quiet", "adapter": "generic", "image": "d", "command": ["run"]}
    prices = [{"model": m, "input": "5", "output": "25"} for m in ("opus", "sonnet")]
    strict = project(agents=[agent], budget={"onUnpriced": "deny", "prices": prices})

    found = waiting(objects.task(status=status()), plan=plan(budget="5"), project=strict)

    assert found is not None
    assert found.needs_person
    assert found.message == (
        "the Plan has a budget, and agent 'quiet' (adapter generic) does not tell what it spends. "
        "Remedy: Take the budget out of the Plan, set onUnpriced: allow in the Project, or apply "
        "the step anew with an agent that tells its tokens."
    )
