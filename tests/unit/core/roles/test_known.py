"""The roles of a namespace."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein import roles
from bernstein.api.roles.role import AgentRoleSpec
from bernstein.api.signals import Assignment
from bernstein.api.vocabulary import ROLES
from bernstein.core.roles.known import BUILT_IN, Roles


def known(**specs: dict[str, Any]) -> Roles:
    return Roles({name: AgentRoleSpec.model_validate(spec) for name, spec in specs.items()})


def test_there_are_the_built_in_ones_and_those_of_the_namespace() -> None:
    there = known(tester={"prompt": "You test."}, qa={"prompt": "You are ours."})

    assert [*BUILT_IN] == sorted(ROLES)
    assert [*there] == sorted((*ROLES, "tester"))
    assert len(there) == len(ROLES) + 1
    assert "tester" in there
    assert "gardener" not in there


def test_the_text_of_a_role_is_that_of_its_agent_role_then_the_built_in_one() -> None:
    there = known(tester={"prompt": "You test."}, qa={"prompt": "Ours."}, docs={"model": "opus"})

    assert there.text("tester") == "You test."
    assert there.text("qa") == "Ours."
    assert there.text("docs") == roles.text("docs")
    assert there.text("backend") == roles.text("backend")
    assert there.text("gardener") is None


def test_a_role_with_a_problem_says_its_first_and_how_many_more() -> None:
    there = known(tester={"prompt": "{{X}}{{Y}}"}, qa={"prompt": "Ours."})

    assert there.problem("qa") == there.problem("docs") == there.problem("gardener") == ""
    told = there.problem("tester")
    assert told.startswith("AgentRole 'tester' cannot be used: prompt: line 1, column 1")
    assert told.endswith(", and 1 more")


@pytest.mark.parametrize(
    ("said", "role", "expected"),
    [
        ({}, {"model": "haiku", "effort": "low"}, ("haiku", "low")),
        ({"model": "auto"}, {"model": "haiku"}, ("haiku", None)),
        ({"model": "opus"}, {"model": "haiku", "effort": "low"}, ("opus", "low")),
        ({"effort": "max"}, {"model": "haiku", "effort": "low"}, ("haiku", "max")),
        ({}, {"model": "auto"}, (None, None)),
        ({}, {}, (None, None)),
    ],
)
def test_a_role_chooses_what_the_work_leaves_open(
    said: dict[str, str], role: dict[str, str], expected: tuple[str | None, str | None]
) -> None:
    work = Assignment.model_validate({"role": "qa", **said})

    chosen = known(qa=role).with_defaults(work)

    assert (chosen.model, chosen.effort) == expected
    assert known(docs={"model": "haiku"}).with_defaults(work) is work


def test_what_tells_roles_apart_is_their_names_and_what_they_choose() -> None:
    one = known(tester={"prompt": "You test."})

    assert one.digest == known(tester={"prompt": "You test more."}).digest
    assert one.digest != known(gardener={"prompt": "You test."}).digest
    assert one.digest != known(tester={"prompt": "You test.", "model": "opus"}).digest
    assert one.digest != BUILT_IN.digest
