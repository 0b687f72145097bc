"""What the role of a Task has to do with its start."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.roles.role import AgentRoleSpec
from bernstein.api.states import TaskState
from bernstein.core.roles.known import BUILT_IN, Roles
from bernstein.core.routing.choose import route_of
from bernstein.core.scheduling import chain
from bernstein.core.scheduling.schedule import Board
from tests.unit.core import objects
from tests.unit.core.objects import NOW, project, snapshot, status


def known(**specs: dict[str, Any]) -> Roles:
    return Roles({name: AgentRoleSpec.model_validate(spec) for name, spec in specs.items()})


TESTER = {"tester": {"prompt": "You test."}}


@pytest.mark.parametrize("links", [chain.CHAIN, chain.LAUNCH], ids=["to start", "to launch"])
@pytest.mark.parametrize(
    ("role", "roles", "reason", "words"),
    [
        ("backend", BUILT_IN, None, ""),
        ("tester", known(**TESTER), None, ""),
        ("tester", BUILT_IN, "RoleNotFound", "there is no role 'tester' in this namespace, it has"),
        (
            "qa",
            known(qa={"prompt": "{{X}}"}),
            "RoleInvalid",
            "AgentRole 'qa' cannot be used: prompt",
        ),
        ("docs", known(qa={"prompt": "{{X}}"}), None, ""),
    ],
)
def test_a_task_starts_with_a_role_that_there_is_and_that_can_be_used(
    role: str, roles: Roles, reason: str | None, words: str, links: tuple[chain.Link, ...]
) -> None:
    task = objects.task(plan=None, stage=None, role=role, status=status())

    wait = chain.first(links, snapshot(task, roles=roles), NOW)

    assert (wait and wait.reason) == reason
    if wait is not None:
        assert wait.needs_person
        assert wait.message.startswith(words)


def test_a_model_that_nobody_knows_is_told_with_the_role_that_chose_it() -> None:
    task = objects.task(plan=None, stage=None, role="qa", status=status())

    wait = chain.first(chain.CHAIN, snapshot(task, roles=known(qa={"model": "sonet"})), NOW)

    assert wait is not None
    assert wait.reason == "ModelNotFound"
    assert "knows the model 'sonet' of AgentRole 'qa', but: " in wait.message


@pytest.mark.parametrize(
    ("said", "role", "expected"),
    [
        ({}, {}, ("opus", "max")),
        ({}, {"model": "haiku", "effort": "low"}, ("haiku", "low")),
        ({"model": "sonnet"}, {"model": "haiku"}, ("sonnet", "max")),
        ({"model": "auto", "effort": "high"}, {"model": "haiku"}, ("haiku", "high")),
    ],
)
def test_the_step_chooses_its_model_then_its_agent_role_then_the_table(
    said: dict[str, Any], role: dict[str, str], expected: tuple[str, str]
) -> None:
    task = objects.task(role="security", **said)

    route = route_of(snapshot(task, roles=known(security=role)))

    assert (route.model, route.effort) == expected


def test_a_task_that_waits_for_its_role_starts_when_the_role_comes() -> None:
    task = objects.task(plan=None, stage=None, role="tester", status=status())
    board, its = Board(), project()
    board.put_task("work", task, member=True)

    (waits,) = board.look(its, (), NOW).waits
    assert waits[1].waiting is not None
    assert waits[1].waiting.reason == "RoleNotFound"
    assert not board.look(its, (), NOW).moves

    (claim,) = board.look(its, (), NOW, known(**TESTER)).moves
    assert claim[1].state == "Claimed"


def test_a_role_that_goes_keeps_those_back_that_have_not_begun() -> None:
    task = objects.task(plan=None, stage=None, role="tester", status=status())
    board, its = Board(), project(limits={"maxAgents": 1})
    busy = objects.status(TaskState.IN_PROGRESS, sessions=1, session="busy-s1")
    board.put_task("busy", objects.task("busy", plan=None, status=busy), member=True)
    board.put_task("work", task, member=True)
    (waits,) = board.look(its, (), NOW, known(**TESTER)).waits
    assert waits[1].waiting is not None
    assert waits[1].waiting.reason == "MaxAgents"

    (waits,) = board.look(its, (), NOW).waits

    assert waits[1].waiting is not None
    assert waits[1].waiting.reason == "RoleNotFound"
