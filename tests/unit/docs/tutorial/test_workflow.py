"""The pages of workflows: what they draw is what the program draws, and their agent loops once."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from bernstein.api.plans.workflow import Workflow
from bernstein.cli.main import app
from bernstein.core.plans.fields import plan_spec
from bernstein.core.plans.validation import validate_file
from bernstein.core.plans.workflows import definition as definitions
from bernstein.core.plans.workflows.course import Ending, advance, begun
from tests.unit.core.plans.validation.workflow_files import node, workflow
from tests.unit.core.plans.workflows.stories.approvals import PIPELINE
from tests.unit.docs.pages import REFERENCE, ROOT, blocks

TUTORIAL = ROOT / "docs/tutorial/workflow-with-a-loop.md"
PAGE = REFERENCE / "workflow.md"
EXAMPLE = ROOT / "docs/examples/ci-pipeline/.bernstein/workflows/ci-pipeline.yaml"


def yaml_of(page: Path) -> list[str]:
    return [block.text for block in blocks("yaml") if block.page == page]


def told(page: Path, command: str) -> str:
    """What stands below a command on a page."""
    found = next(
        block.text
        for block in blocks("console")
        if block.page == page and block.text.startswith(f"$ bernstein {command}")
    )
    return found.partition("\n")[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the workflows of both pages."""
    workflows = tmp_path / ".bernstein" / "workflows"
    workflows.mkdir(parents=True)
    (workflows / "greeting.yaml").write_text(yaml_of(TUTORIAL)[1])
    (workflows / "ci-pipeline.yaml").write_text(yaml_of(PAGE)[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("page", "command"),
    [
        (TUTORIAL, "validate greeting"),
        (TUTORIAL, "plan graph greeting"),
        (PAGE, "plan graph .bernstein/workflows/ci-pipeline.yaml"),
    ],
)
def test_what_a_page_shows_is_what_the_program_prints(
    folder: Path, page: Path, command: str
) -> None:
    answer = CliRunner(env={"COLUMNS": "200"}).invoke(app, command.split())

    assert answer.stdout == told(page, command)


def test_the_example_on_the_page_is_the_file() -> None:
    assert yaml_of(PAGE)[0] == EXAMPLE.read_text() == PIPELINE.lstrip()


def test_the_agent_of_the_tutorial_needs_one_repair(tmp_path: Path) -> None:
    (patch,) = yaml.safe_load(yaml_of(TUTORIAL)[0])
    data = yaml.safe_load(yaml_of(TUTORIAL)[1])
    workflow = Workflow.model_validate(plan_spec(data)["workflow"])
    definition = definitions.of(workflow)
    course = advance(definition, begun(definition, ""), {}, lambda _: True)
    last: dict[str, Ending] = {}
    ran: list[str] = []
    while running := [node for node in course.nodes if node.state == "Running"]:
        (node,) = running
        ran.append(f"greeting-{node.name}-i{node.run}")
        given = definition.nodes[node.name]
        command = patch["value"]["command"]
        subprocess.run(command, input=given.heading, text=True, cwd=tmp_path, check=True)
        written = (tmp_path / "docs/hello.md").read_text()
        passed = all(s.contains is None or s.contains in written for s in given.completion_signals)
        last[node.name] = Ending(node.run, "done" if passed else "failed")
        course = advance(definition, course, last, lambda _: True)

    assert ran == re.findall(r"`(greeting-\w+-i\d)`", TUTORIAL.read_text())
    assert {node.state for node in course.nodes} == {"Done"}


BACK = {"source": "b", "condition": "status = 'done'"}
NO_STATUS = {"source": "b", "condition": "status == 'Done'"}
ALWAYS_THERE = {"source": "b", "condition": "status"}
MANY: dict[str, Any] = {"retry": {"max_attempts": 20}}
WRONG = [
    {"name": "w"} | {"phases": [{"name": "p"}]},
    {"name": "w"} | {"nodes": {"a": node("p")}},
    workflow() | {"stages": []},
    workflow(a={}),
    workflow() | {"nodes": {"Run_Tests": node()}},
    workflow(a=node("buld")),
    workflow(a=node("merge", "qa")) | {"phases": [{"name": "merge", "allowed_roles": ["manager"]}]},
    workflow(a=node(depends_on=["b"])),
    workflow(a=node(depends_on=["a"])),
    workflow(a=node(), b=node(depends_on=["a", {"source": "a", "condition": "output"}])),
    workflow(a=node(depends_on=["b"]), b=node("check", "qa")),
    workflow(a=node(depends_on=[BACK]), b=node("check", "qa")),
    workflow(a=node(depends_on=[NO_STATUS]), b=node("check", "qa")),
    workflow(a=node(depends_on=[ALWAYS_THERE]), b=node("check", "qa")),
    workflow(a=node(depends_on=["b"]), b=node(depends_on=["a"])),
    workflow(**{f"n{number}": node(**MANY) for number in range(31)}),
]


def test_every_message_on_the_page_is_one_of_the_program() -> None:
    (section,) = re.findall(r"## What is wrong with it\n(.*)", PAGE.read_text(), re.DOTALL)
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)

    # A second message in a row has only the name in which it differs from the first.
    listed = [re.findall(r"`([^`]*)`", row) for row in rows]
    whole = {
        re.sub(r"'[^']*'$", also, first) if also is not first else first
        for first, *more in listed
        for also in (first, *more)
    }
    assert whole == {error.message for data in WRONG for error in validate_file(data).errors}
