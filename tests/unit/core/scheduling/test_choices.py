"""What a Task may name: agents of its Project, and models that somebody knows."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.project import Project
from bernstein.api.task import Task
from bernstein.core import conditions
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import NOW, project, snapshot, status

OTHER_AGENT = {"name": "b", "adapter": "generic", "image": "b", "command": ["b"]}


def stalled(subject: Task, of: Project) -> tuple[str, str] | None:
    """Why it does not start, with the words."""
    found = scheduled.decide(snapshot(subject, project=of), NOW).status
    stall = conditions.find(found.conditions, "Stalled")
    return None if stall is None else (stall.reason, stall.message)


def test_a_cli_is_also_the_adapter_of_just_one_agent() -> None:
    named = {"name": "b", "adapter": "demo", "image": "b"}
    subject = objects.task(status=status(), cli="demo")

    assert stalled(subject, project(agents=[OTHER_AGENT | {"name": "c"}, named])) is None
    reason, message = stalled(subject, project(agents=[named, named | {"name": "c"}])) or ("", "")
    assert reason == "AgentNotFound"
    assert "adapter of several agents of the Project: b, c" in message


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        *((name, None) for name in (None, "auto", "haiku", "own-large", "own-2", "gpt-5.5-pro")),
        *((name, "ModelNotFound") for name in ("sonet", "own", "Opus")),
    ],
)
def test_a_model_that_nobody_knows_starts_no_agent(model: str | None, reason: str | None) -> None:
    agent = {"name": "demo", "adapter": "demo", "image": "d", "models": {"opus": "own-large"}}
    price = {"model": "own-2", "input": "1", "output": "1"}
    of = project(agents=[agent], budget={"prices": [price]})
    subject = objects.task(status=status(), model=model)

    found = stalled(subject, of)
    assert (found and found[0]) == reason
    if found is not None:
        assert "but: auto, opus, sonnet, haiku, own-large, own-2" in found[1]


@pytest.mark.parametrize(("signal", "reason"), [("llm_judge", "NoModel"), ("path_exists", None)])
def test_a_signal_that_asks_a_model_starts_no_agent_without_one(
    signal: str, reason: str | None
) -> None:
    path = {"path": "a.py"} if signal == "path_exists" else {}
    subject = objects.task(status=status(), completionSignals=[{"type": signal, **path}])
    model = {"name": "m", "provider": "openai", "key": {"name": "judge", "key": "key"}}

    found = stalled(subject, project())

    assert (found and found[0]) == reason
    assert stalled(subject, project(models=[model])) is None


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        ({"name": "review_rubric"}, "NoModel"),
        ({"name": "review_rubric", "model": "m"}, "NoModel"),
        ({"name": "test_expansion"}, None),
        ({"name": "tests"}, None),
    ],
)
def test_a_gate_that_asks_a_model_starts_no_agent_without_that_one(
    gate: dict[str, str], reason: str | None
) -> None:
    subject = objects.task(status=status())
    gates = {"pipeline": [gate]}
    other = {"name": "n", "provider": "openai", "key": {"name": "judge", "key": "key"}}

    found = stalled(subject, project(gates=gates))
    beside = stalled(subject, project(gates=gates, models=[other]))
    asked = stalled(subject, project(gates=gates, models=[other, {**other, "name": "m"}]))

    assert (found and found[0]) == reason
    assert (beside and beside[0]) == (reason if "model" in gate else None)
    assert asked is None


OPENAI = {"name": "gpt-5.5", "provider": "openai", "key": {"name": "judge", "key": "key"}}
GOOGLE = {**OPENAI, "name": "gemini-3-flash", "provider": "gemini"}


@pytest.mark.parametrize(
    ("model", "settings", "reason"),
    [
        ("gpt-5.5-mini", {}, "NoReviewer"),
        ("gpt-5.5-mini", {"onIssues": "Report"}, None),
        ("gpt-5.5-mini", {"enabled": False}, None),
        ("opus", {}, "NoReviewer"),
        ("claude-opus-4-5", {}, None),
    ],
)
def test_work_that_nobody_could_review_starts_no_agent(
    model: str, settings: dict[str, Any], reason: str | None
) -> None:
    """`opus` is what the Project calls a model whose name it does not say."""
    subject = objects.task(status=status(), model=model)
    asks = {"crossModel": {"enabled": True, **settings}}

    found = stalled(subject, project(gates=asks, models=[OPENAI]))

    assert (found and found[0]) == reason


def test_the_reviewer_is_chosen_before_the_agent_is_paid() -> None:
    subject = objects.task(status=status(), model="gpt-5.5-mini")
    named = {"crossModel": {"enabled": True, "reviewers": ["gpt-5.5"]}}

    found = stalled(subject, project(gates=named, models=[OPENAI, GOOGLE]))
    free = project(gates={"crossModel": {"enabled": True}}, models=[OPENAI, GOOGLE])

    assert found is not None
    assert "the reviewer 'gpt-5.5' is of OpenAI, as the model that writes" in found[1]
    assert stalled(subject, free) is None
