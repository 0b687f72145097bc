"""Files to which every Task adds its lines: nobody waits for them, and nobody takes a line away."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import (
    MakeWorld,
    Object,
    World,
    does,
    push,
    refused,
    state,
)

pytestmark = pytest.mark.verification

NEWS = "# News\n\n- first\n\n## Older\n\n- zeroth\n"
FILE = "NEWS.md"


def adding(old: str, new: str, seconds: int = 0) -> Object:
    """An attempt that changes the text in the file after so many seconds."""
    replace = {"replace": {"path": FILE, "old": old, "new": new}}
    return {"steps": [{"sleep": seconds}, replace], "text": "done"}


def project(spec: Object) -> None:
    spec.update(appendOnly=["**/NEWS.md"], fileScope="Enforce")
    spec["gates"] = {"pipeline": [{"name": "merge_conflict"}]}


def begin(here: World, *tasks: str) -> None:
    for name in tasks:
        here.task(name, files=[FILE])


def test_two_tasks_add_to_one_file_at_the_same_time_and_both_land(world: MakeWorld) -> None:
    scripts = [
        does("newest", adding("- first\n", "- second\n- first\n", 20)),
        does("oldest", adding("- zeroth\n", "- zeroth\n- minus one\n", 20)),
    ]
    here = world(scripts, project)
    push(here, FILE, NEWS)
    begin(here, "newest", "oldest")
    here.await_("task", "newest", lambda t: state(t) == "InProgress")
    here.await_("task", "oldest", lambda t: state(t) == "InProgress")
    assert state(here.get("task", "newest")) == "InProgress"

    for name in ("newest", "oldest"):
        status = here.closed(name)["status"]
        assert [a["reason"] for a in status["attempts"]] == ["Succeeded"]
        assert verdict(status, "file-scope") == "Passed"
    both = "# News\n\n- second\n- first\n\n## Older\n\n- zeroth\n- minus one\n"
    assert here.on_server("show", f"main:{FILE}") == both


def test_additions_at_one_place_are_a_conflict_which_the_next_attempt_ends(
    world: MakeWorld,
) -> None:
    scripts = [
        does(name, adding("- first\n", f"- {name}\n- first\n", 10)) for name in ("one", "two")
    ]
    here = world(scripts, project)
    push(here, FILE, NEWS)
    begin(here, "one", "two")

    ends = [[a["reason"] for a in here.closed(n)["status"]["attempts"]] for n in ("one", "two")]
    assert sorted(ends) == [["MergeConflict", "Succeeded"], ["Succeeded"]]
    lines = here.on_server("show", f"main:{FILE}").splitlines()
    assert sorted(lines[2:4]) == ["- one", "- two"]
    assert lines[4] == "- first"


def test_who_takes_away_what_others_added_is_told_before_and_rejected_after(
    world: MakeWorld,
) -> None:
    here = world([does("tidies", adding("- first\n", "- last\n"))], project)
    before = push(here, FILE, NEWS)
    here.task("tidies", files=[FILE], maxRetries=0)

    task = refused(here, "tidies", "ScopeViolation", "file-scope", before)
    (found,) = [c for c in task["status"]["verification"]["checks"] if c["name"] == "file-scope"]
    assert found["excerpt"] == f"{FILE}: only adding to it is allowed"
    prompt = here.get("configmap", task["status"]["session"] + "-prompt")
    assert "- **/NEWS.md" in prompt["data"]["files.md"]


def verdict(status: Object, check: str) -> str:
    (found,) = [c for c in status["verification"]["checks"] if c["name"] == check]
    return str(found["verdict"])
