"""`bernstein roles list`."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.roles.role import AgentRole
from bernstein.api.vocabulary import ROLES as BUILT_IN
from bernstein.cli.commands.roles.list import records, table
from bernstein.resources import PROJECTS, ROLES
from bernstein.roles import DESCRIPTIONS
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import terminal
from tests.unit.core import objects
from tests.unit.docs.pages import ROOT
from tests.unit.kube.apiserver import ApiServer


def put(api: ApiServer, name: str, **spec: Any) -> None:
    api.put(ROLES, name, "team", spec=spec)


async def test_the_built_in_roles_are_there_without_any_agent_role(bernstein: Bernstein) -> None:
    told = (await bernstein("roles", "list", "--json")).json

    assert [each["name"] for each in told] == list(BUILT_IN)
    assert all(each["built_in"] and not each["agent_role"] and each["valid"] for each in told)
    (manager,) = (each for each in told if each["name"] == "manager")
    (backend,) = (each for each in told if each["name"] == "backend")
    assert (manager["model"], manager["effort"]) == ("opus", "max")
    assert (backend["model"], backend["effort"]) == (None, None)


async def test_each_built_in_role_is_described_in_the_words_of_its_page(
    bernstein: Bernstein,
) -> None:
    page = (ROOT / "docs" / "explanation" / "roles.md").read_text()
    told = (await bernstein("roles", "list", "--json")).json

    assert DESCRIPTIONS.keys() == {*BUILT_IN}
    for each in told:
        assert f"| {each['name']} | {each['description']} |" in page


async def test_an_agent_role_with_a_text_of_its_own_is_not_described_as_the_built_in_one(
    bernstein: Bernstein, api: ApiServer
) -> None:
    put(api, "backend", model="opus")
    put(api, "qa", prompt="You sell.")
    told = {each["name"]: each for each in (await bernstein("roles", "list", "--json")).json}

    assert told["backend"]["description"] == DESCRIPTIONS["backend"]
    assert told["qa"]["description"] is None


@pytest.mark.parametrize("overridden", [True, False])
@pytest.mark.parametrize(
    ("width", "described"), [(60, False), (80, True), (100, True), (200, True)]
)
def test_no_heading_is_cut_on_a_narrow_terminal(
    overridden: bool, width: int, described: bool
) -> None:
    spec = {"prompt": "You plan.", "model": "sonnet"}
    given = objects.metadata("manager", "uid-m")
    manager = AgentRole.model_validate({"metadata": given, "spec": spec})
    own = {"manager": manager} if overridden else {}
    shown, console = terminal(width=width)

    shown.show(table([*records(own, [])], shown.people))

    heading, *rows = console.export_text().splitlines()
    headings = ["ROLE", "FROM", "MODEL", "EFFORT", "DESCRIPTION"]
    assert heading.split() == (headings if described else headings[:-1])
    assert [row for row in rows if len(row) > width] == []
    (row,) = (row for row in rows if row.strip().startswith("backend"))
    assert row.count("by task") == 2


async def test_agent_roles_are_told_apart_by_what_they_stand_for(
    bernstein: Bernstein, api: ApiServer
) -> None:
    put(api, "sre", prompt="You keep it up.", model="opus", description="Keeps services up")
    put(api, "manager", prompt="You plan.", model="sonnet")
    api.put(ROLES, "other", "elsewhere", spec={"prompt": "x"})

    plain = await bernstein("roles", "list")
    told = {each["name"]: each for each in (await bernstein("roles", "list", "--json")).json}

    assert "other" not in told
    sre, manager = told["sre"], told["manager"]
    assert (sre["built_in"], sre["agent_role"], sre["overrides"]) == (False, True, False)
    assert (sre["model"], sre["description"]) == ("opus", "Keeps services up")
    assert (manager["built_in"], manager["overrides"]) == (True, True)
    assert (manager["model"], manager["effort"]) == ("sonnet", "max")
    (row,) = (row for row in plain.out.splitlines() if row.strip().startswith("manager"))
    assert "overrides the built-in one" in row


async def test_one_that_cannot_be_used_says_why(bernstein: Bernstein, api: ApiServer) -> None:
    put(api, "sre", prompt="You {{X}}.")

    plain = await bernstein("roles", "list")
    told = {each["name"]: each for each in (await bernstein("roles", "list", "--json")).json}

    assert not told["sre"]["valid"]
    assert "AgentRole 'sre' cannot be used: prompt: line 1, column 5: unknown name 'X'" in plain.err


async def test_a_model_that_a_project_does_not_know_is_told_with_the_project(
    bernstein: Bernstein, api: ApiServer
) -> None:
    put(api, "sre", prompt="You keep it up.", model="opsu")
    put(api, "web", prompt="You build it.", model="opus")
    project = objects.project().dump()
    api.put(PROJECTS, "default", "team", **project)
    project["spec"]["agents"][0]["models"] = {"opus": "opsu"}
    api.put(PROJECTS, "other", "team", **project | {"metadata": {"name": "other"}})

    plain = await bernstein("roles", "list")
    told = {each["name"]: each for each in (await bernstein("roles", "list", "--json")).json}

    unknown = {name: each["model_unknown_to"] for name, each in told.items()}
    assert unknown == {name: [] for name in told} | {"sre": ["default"]}
    (row,) = (row for row in plain.out.splitlines() if row.strip().startswith("sre"))
    assert "opsu, not known" in row
    assert plain.err == (
        "AgentRole 'sre': the Project 'default' and the table of prices do not know the model "
        "'opsu': their Tasks of this role wait (ModelNotFound)\n"
    )


async def test_who_may_not_read_projects_is_told_of_roles_all_the_same(
    bernstein: Bernstein, api: ApiServer
) -> None:
    put(api, "sre", prompt="You keep it up.", model="opsu")
    api.fault = lambda call: 403 if call.plural == PROJECTS.plural else None

    answer = await bernstein("roles", "list", "--json")

    told = {each["name"]: each["model_unknown_to"] for each in answer.json}
    assert (told["sre"], told["backend"], answer.err) == (None, [], "")
