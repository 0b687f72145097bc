"""What one Task has landed, with a person's yes, does not judge the next one of the same Plan."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bernstein.agents import RunSettings, get
from tests.demo import manifests
from tests.e2e.conftest import MakeWorld, Object, World, condition, does, push, state, writing
from tests.e2e.test_cli import CommandLine
from tests.e2e.test_gates_in_python import NO_BAD
from tests.programs.hostile.payloads import (
    CODEX_SETTINGS,
    CONFTEST,
    HOOKED,
    HOOKS,
    PUSHED,
    SERVED,
    SERVES,
    SETTINGS,
    WORKFLOW,
)
from tests.programs.plugins.gate import FILE
from tests.stack import Stack

pytestmark = pytest.mark.verification

PAYLOADS = {
    FILE: NO_BAD.replace("passed = not offending", "passed = True"),
    "conftest.py": CONFTEST,
    "ruff.toml": 'extend-exclude = ["*.py"]\n',
    SETTINGS: HOOKS,
    CODEX_SETTINGS: SERVES,
    WORKFLOW: PUSHED,
}
PROTECTED = sorted([FILE, SETTINGS, CODEX_SETTINGS, WORKFLOW])
BAD = "import os\n\nBAD = 1\n"
"""Neither the linter nor the class that was there before lets it in."""
BROKEN = "def answer() -> int:\n    return 41\n"
"""The test that was there says so."""


def codex(title: str, attempt: int, path: str, content: str) -> Object:
    """What the model tells Codex to do."""
    told = f"Task: {title}\nAttempt: {attempt}\n"
    turns = [{"write": {"path": path, "content": content}}, {"text": "done"}]
    return {"name": f"{title} {attempt}", "match": told, "turns": turns}


MODEL = [
    codex("next", 1, "new.py", BAD),
    codex("next", 2, "new.py", "X = 1\n"),
    codex("trusting", 1, "trusting.py", "X = 1\n"),
]

HONOURS = f"""\
import json
import subprocess

for group in json.load(open("{SETTINGS}"))["hooks"]["SessionStart"]:
    for hook in group["hooks"]:
        subprocess.run(hook["command"], shell=True)
"""
"""What Claude Code does when it starts, unless it is told to read no settings of the repository."""


@pytest.fixture(scope="module")
def endpoint(stack: Stack) -> Iterator[str]:
    """The address of a scripted model."""
    namespace = f"llm-{uuid.uuid4().hex[:6]}"
    served = manifests.stub_llm(namespace, yaml.safe_dump({"scenarios": MODEL}))
    objects = [manifests.namespace(namespace), *served]
    stack.kubectl("apply", "-f", "-", stdin=manifests.as_list(objects))
    ready = ("rollout", "status", "deployment/stub-llm", "--timeout=120s")
    stack.kubectl("-n", namespace, *ready)
    yield manifests.llm_url(namespace)
    stack.kubectl("delete", "namespace", namespace, "--wait=false")


def trusts(endpoint: str) -> list[str]:
    """Codex as we start it, but for that it reads the settings of the repository."""
    run = RunSettings("", "gpt-5.5", base_url=endpoint)
    argv = [word.replace('"untrusted"', '"trusted"') for word in get("codex").invocation(run).argv]
    return ["env", f"CODEX_HOME={run.home}/.codex", *argv]


def seen_by_ci(here: World) -> list[str]:
    """Branches and tags that have the workflow: a forge runs those of no other refs."""
    listed = here.on_server("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags")
    return [ref for ref in listed.split() if WORKFLOW in here.files(ref)]


def agents(project: Object, endpoint: str) -> list[Object]:
    """Besides those of the example: one that reads Codex' settings of the repository, and one that
    reads Claude Code's."""
    demo, cli = project["agents"]
    cli["resources"]["cpu"] = "1"
    trusting = {"name": "trusts", "image": cli["image"], "command": trusts(endpoint)}
    honouring = {"name": "honours", "image": demo["image"], "command": ["python3", "-c", HONOURS]}
    generic = {"adapter": "generic", "resources": cli["resources"]}
    return [demo, cli, generic | trusting, generic | honouring]


def test_what_a_person_has_let_in_judges_nothing_of_its_own_plan_but_what_begins_later(
    world: MakeWorld, endpoint: str, tmp_path: Path
) -> None:
    """That it lets bad work in where a later Task starts from it, and runs where an agent reads the
    settings of the repository, is how the payloads are seen to work. A conftest is code of tests:
    who lets it in lets it run."""
    plants = [{"write": {"path": path, "content": text}} for path, text in PAYLOADS.items()]

    def change(spec: Object) -> None:
        lint = [{"name": "lint"}, {"name": "lint_suppression", "enabled": False}]
        others = [{"name": "no_foo", "plugin": "Python"}, {"name": "tests"}]
        spec["gates"] = {"pipeline": [*lint, *others]}
        spec["approval"] = {"result": "HighRisk"}
        spec["agents"] = agents(spec, endpoint)

    breaks = {"write": {"path": "app.py", "content": BROKEN}}
    here = world(
        [
            does("plants", {"steps": plants, "text": "done"}),
            does("later", {"steps": [*writing("more.py", BAD)["steps"], breaks], "text": "done"}),
        ],
        change,
        llm_url=endpoint,
    )
    before = push(here, FILE, NO_BAD)
    stages = [
        {"name": "plants", "steps": [{"title": "plants"}]},
        {"name": "next", "dependsOn": ["plants"], "steps": [{"title": "next", "cli": "codex"}]},
    ]
    here.plan("plan", stages)

    is_let_in(here, tmp_path)
    judges_and_starts_nothing_in_its_plan(here, before)
    judges_and_starts_what_begins_later(here)


def is_let_in(here: World, tmp_path: Path) -> None:
    task = here.await_("task", "plan-plants-plants", lambda t: state(t) == "PendingApproval", 180)
    assert task["status"]["approval"]["because"] == [
        f"it changes 4 protected paths: {', '.join(map(repr, PROTECTED))}",
        "it takes lines from a test that existed, or weakens it: "
        "'conftest.py: gets a mark or a hook that may skip tests'",
        "it changes a file that configures checks: 'ruff.toml'",
    ]
    answer = CommandLine(here, tmp_path)("approve", "plan-plants-plants")
    assert answer.code == 0, answer
    here.closed("plan-plants-plants", 180)


def judges_and_starts_nothing_in_its_plan(here: World, before: str) -> None:
    def rejected(task: Object) -> bool:
        ends = [attempt["reason"] for attempt in task["status"]["attempts"]]
        return ends[:1] == ["GateFailed"]

    here.await_("task", "plan-next-next", rejected, 180)
    assert here.tip() == before
    worked = here.get("agentsession", "plan-next-next-s1")["status"]["work"]
    assert {*PAYLOADS} <= {*here.files(worked["base"])}, "it worked among them"
    assert not {SERVED, HOOKED} & {*here.files(worked["sha"])}
    assert seen_by_ci(here) == [], "what CI runs is on no branch before the Plan is delivered"
    here.closed("plan-next-next", 180)
    told = here.get("configmap", "plan-next-next-s2-prompt")["data"]["findings.md"]
    for said in ("'lint' Failed", "F401", "'no_foo' Failed", "Found 'foo' in"):
        assert said in told

    plan = here.await_("plan", "plan", lambda p: p["status"]["phase"] == "Succeeded", 180)
    assert condition(plan, "Succeeded")["status"] == "True"
    assert here.on_server("show", "main:new.py") == "X = 1\n"
    assert {*PAYLOADS} <= {*here.files()}
    assert not {SERVED, HOOKED} & {*here.files()}
    assert seen_by_ci(here) == ["refs/heads/main"]


def judges_and_starts_what_begins_later(here: World) -> None:
    here.task("later")
    here.task("trusting", cli="trusts")
    here.task("honouring", cli="honours")
    later = here.closed("later", 180)
    checks = {c["name"]: c["verdict"] for c in later["status"]["verification"]["checks"]}
    assert checks == {"lint": "Passed", "no_foo": "Passed", "tests": "Passed"}
    assert here.on_server("show", "main:more.py") == BAD
    assert here.on_server("show", "main:app.py") == BROKEN
    for name in ("trusting", "honouring"):
        here.closed(name, 180)
    assert {SERVED, HOOKED} <= {*here.files()}
