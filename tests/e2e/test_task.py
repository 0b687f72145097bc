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


FILE = ".bernstein/subtasks.yaml"
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
  - <<: *first
    title: third part
    files: [three.py]
    completion_signals: [{type: path_exists, path: three.py}]
"""
BAD = """\
subtasks:
  - {title: first part, model: opus, files: [../one.py]}
"""


def leaves(path: str, text: str) -> Object:
    """Nothing but a document."""
    return {"steps": [{"write": {"path": path, "content": text}}]}


def test_what_a_manager_splits_is_done_by_others_and_lands_as_a_whole(world: MakeWorld) -> None:
    here = world(
        [
            does("whole", leaves(FILE, BAD), leaves(FILE, SUBTASKS)),
            does("first part", writing("one.py", "ONE = 1\n")),
            does("second part", LIE, writing("new.py", "X = 1\n")),
            does("third part", writing("three.py", "THREE = 3\n")),
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
    parts = task["status"]["subtasks"]
    assert [row["state"] for row in parts] == ["Closed"] * 3
    assert [here.get("task", row["name"])["status"]["attempt"] for row in parts] == [1, 2, 1]
    assert task["status"]["delivery"]["state"] == "NoChange"
    assert {"one.py", "new.py", "three.py"} <= set(here.files())
    assert not [name for name in here.files() if name.startswith(".bernstein")]
    listed = here.bernstein("list-tasks", "--plan", "shop", "--json").json
    assert {each["parent"] for each in listed} == {None, parent}


ONE: Object = {"type": "path_exists", "path": "one.py"}


def test_a_step_is_split_before_anybody_works_on_it_and_lands_as_a_whole(world: MakeWorld) -> None:
    here = world(
        [
            does("first part", writing("one.py", "ONE = 1\n")),
            does("second part", LIE, writing("new.py", "X = 1\n")),
        ]
    )
    parts: list[Object] = [{"title": "first part"}, {"title": "second part"}]
    parts[1]["completionSignals"] = [EXISTS]
    step: Object = {"title": "whole", "completionSignals": [ONE], "subtasks": parts}
    here.plan("shop", [{"name": "all", "steps": [step]}])
    here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", seconds=300)

    task = here.get("task", "shop-all-whole")
    assert task["status"].get("session") is None
    assert [row["state"] for row in task["status"]["subtasks"]] == ["Closed"] * 2
    made = [here.get("task", row["name"])["status"] for row in task["status"]["subtasks"]]
    assert [each["attempt"] for each in made] == [1, 2]
    assert task["status"]["delivery"]["state"] == "NoChange"
    assert [each["verdict"] for each in task["status"]["verification"]["checks"]] == ["Passed"]
    assert {"one.py", "new.py"} <= set(here.files())


GOAL = "Let others import a value"
PLAN_FILE = ".bernstein/plan.yaml"
PLAN = """\
name: One value
stages:
  - name: write
    steps:
      - title: write the value
        role: backend
        model: haiku
        files: [new.py]
        completion_signals: [{type: path_exists, path: new.py}]
"""
BAD_PLAN = PLAN.replace("backend", "wizard").replace("haiku", "unheard-of")


def test_a_goal_becomes_a_plan_of_which_nothing_begins_before_people_have_approved_it(
    world: MakeWorld,
) -> None:
    here = world(
        [
            does(f"Plan: {GOAL}", leaves(PLAN_FILE, BAD_PLAN), leaves(PLAN_FILE, PLAN)),
            does("write the value", writing("new.py", "X = 1\n")),
        ]
    )
    told = here.bernstein("run", "--goal", GOAL, "--timeout", "4m", "--json")
    assert told.code == 0, told.err + told.out
    task, name = here.get("task", told.json["task"]["id"]), told.json["plan"]["id"]

    refused, accepted = task["status"]["attempts"]
    assert (refused["reason"], accepted["reason"]) == ("PlanFileInvalid", "Succeeded")
    prompt = here.get("configmap", f"{task['metadata']['name']}-s2-prompt")
    assert "stages[0].steps[0].role: invalid value 'wizard'" in prompt["data"]["findings.md"]
    assert "stages[0].steps[0].model: invalid value 'unheard-of'" in prompt["data"]["findings.md"]
    assert task["status"]["produced"] == {"plan": name}
    asked = here.await_("plan", name, lambda p: bool(p["status"]["approval"]["name"]))
    assert asked["spec"]["stages"][0]["steps"][0]["model"] == "haiku"
    assert {each["spec"]["taskRef"]["name"] for each in here.all("agentsessions")} == {
        task["metadata"]["name"]
    }

    approved = here.bernstein("approve", name)
    assert approved.code == 0, approved.err
    here.await_("plan", name, lambda p: p["status"]["phase"] == "Succeeded", seconds=300)
    assert "new.py" in here.files()
    assert not [path for path in here.files() if path.startswith(".bernstein")]
