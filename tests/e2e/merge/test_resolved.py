"""A Plan's work that does not merge with its branch any more is merged by a Task of its own."""

from __future__ import annotations

from tests.e2e.conftest import MakeWorld, Object, does, push, state

LINES = "one\ntwo\nthree\n"
BOTH = "ONE and 1\ntwo\nthree\n"
TITLE = "Resolve the conflict with 'main'"


def resolves(spec: Object) -> None:
    spec["merge"] = {"strategy": "direct", "conflicts": "Resolve"}


def at_work(task: Object) -> bool:
    return state(task) == "InProgress"


def test_what_people_push_meanwhile_and_the_work_of_the_plan_both_land(world: MakeWorld) -> None:
    change = {"path": "lines.txt", "old": "one", "new": "ONE"}
    work = [{"run": "until [ -e /tmp/go ]; do sleep 0.2; done"}, {"replace": change}]
    # It merges nothing where it does not find both sides: the marks that are left are refused.
    found = "test $(grep -c -e '^<<<<<<<' -e '^=======' -e '^>>>>>>>' lines.txt) = 3"
    sides = "grep -q '^ONE$' lines.txt && grep -q '^1$' lines.txt"
    merge = [{"run": f"{found} && {sides} && printf '{BOTH}' >lines.txt || true"}]
    agents = [
        does("work", {"steps": work, "text": "done"}),
        does(TITLE, {"steps": merge, "text": "done"}),
    ]
    here = world(agents, resolves)
    push(here, "lines.txt", LINES)
    signal = {"type": "test_passes", "command": "cat lines.txt; test $(wc -l <lines.txt) = 3"}
    step = {"title": "work", "completionSignals": [signal]}
    here.plan("plan", [{"name": "only", "steps": [step]}])
    here.await_("task", "plan-only-work", at_work)
    by_hand = push(here, "lines.txt", LINES.replace("one", "1"))
    here.kubectl("exec", "job/plan-only-work-s1", "-c", "agent", "--", "touch", "/tmp/go")

    plan = here.await_("plan", "plan", lambda p: p["status"]["phase"] == "Succeeded", 300)

    assert here.on_server("show", "main:lines.txt") == BOTH
    (row,) = [row for row in plan["status"]["tasks"] if "resolves" in row]
    assert (row["resolves"]["onto"], row["resolves"]["files"]) == (by_hand, ["lines.txt"])
    task = here.get("task", row["name"])
    assert state(task) == "Closed"
    assert [check["verdict"] for check in task["status"]["verification"]["checks"]] == ["Passed"]
    assert plan["status"]["delivery"]["sha"] == here.tip()
    history = here.on_server("log", "--format=%H", "main").split()
    worked = here.get("task", "plan-only-work")["status"]["delivery"]["sha"]
    assert {by_hand, worked} <= set(history)
