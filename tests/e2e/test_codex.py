"""The real Codex CLI in its pods, against a scripted model endpoint; its Tasks run side by side."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.demo import manifests
from tests.e2e.conftest import MakeWorld, Object, World, condition, state
from tests.e2e.test_attest import clone
from tests.stack import Stack

ENOUGH = 300
WRITES = {"write": {"path": "new.py", "content": "X = 1\n"}}
DONE = {"text": "done"}
MODEL = "gpt-5.5"
STORIES = ("good", "refused-key", "rate-limit", "outage", "liar", "killed")


def always(status: int, **more: object) -> list[Object]:
    """Turns that never come: every request gets this status."""
    return [{"errors": [{"status": status, "times": -1, **more}]}]


SCRIPT: dict[str, list[Object]] = {
    "Task: good\n": [
        {"text": "I add it.", **WRITES, "usage": {"input": 1200, "output": 80, "cache_read": 300}},
        {"text": "done", "usage": {"input": 1500, "output": 40}},
    ],
    "Task: refused-key\n": always(401, message="Incorrect API key provided"),
    "Task: rate-limit\n": always(429, message="Rate limit reached"),
    "Task: outage\n": always(500),
    "Task: liar\nAttempt: 1\n": [{"text": "All done, the tests pass."}],
    "Task: liar\nAttempt: 2\n": [{"write": {"path": "old.py", "content": "X = 1\n"}}, DONE],
    "Task: liar\nAttempt: 3\n": [{"write": {"path": "liar.py", "content": "X = 1\n"}}, DONE],
    "Task: killed\n": [{"run": "echo begun >begun.txt", "usage": {"input": 700}}, {"hang": True}],
}


@dataclass(frozen=True)
class Codex:
    """A world with an agent for every story, so that what holds one holds no other."""

    here: World
    endpoint: str
    """Namespace of the model endpoint."""

    def requests(self, story: str) -> list[Object]:
        """What the endpoint was asked in this story."""
        path = f"/api/v1/namespaces/{self.endpoint}/services/stub-llm:8099/proxy/__stub/requests"
        rows: list[Object] = json.loads(self.here.stack.kubectl("get", "--raw", path))
        return [row for row in rows if row.get("prefix") == story]

    def held(self, name: str, reason: str) -> Object:
        """The Task, which waits after sessions that ended for this reason: no attempt of its."""

        def waits(task: Object) -> bool:
            return bool((task.get("status", {}).get("waiting") or {}).get("until"))

        task = self.here.await_("task", name, waits, ENOUGH)
        ends = {(a["reason"], a["counted"]) for a in task["status"]["attempts"]}
        assert ends == {(reason, False)}
        assert task["status"]["attempt"] == 0
        assert task["status"]["waiting"]["reason"] == reason
        return task


@pytest.fixture(scope="module")
def endpoint(stack: Stack) -> Iterator[str]:
    namespace = f"llm-{uuid.uuid4().hex[:6]}"
    scenarios = [{"name": m, "match": m, "turns": turns} for m, turns in SCRIPT.items()]
    script = yaml.safe_dump({"scenarios": scenarios, "require_key": "sk-stub"})
    objects = [manifests.namespace(namespace), *manifests.stub_llm(namespace, script)]
    stack.kubectl("apply", "-f", "-", stdin=manifests.as_list(objects))
    ready = ("rollout", "status", "deployment/stub-llm", "--timeout=120s")
    stack.kubectl("-n", namespace, *ready)
    yield namespace
    stack.kubectl("delete", "namespace", namespace, "--wait=false")


@pytest.fixture(scope="module")
def codex(shared_world: MakeWorld, endpoint: str) -> Codex:
    def change(spec: Object) -> None:
        demo, cli = spec["agents"]
        cli["resources"]["cpu"] = "1"
        spec["agents"] = [
            demo,
            *({**cli, "name": s, "baseUrl": manifests.llm_url(endpoint, s)} for s in STORIES),
        ]

    here = shared_world([], change, llm_url=manifests.llm_url(endpoint))
    for story in STORIES:
        retries = {"maxRetries": 0} if story == "killed" else {}
        signal = {"type": "path_exists", "path": "liar.py" if story == "liar" else "new.py"}
        reads = {"contextFiles": ["README.md", "absent.md"]} if story == "liar" else {}
        here.task(story, cli=story, completionSignals=[signal], **retries, **reads)
    return Codex(here, endpoint)


def test_the_model_that_hangs_is_killed_and_that_is_an_attempt(codex: Codex, stack: Stack) -> None:
    """Codex says what it used only at the end of its turn: what was used before a kill is lost."""
    here = codex.here
    until(lambda: len(codex.requests("killed")) >= 2, here, "killed")
    running = here.await_("agentsession", "killed-s1", lambda s: bool(s["status"]["pod"]))
    pod = running["status"]["pod"]["name"]
    stack.cluster.kill_container(pod, "agent", here.namespace)
    task = here.stalled("task", "killed", "NoFinalRecord", ENOUGH)
    assert state(task) == "Failed"
    session = here.get("agentsession", "killed-s1")["status"]
    assert session["outcome"]["exitCode"] == 137
    assert session["usage"]["input"] == 0
    assert "begun.txt" in here.files(session["work"]["ref"])
    assert here.files("main").count("begun.txt") == 0


def until(holds: Callable[[], bool], here: World, task: str) -> None:
    here.await_("task", task, lambda _: holds(), ENOUGH)


def test_codex_does_a_task_and_its_tokens_are_counted_and_priced(codex: Codex) -> None:
    task = codex.here.closed("good", ENOUGH)
    status = task["status"]
    assert status["delivery"]["state"] == "Merged"
    assert codex.here.on_server("show", f"{status['delivery']['sha']}:new.py") == "X = 1\n"
    usage: dict[str, Any] = status["usage"]
    assert (usage["input"], usage["cacheRead"], usage["output"]) == (2400, 300, 120)
    # 1.25, 0.125 and 10 dollars for a million of each.
    assert Decimal(status["spendUsd"]).quantize(Decimal("0.0001")) == Decimal("0.0042")
    assert status["spendSource"] == "Reported"
    assert status["attempts"][0]["model"] == MODEL
    asked = codex.requests("good")
    assert {(row["model"], row["key"], row["status"]) for row in asked} == {(MODEL, "stub", 200)}
    session = codex.here.get("agentsession", "good-s1")
    assert session["status"]["outcome"]["text"] == "done"
    spec = json.dumps(codex.here.get("job", "good-s1")["spec"])
    assert "sk-stub" not in spec


def test_a_liar_is_told_the_verdict_in_its_next_prompt(codex: Codex, tmp_path: Path) -> None:
    task = codex.here.closed("liar", ENOUGH)
    ends = [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]
    assert ends == [("EmptyDiff", True), ("SignalFailed", True), ("Succeeded", True)]
    second, third = (prompt(codex, f"Attempt: {n}\n") for n in (2, 3))
    assert "no file changed" in second
    assert "path_exists: liar.py" in third
    assert "liar.py does not exist" in third
    assert "begin: file README.md -----\n# app\n" in third
    assert "- absent.md: there is no such file" in third
    assert "rejected change" not in second
    assert "+++ b/old.py\n@@ -0,0 +1 @@\n+X = 1\n" in third
    session = codex.here.get("agentsession", "liar-s3")["status"]
    told = session["prompt"]
    assert (told["base"], told.get("cut", [])) == (session["work"]["base"], [])
    assert told["bytes"] >= len(third.encode())
    git = clone(codex.here, tmp_path / "git", "refs/bernstein/*")
    shown = codex.here.bernstein("prompt", "liar", "--session", "3", "--repo", str(git))
    assert shown.code == 0, shown.err
    assert hashlib.sha256(shown.out.encode()).hexdigest() == told["digest"]
    assert third.strip() == shown.out.strip()
    assert codex.here.on_server("ls-tree", "--name-only", "main", "old.py") == ""


def prompt(codex: Codex, which: str) -> str:
    messages: list[str] = [m for row in codex.requests("liar") for m in row["messages"]]
    return next(m for m in messages if which in m)


def test_a_key_that_is_refused_holds_the_task_and_names_the_remedy(codex: Codex) -> None:
    task = codex.held("refused-key", "ModelAuthFailed")
    stalled = condition(task, "Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", "ModelAuthFailed")
    assert "its provider refuses the model key" in stalled["message"]
    assert "401" in task["status"]["attempts"][0]["message"]
    assert "apiKey" in stalled["message"]


def test_a_rate_limit_waits(codex: Codex) -> None:
    task = codex.held("rate-limit", "RateLimited")
    assert condition(task, "Stalled") == {}
    assert "takes no more requests for now" in task["status"]["waiting"]["message"]
    assert "429" in task["status"]["attempts"][0]["message"]


def test_an_outage_of_the_provider_backs_off(codex: Codex) -> None:
    task = codex.held("outage", "ProviderUnavailable")
    assert condition(task, "Stalled") == {}
    assert task["status"]["spendUsd"] == "0"
