"""The example without a cluster: its agent plays the plan, and the result is worth its tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from bernstein.agents import RunSettings, get
from bernstein.agents.demo import DemoParser
from bernstein.api.pod import FinalRecord
from tests.demo import manifests, toolchain

ROOT = Path(__file__).resolve().parents[2]
AGENT = ROOT / "images/agent-demo/demo-agent"
SEED = ROOT / "images/git-server/seeds/rate-limit-api"
MIDDLEWARE = "Add RateLimiter middleware"
LINE = "    app.add_middleware(RateLimiter, "


@dataclass
class Work:
    """A tree on which agents work and checks run."""

    tree: Path
    environment: dict[str, str]

    def run_agent(self, title: str, attempt: int) -> FinalRecord:
        run = RunSettings("", "sonnet", config_dir=str(manifests.EXAMPLE))
        _, *arguments = get("demo").invocation(run).argv
        ended = subprocess.run(
            [sys.executable, AGENT, *arguments],
            cwd=self.tree,
            input=f"Task: {title}\nAttempt: {attempt}\n".encode(),
            capture_output=True,
            check=False,
        )
        parser = DemoParser()
        for line in ended.stdout.splitlines():
            parser.feed(line)
        assert parser.usage.input > 0
        assert parser.usage.output > 0
        return parser.finish(ended.returncode, ended.stderr)

    def passes(self, command: str) -> bool:
        """Whether a check's command succeeds; prints why not."""
        ended = subprocess.run(
            ["sh", "-c", command],
            cwd=self.tree,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        print(ended.stdout)
        return ended.returncode == 0

    def signals_hold(self, step: dict[str, Any]) -> bool:
        return all(self._holds(signal) for signal in step.get("completion_signals", ()))

    def _holds(self, signal: dict[str, Any]) -> bool:
        if signal["type"] == "test_passes":
            return self.passes(signal["command"])
        assert signal["type"] == "file_contains"
        path = self.tree / signal["path"]
        return path.is_file() and signal["contains"] in path.read_text()

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.tree).as_posix(): path.read_bytes()
            for path in self.tree.rglob("*")
            if path.is_file()
        }


def steps() -> Iterator[dict[str, Any]]:
    for stage in plan()["stages"]:
        yield from stage["steps"]


def plan() -> dict[str, Any]:
    return dict(yaml.safe_load((manifests.EXAMPLE / "plan.yaml").read_text()))


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return toolchain.environment()


@pytest.fixture(scope="module")
def finished(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Work:
    """The tree after the whole plan."""
    work = Work(tmp_path_factory.mktemp("finished") / "tree", environment)
    shutil.copytree(SEED, work.tree)
    for step in steps():
        work.run_agent(step["title"], attempt=2)
    return work


@pytest.fixture
def copy(finished: Work, tmp_path: Path) -> Work:
    shutil.copytree(finished.tree, tmp_path / "tree")
    return Work(tmp_path / "tree", finished.environment)


def test_every_commit_stands_alone(environment: dict[str, str], tmp_path: Path) -> None:
    work = Work(tmp_path / "tree", environment)
    shutil.copytree(SEED, work.tree)
    for step in steps():
        before = work.files()
        record = work.run_agent(step["title"], attempt=2)
        assert record.outcome == "Succeeded", record
        assert record.no_change == (work.files() == before), step["title"]
        assert work.signals_hold(step), step["title"]
        assert work.passes("ruff check ."), step["title"]
        assert work.passes("ruff format --check ."), step["title"]
        assert work.passes("pytest -q -W error"), step["title"]
        declared = step.get("files")
        changed = {path for path, content in work.files().items() if before.get(path) != content}
        assert declared is None or changed <= set(declared), step["title"]


def test_the_first_attempt_of_the_middleware_lies(
    environment: dict[str, str], tmp_path: Path
) -> None:
    work = Work(tmp_path / "tree", environment)
    shutil.copytree(SEED, work.tree)
    before = work.files()
    (step,) = (step for step in steps() if step["title"] == MIDDLEWARE)
    record = work.run_agent(MIDDLEWARE, attempt=1)
    assert record.outcome == "Succeeded", "the agent claims success"
    assert work.files() != before, "it is not found out by an empty diff"
    assert not work.signals_hold(step)


def test_the_tests_pass_with_the_limiter(copy: Work) -> None:
    assert copy.passes("pytest -q")


def test_the_tests_fail_without_the_file_of_the_limiter(copy: Work) -> None:
    (copy.tree / "src/api/middleware/rate_limiter.py").unlink()
    assert not copy.passes("pytest -q")


def test_the_tests_fail_when_the_limiter_is_not_wired(copy: Work) -> None:
    app = copy.tree / "src/api/app.py"
    lines = app.read_text().splitlines(keepends=True)
    without = [line for line in lines if not line.startswith(LINE)]
    assert len(without) == len(lines) - 1
    app.write_text("".join(without))
    assert not copy.passes("pytest -q tests/test_rate_limiter.py")
    assert copy.passes("pytest -q tests/test_links.py"), "only the limiter's tests notice"


def test_the_tests_fail_when_the_limiter_admits_everybody(copy: Work) -> None:
    limiter = copy.tree / "src/api/middleware/rate_limiter.py"
    text = limiter.read_text()
    assert "if left >= 0:" in text
    limiter.write_text(text.replace("if left >= 0:", "if left is not None:"))
    assert not copy.passes("pytest -q")


def test_file_and_object_say_the_same() -> None:
    def camel(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                "".join(w.title() if i else w for i, w in enumerate(k.split("_"))): camel(v)
                for k, v in value.items()
            }
        return [camel(item) for item in value] if isinstance(value, list) else value

    resource = yaml.safe_load((manifests.EXAMPLE / "plan-cr.yaml").read_text())
    expected = camel(plan())
    assert expected.pop("budget") == f"${resource['spec'].pop('budget')}"
    assert resource["spec"] == expected


def test_the_scenario_has_every_step_of_the_plan() -> None:
    scenario = yaml.safe_load((manifests.EXAMPLE / "scenario.yaml").read_text())
    assert [task["title"] for task in scenario["tasks"]] == [step["title"] for step in steps()]
