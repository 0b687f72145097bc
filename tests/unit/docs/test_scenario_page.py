"""The page of the demo agent's scenarios names what the program knows, and no more."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
from types import ModuleType

import pytest
import yaml
from typer.testing import CliRunner

from bernstein.agents.demo import OUTCOMES, DemoParser
from bernstein.cli.main import app
from tests.unit.docs.pages import REFERENCE, ROOT, blocks, table

PAGE = REFERENCE / "demo-scenario.md"


@pytest.fixture(scope="module")
def agent() -> ModuleType:
    path = str(ROOT / "images" / "agent-demo" / "demo-agent")
    loader = importlib.machinery.SourceFileLoader("demo_agent", path)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def keys(heading: str) -> list[str]:
    return [cells[0].strip("`") for cells in table(PAGE, heading)]


def test_it_names_every_key_of_an_attempt_and_every_step(agent: ModuleType) -> None:
    assert set(keys("An attempt")) == agent.ATTEMPT_KEYS
    assert tuple(keys("A step")) == agent.STEPS


def test_it_names_every_kind_of_failure() -> None:
    (text,) = [cells[1] for cells in table(PAGE, "An attempt") if cells[0] == "`error`"]
    assert re.findall(r"`(\w+)`", text.partition("Kinds:")[2])[:-1] == list(OUTCOMES)


def test_its_script_can_be_played(agent: ModuleType) -> None:
    script, _ = [block for block in blocks("yaml") if block.page == PAGE]
    scenario = yaml.safe_load(script.text)

    lie, work = (agent.choose(scenario, "Add the parser", number) for number in (1, 2))

    assert [next(iter(step)) for step in lie["steps"]] == ["say"]
    assert [next(iter(step)) for step in work["steps"]] == ["write", "usage"]
    assert agent.choose(scenario, "Add the parser", 7) == work


def test_the_script_for_a_trial_plays_the_plan_that_init_writes(agent: ModuleType) -> None:
    page = ROOT / "docs" / "how-to" / "try-with-a-git-server.md"
    (script,) = [
        block
        for block in blocks("yaml")
        if block.text.startswith("# scenario.yaml") and block.page == page
    ]
    answered = CliRunner().invoke(
        app, ["init", "-", "--repository", "https://git.example.com/a.git"]
    )
    plan = next(each for each in yaml.safe_load_all(answered.stdout) if "stages" in each)
    (step,) = [step for stage in plan["stages"] for step in stage["steps"]]

    lie, work = (agent.choose(yaml.safe_load(script.text), step["title"], n) for n in (1, 2))

    assert [next(iter(done)) for done in lie["steps"]] == ["say"]
    assert [done["write"]["path"] for done in work["steps"] if "write" in done] == step["files"]


def test_it_says_how_a_script_that_cannot_be_played_is_told(agent: ModuleType) -> None:
    told = DemoParser().finish(agent.BAD_SCENARIO, b"demo-agent: the scenario has no task 'x'\n")

    assert f"(`{told.outcome}`, exit code {agent.BAD_SCENARIO})" in PAGE.read_text()
