"""One Task, from the agent to the branch."""

from __future__ import annotations

from tests.e2e.conftest import EXISTS, LIE, MakeWorld, does, with_default_gates, writing

TESTS = {"type": "test_passes", "command": "python3 -m pytest -q -p no:cacheprovider"}


def test_a_task_is_verified_merged_and_closed_with_few_writes(world: MakeWorld) -> None:
    here = world([does("good", writing("new.py", "X = 1\n"))], with_default_gates)
    before = here.tip()
    here.task("good", completionSignals=[EXISTS, TESTS])
    task = here.closed("good")
    status = task["status"]
    assert status["attempt"] == 1
    assert status["delivery"]["state"] == "Merged"
    assert here.tip() == status["delivery"]["sha"] == status["verification"]["sha"]
    assert here.on_server("rev-parse", "main^{tree}").strip() == status["verification"]["tree"]
    assert here.on_server("rev-parse", "main^").strip() == before
    verdicts = {c["name"]: c["verdict"] for c in status["verification"]["checks"]}
    assert verdicts == {
        "signal-0": "Passed",
        "signal-1": "Passed",
        "lint": "Passed",
        "lint_suppression": "Passed",
        "pii_scan": "Passed",
        "dlp_scan": "Passed",
    }
    assert float(status["spendUsd"]) > 0
    patches = [
        w
        for w in here.writes()
        if (w.resource, w.subresource, w.name) == ("tasks", "status", "good")
    ]
    said = [w.body["status"] for w in patches if w.code == 200]
    waits = [(status.get("waiting") or {}).get("reason") for status in said]
    told = [
        status.get("state") or reason or (status.get("delivery") or {}).get("step")
        for status, reason in zip(said, waits, strict=True)
    ]
    # Where checks take long, which of them are out is told besides.
    assert [each for each in told if each is not None] == [
        *("Claimed", "InProgress", "Done"),
        *("MergeQueue", "Landing"),
        "Closed",
    ]


def test_a_step_that_changes_nothing_is_verified_and_closed_without_a_merge(
    world: MakeWorld,
) -> None:
    here = world([does("look", LIE)])
    before = here.tip()
    here.task("look", changes="none", completionSignals=[TESTS])
    task = here.closed("look")
    assert task["status"]["delivery"]["state"] == "NoChange"
    assert here.tip() == before
