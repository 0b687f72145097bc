"""What the pages point to exists: files, headings, make targets, and plans that are valid."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from bernstein.api.plan import parse
from bernstein.api.projects.subtasks import MOST_SUBTASKS
from bernstein.checks.gate import Command
from bernstein.checks.gates import lint
from bernstein.cli.main import app
from bernstein.core.plans.expansion import expand
from bernstein.core.plans.file import plan_object
from bernstein.core.plans.subtasks.written import problems
from tests.unit.core import objects
from tests.unit.docs.pages import ROOT, Block, anchors, blocks, links, pages, prose

PLAN_FILES = [
    block
    for block in blocks("yaml")
    for data in yaml.safe_load_all(block.text)
    if ("stages" in data or "nodes" in data) and "apiVersion" not in data
]
PLAN_OBJECTS = [
    block
    for block in blocks("yaml")
    if any(
        isinstance(data, dict) and data.get("kind") == "Plan"
        for data in yaml.safe_load_all(block.text)
    )
]


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT))


NAMES = [_short(page) for page in pages()]


@pytest.mark.parametrize("name", NAMES)
def test_every_relative_link_leads_somewhere(name: str) -> None:
    page = ROOT / name
    broken = [target for target in links(page) if not _resolves(page, target)]
    assert broken == []


def _resolves(page: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return True
    path, _, anchor = target.partition("#")
    there = (page.parent / path).resolve() if path else page
    return there.exists() and (not anchor or anchor in anchors(there))


@pytest.mark.parametrize("name", NAMES)
def test_every_make_target_that_is_named_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = (ROOT / name).read_text()
    named = set(re.findall(r"(?:`|^\$ |^ *)make ([a-z][a-z0-9-]*)", text, re.MULTILINE))
    assert named <= targets


@pytest.mark.parametrize("name", NAMES)
def test_every_file_of_the_repository_that_is_named_exists(name: str) -> None:
    folders = "charts|crds|docs|images|operator|tests"
    # Of a path such as `docs/<name>.md`, what stands before the name that one has to choose.
    named = re.findall(rf"`((?:{folders})/(?:[\w.-]+/)*(?:[\w.-]+(?=`))?)", prose(ROOT / name))
    built = re.findall(r" -f ([\w./-]+Dockerfile) ", (ROOT / name).read_text())
    assert [path for path in (*named, *built) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_test_that_is_to_be_run_exists(name: str) -> None:
    for path, words in re.findall(r"pytest (tests/\S+)(?: -k (\w+))?", (ROOT / name).read_text()):
        assert (ROOT / path).exists()
        assert re.search(rf"def test_\w*{words}", (ROOT / path).read_text()), (path, words)


@cache
def reached() -> frozenset[Path]:
    """Pages that links lead to from the README, however many."""
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        here = waiting.pop()
        if here not in seen:
            seen.add(here)
            found = [(here.parent / t.partition("#")[0]).resolve() for t in links(here)]
            waiting += [f for f in found if f.suffix == ".md" and f.exists()]
    return frozenset(seen)


@pytest.mark.parametrize("page", [p for p in pages() if p.parent != ROOT], ids=_short)
def test_every_page_can_be_reached_from_the_readme(page: Path) -> None:
    assert page in reached()


@pytest.mark.parametrize("block", list(blocks("python")), ids=str)
def test_every_script_on_a_page_runs(block: Block) -> None:
    quick = block.text.replace("20_000", "20").replace("sleep(3)", "sleep(0)")
    ended = subprocess.run([sys.executable, "-c", quick], capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()


def test_no_script_on_a_page_is_rejected_by_the_gate_lint(tmp_path: Path) -> None:
    assert isinstance(lint.GATE.runs, Command)
    (tmp_path / "ruff.toml").touch()  # its defaults, whatever lies above
    for block in blocks("python"):
        name = f"{block.page.stem}-{block.line}".replace("-", "_")
        (tmp_path / f"{name}.py").write_text(block.text)

    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    judged = subprocess.run(
        ["sh", "-c", lint.GATE.runs.command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )

    assert judged.returncode == 0, judged.stdout + judged.stderr


@pytest.mark.parametrize("block", PLAN_FILES, ids=str)
def test_every_plan_file_on_a_page_is_valid(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(block.text)
    _validate(path)


@pytest.mark.parametrize("block", PLAN_OBJECTS, ids=str)
def test_every_plan_object_on_a_page_is_valid(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(block.text)
    answer = CliRunner().invoke(app, ["validate", str(path)])
    assert answer.exit_code == 0, answer.output


SUBTASKS = [block for block in blocks("yaml") if block.text.startswith("subtasks:\n")]


@pytest.mark.parametrize("block", SUBTASKS, ids=str)
def test_subtasks_on_a_page_are_what_an_agent_may_leave(block: Block) -> None:
    manager, project = objects.task(role="manager").spec, objects.project().spec

    assert problems(yaml.safe_load(block.text), manager, project, MOST_SUBTASKS) == ()


def test_the_page_of_tasks_shows_some() -> None:
    assert [block.page.name for block in SUBTASKS] == ["task.md"]


EXAMPLES = (
    path
    for pattern in ("plan.yaml", ".bernstein/workflows/*.yaml")
    for path in (ROOT / "docs/examples").rglob(pattern)
)


@pytest.mark.parametrize("path", sorted(EXAMPLES), ids=_short)
def test_every_plan_file_of_the_examples_is_valid(path: Path) -> None:
    _validate(path)


def test_the_tutorial_names_the_tasks_that_its_plan_makes() -> None:
    page = ROOT / "docs/tutorial/first-plan.md"
    (block,) = (block for block in PLAN_FILES if block.page == page)
    plan = parse(plan_object(yaml.safe_load(block.text), namespace="bernstein-demo"))
    made = {task["metadata"]["name"] for task in expand(plan, "default")}

    named = re.findall(rf"(?:logs|prompt) ({plan.metadata.name}--\S+)", page.read_text())

    assert len(named) == 2
    assert set(named) == made


def _validate(path: Path) -> None:
    answer = CliRunner().invoke(app, ["validate", str(path)])
    assert answer.exit_code == 0, answer.output
    assert "! " not in answer.output
