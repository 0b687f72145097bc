"""What holds for every adapter, whatever its CLI is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bernstein import agents, crds
from bernstein.agents import Adapter, RunSettings, TakesBaseUrl, TakesCommand, TellsTokens
from bernstein.api.pod import FinalRecord, Usage
from bernstein.api.project import Project
from tests.unit.agents import examples
from tests.unit.agents.examples import Output

every_adapter = pytest.mark.parametrize("adapter", agents.ADAPTERS, ids=agents.names())
CAPABILITIES: dict[type, dict[str, Any]] = {
    TakesCommand: {"command": ("my-agent", "--now")},
    TakesBaseUrl: {"base_url": "http://llm.example/v1"},
}
RUN = RunSettings(prompt_file="/session/prompt.md", model="m")


def end(adapter: Adapter, output: Output) -> FinalRecord:
    parser = adapter.parser()
    for line in output.stdout.splitlines():
        parser.feed(line)
    return parser.finish(output.exit_code, output.stderr)


def test_every_adapter_has_a_folder_of_examples_and_every_folder_an_adapter() -> None:
    folders = {path.parent.name for path in Path(__file__).parent.glob("*/example.py")}

    assert folders == {*agents.names()}


def test_names_are_told_apart() -> None:
    assert len(agents.names()) == len(set(agents.names()))
    with pytest.raises(KeyError):
        agents.get("none")


def test_the_schema_offers_exactly_these() -> None:
    spec = crds.object_schema(Project)["properties"]["spec"]["properties"]

    enum = spec["agents"]["items"]["properties"]["adapter"]["enum"]
    assert enum == list(agents.names())


@every_adapter
def test_an_end_is_told_apart_from_another(adapter: Adapter) -> None:
    example = examples.of_adapter(adapter.name)

    assert end(adapter, example.succeeds).outcome == "Succeeded"
    failed = end(adapter, example.fails)
    assert failed.outcome != "Succeeded"
    assert failed.message


@every_adapter
def test_who_looks_on_sees_something_of_a_run_before_its_end(adapter: Adapter) -> None:
    parser = adapter.parser()
    *before, last = examples.of_adapter(adapter.name).succeeds.stdout.splitlines()

    shown = [told for line in before or [last] if (told := parser.feed(line))]

    assert shown
    assert parser.progress


@every_adapter
def test_what_a_cli_prints_beside_its_records_is_shown_as_it_is(adapter: Adapter) -> None:
    assert adapter.parser().feed(b"warning: the proxy is slow\n") == "warning: the proxy is slow"


@every_adapter
def test_the_same_run_is_started_the_same_way(adapter: Adapter) -> None:
    assert adapter.invocation(RUN) == adapter.invocation(RUN)


@every_adapter
@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.__name__)
def test_what_it_says_that_it_takes_is_what_it_makes_something_of(
    adapter: Adapter, capability: type
) -> None:
    given = replace(RUN, **CAPABILITIES[capability])

    differs = adapter.invocation(given) != adapter.invocation(RUN)

    assert differs is isinstance(adapter, capability)


@every_adapter
def test_tokens_are_counted_where_it_says_that_it_tells_them(adapter: Adapter) -> None:
    parser = adapter.parser()
    for line in examples.of_adapter(adapter.name).succeeds.stdout.splitlines():
        parser.feed(line)

    assert (parser.usage != Usage()) is isinstance(adapter, TellsTokens)
    assert agents.tells_tokens(adapter.name) is isinstance(adapter, TellsTokens)


def test_of_an_adapter_that_there_is_not_nothing_is_known() -> None:
    assert not agents.tells_tokens("none")


@pytest.mark.parametrize("capability", [*CAPABILITIES, TellsTokens], ids=lambda c: c.__name__)
def test_some_adapters_can_do_it_and_some_cannot(capability: type) -> None:
    able = [adapter.name for adapter in agents.ADAPTERS if isinstance(adapter, capability)]

    assert 0 < len(able) < len(agents.ADAPTERS)
