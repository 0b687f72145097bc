"""An adapter that is added to the list, and to nothing else, is one everywhere."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from bernstein import agents, crds
from bernstein.agents import Invocation, RunSettings, StreamParser, TakesBaseUrl
from bernstein.agents.generic import GenericParser
from bernstein.api.project import Project
from bernstein.controllers.jobs.agent import agent_job
from bernstein.core.scheduling import waiting
from tests.unit.controllers.jobs.built import PLAIN_SETTINGS
from tests.unit.core import objects
from tests.unit.core.objects import NOW
from tests.unit.docs.registry_tables import adapter_problems


class Echo:
    name = "one-more"
    takes_base_url: Literal[True] = True

    def invocation(self, run: RunSettings) -> Invocation:
        return Invocation(("echo-agent", run.base_url or ""))

    def parser(self) -> StreamParser:
        return GenericParser()


PROJECT = objects.project(
    agents=[
        {"name": "demo", "adapter": "one-more", "image": "e:1", "baseUrl": "http://llm.example"}
    ]
)


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "ADAPTERS", (*agents.ADAPTERS, Echo()))


def of_agents() -> dict[str, Any]:
    spec = crds.object_schema(Project)["properties"]["spec"]["properties"]
    found: dict[str, Any] = spec["agents"]["items"]
    return found


def test_the_schema_offers_it() -> None:
    enum = of_agents()["properties"]["adapter"]["enum"]

    assert enum[-1] == "one-more"


def test_the_schema_refuses_what_it_does_not_take() -> None:
    rules = {rule["message"]: rule["rule"] for rule in of_agents()["x-kubernetes-validations"]}

    taking = [a.name for a in agents.ADAPTERS if isinstance(a, TakesBaseUrl)]
    assert rules[f"only adapters {', '.join(taking[:-1])} and one-more take 'baseUrl'"] == (
        f"!(!(self.adapter in {taking})) || !has(self.baseUrl)"
    )
    assert [told for told in rules if "one-more" in told and "command" in told] == [], (
        "it takes none"
    )


def test_its_tasks_start() -> None:
    snapshot = objects.snapshot(objects.task(), project=PROJECT)

    assert waiting.first(waiting.LAUNCH, snapshot, NOW) is None


def test_its_sessions_run_it() -> None:
    agent = PROJECT.spec.agent("demo")
    assert agent is not None

    job = agent_job(objects.session(), PROJECT, agent, "Do work\n", PLAIN_SETTINGS)

    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"][-2:] == ["echo-agent", "http://llm.example"]


def test_its_output_is_read() -> None:
    assert agents.get("one-more").parser().finish(0, b"").outcome == "Succeeded"


def test_the_missing_row_of_its_documentation_is_named() -> None:
    assert adapter_problems() == ["project.md: 'Adapters' has no row of one-more"]
