"""Completion signals: what an agent says of its work is not believed."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import EXISTS, LIE, MakeWorld, does, refused, writing
from tests.unit.checks.signals.api_responds.example import SERVICE, START

pytestmark = pytest.mark.verification

ANSWERS = {**START, "url": "/health", "status": 202, "contains": "ready", "timeoutSeconds": 30}


def test_a_liar_is_rejected_and_told_why(world: MakeWorld) -> None:
    here = world([does("liar", LIE, writing("other.py", "Y = 1\n"), writing("new.py", "X = 1\n"))])
    here.task("liar", completionSignals=[EXISTS])
    task = here.closed("liar", 180)
    ends = [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]
    assert ends == [("EmptyDiff", True), ("SignalFailed", True), ("Succeeded", True)]
    prompt = here.get("configmap", "liar-s3-prompt")["data"]
    assert "Attempt: 3" in prompt["head.md"]
    assert "path_exists: new.py" in prompt["findings.md"]
    assert here.files() == [".gitignore", "README.md", "app.py", "new.py", "test_app.py"]


def test_a_service_answers_or_its_work_is_rejected_and_told_why(world: MakeWorld) -> None:
    broken = SERVICE.replace("is ready", "is broken")
    here = world([does("served", writing("serve.py", broken), writing("serve.py", SERVICE))])
    here.task("served", completionSignals=[ANSWERS])
    task = here.closed("served", 180)
    ends = [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]
    assert ends == [("SignalFailed", True), ("Succeeded", True)]
    told = here.get("configmap", "served-s2-prompt")["data"]["findings.md"]
    assert "no answer as asked for in 30 s" in told
    assert "had the status 202, and not the text" in told


def test_what_answers_for_a_service_that_has_ended_is_not_believed(world: MakeWorld) -> None:
    leaves = SERVICE.replace("import os\n", "import os\n\nif os.fork():\n    os._exit(0)\n", 1)
    here = world([does("leaves", writing("serve.py", leaves))])
    before = here.tip()
    here.task("leaves", completionSignals=[ANSWERS], maxRetries=0)
    task = refused(here, "leaves", "SignalFailed", "api_responds", before)
    (check,) = [c for c in task["status"]["verification"]["checks"] if c["kind"] == "signal"]
    assert "the command ended with 0 before it answered" in check["excerpt"]
