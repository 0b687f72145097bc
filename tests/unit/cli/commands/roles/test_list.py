"""`bernstein roles list`."""

from __future__ import annotations

from typing import Any

from bernstein.api.vocabulary import ROLES as BUILT_IN
from bernstein.resources import PROJECTS, ROLES
from tests.unit.cli.conftest import Bernstein
from tests.unit.core import objects
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
