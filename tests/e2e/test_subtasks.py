"""A manager's agent splits its Task, in real pods: others do it, and the whole lands."""

from __future__ import annotations

from tests.e2e.conftest import EXISTS, LIE, MakeWorld, Object, does, writing

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


def leaves(text: str) -> Object:
    """Nothing but subtasks."""
    write = {"write": {"path": ".bernstein/subtasks.yaml", "content": text}}
    return {"steps": [write]}


def test_what_a_manager_splits_is_done_by_others_and_lands_as_a_whole(world: MakeWorld) -> None:
    here = world(
        [
            does("whole", leaves(BAD), leaves(SUBTASKS)),
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
