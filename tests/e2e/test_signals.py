"""Completion signals: what an agent says of its work is not believed."""

from __future__ import annotations

from tests.e2e.conftest import EXISTS, LIE, MakeWorld, does, refused, writing


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


def test_without_retries_a_liar_fails_for_good_and_nothing_is_merged(world: MakeWorld) -> None:
    here = world([does("liar", writing("other.py", "Y = 1\n"))])
    before = here.tip()
    here.task("liar", completionSignals=[EXISTS], maxRetries=0)
    refused(here, "liar", "SignalFailed", "path_exists: new.py", before)
