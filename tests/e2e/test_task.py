"""One Task, from the agent to the branch."""

from __future__ import annotations

from tests.e2e.conftest import EXISTS, LIE, MakeWorld, Object, does, with_default_gates, writing

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


FILLED = """printf '"'; head -c 65534 /dev/zero | tr '\\000' x; printf '"'"""


def test_values_that_an_agent_leaves_are_read_with_the_command_and_in_no_commit(
    world: MakeWorld,
) -> None:
    def leaves(values: str) -> Object:
        steps = writing("new.py", "X = 1\n")["steps"]
        return {"steps": [*steps, {"write": {"path": ".bernstein/output.json", "content": values}}]}

    large = {"steps": [{"run": f"mkdir .bernstein; ({FILLED}) > .bernstein/output.json"}]}
    here = world(
        [does("values", leaves('{"n": 1e400}'), leaves('{"n": [1, null]}')), does("large", large)]
    )
    here.task("values", completionSignals=[EXISTS])
    here.task("large", changes="none", completionSignals=[TESTS])
    task, other = here.closed("values"), here.closed("large")

    shown = here.bernstein("output", "values", "--json").json
    much = here.bernstein("output", "large", "--json").json

    refused, _ = task["status"]["attempts"]
    assert refused["reason"] == "DocumentRefused"
    assert refused["message"].endswith("one of its numbers is too large")
    assert (shown["output"], shown["session"]) == ({"n": [1, None]}, "values-s2")
    assert task["status"]["output"]["sha256"] == shown["sha256"]
    assert (much["output"], much["bytes"]) == ("x" * 65534, 65536)
    assert other["status"]["delivery"]["state"] == "NoChange"
    assert not [name for name in here.files() if name.startswith(".bernstein")]


SUBTASKS = """\
# what is left of it
subtasks:
  - &first
    title: first part
    files: [one.py]
    completion_signals: [{type: path_exists, path: one.py}]
  - <<: *first
    title: second part
    files: [new.py]
    completion_signals: [{type: path_exists, path: new.py}]
"""
BAD = """\
subtasks:
  - {title: first part, model: opus, files: [../one.py]}
"""


def leaves(text: str) -> Object:
    """Nothing but subtasks."""
    write = {"write": {"path": ".bernstein/subtasks.yaml", "content": text}}
    return {"steps": [write]}


def test_what_a_manager_splits_is_done_by_others_and_lands_as_a_whole(world: MakeWorld) -> None:
    here = world(
        [
            does("whole", leaves(BAD), leaves(SUBTASKS)),
            does("first part", writing("one.py", "ONE = 1\n")),
            does("second part", writing("new.py", "X = 1\n")),
        ]
    )
    step: Object = {"title": "whole", "role": "manager", "completionSignals": [EXISTS]}
    here.plan("shop", [{"name": "all", "steps": [step | {"scope": "small"}]}])
    here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", seconds=300)

    parent = "shop-all-whole"
    task = here.get("task", parent)
    refused, accepted = task["status"]["attempts"]
    assert (refused["reason"], accepted["reason"]) == ("SubtasksInvalid", "Succeeded")
    assert "subtasks[0].model: a subtask does not say that" in refused["message"]
    assert [row["state"] for row in task["status"]["subtasks"]] == ["Closed", "Closed"]
    assert task["status"]["delivery"]["state"] == "NoChange"
    assert {"one.py", "new.py"} <= set(here.files())
    assert not [name for name in here.files() if name.startswith(".bernstein")]
    listed = here.bernstein("list-tasks", "--plan", "shop", "--json").json
    assert {each["parent"] for each in listed} == {None, parent}
