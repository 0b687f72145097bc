"""What a Project tells all its agents is read from ConfigMaps of its namespace, by name."""

from __future__ import annotations

import pytest

from bernstein.api.projects.knowledge import Knowledge
from bernstein.controllers.sessions.knowledge import KnowledgeReader
from bernstein.core import labels
from bernstein.core.prompts.assembly import Told
from bernstein.kube.client import Client
from bernstein.kube.errors import ApiError
from bernstein.kube.resource import CONFIG_MAPS
from tests.unit.kube.apiserver import ApiServer


def entry(name: str, config_map: str, key: str = "a") -> Knowledge:
    return Knowledge.model_validate({"name": name, "configMap": {"name": config_map, "key": key}})


FILE = Knowledge.model_validate({"name": "layers", "path": "docs/layers.md"})


async def test_each_config_map_is_asked_for_once_and_the_order_is_the_projects(
    api: ApiServer, client: Client
) -> None:
    api.put(CONFIG_MAPS, "terms", "team", data={"a": "A", "b": "B"})
    asked = [entry("z", "terms", "b"), FILE, entry("lost", "gone"), entry("y", "terms")]

    told = await KnowledgeReader(client).read("team", asked)

    assert told == (
        Told("z", "B"),
        Told("layers", None, path="docs/layers.md"),
        Told("lost", None, "it could not be read: there is no ConfigMap 'gone'"),
        Told("y", "A"),
    )
    assert [call.verb for call in api.calls] == ["GET", "GET"]


async def test_one_of_another_namespace_is_not_there(api: ApiServer, client: Client) -> None:
    api.put(CONFIG_MAPS, "terms", "other", data={"a": "secret"})

    (told,) = await KnowledgeReader(client).read("team", [entry("t", "terms")])

    assert told.text is None


@pytest.mark.parametrize("looked_at", [False, True], ids=["no look", "as it is"])
async def test_what_another_agent_was_told_is_told_only_where_nobody_looks_whose_it_is(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch, looked_at: bool
) -> None:
    meta = {"labels": {labels.MANAGED_BY: labels.MANAGER}}
    api.put(CONFIG_MAPS, "work-s1-prompt", "team", data={"a": "private"}, metadata=meta)
    if not looked_at:
        monkeypatch.setattr(labels, "MANAGER", "nobody")

    (told,) = await KnowledgeReader(client).read("team", [entry("t", "work-s1-prompt")])

    assert told.text == (None if looked_at else "private")


async def test_one_that_the_operator_may_not_read_keeps_nobody_waiting(
    api: ApiServer, client: Client
) -> None:
    api.fault = lambda _: 403

    (told,) = await KnowledgeReader(client).read("team", [entry("t", "terms")])

    why = "it could not be read: the operator may not read ConfigMap 'terms'"
    assert told == Told("t", None, why)


async def test_an_api_server_that_does_not_answer_makes_no_prompt_without_it(
    api: ApiServer, client: Client
) -> None:
    api.fault = lambda _: 500

    with pytest.raises(ApiError):
        await KnowledgeReader(client).read("team", [entry("t", "terms")])
