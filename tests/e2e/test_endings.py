"""How an agent's run ends when it does not succeed: an error, a limit, a timeout, a cancel."""

from __future__ import annotations

import json

from bernstein.core import names
from tests.e2e.conftest import EXISTS, MakeWorld, Object, condition, does, state, writing

ENDED = "jsonpath={.status.endedAt}"


def test_an_agent_that_reports_an_error_with_exit_code_0_has_failed_and_is_retried(
    world: MakeWorld,
) -> None:
    wrong = {
        "steps": [{"write": {"path": "new.py", "content": "X = 1\n"}}],
        "error": {"kind": "error", "message": "I gave up"},
        "exit": 0,
    }
    here = world([does("wrong", wrong, writing("new.py", "X = 2\n"))])
    here.task("wrong", completionSignals=[EXISTS], maxRetries=0)
    here.wait("task/wrong", ENDED)
    task = here.stalled("task", "wrong", "AgentFailed")
    assert condition(task, "Succeeded")["status"] == "False"
    assert "the agent reports a failure" in condition(task, "Stalled")["message"]
    assert "I gave up" not in json.dumps(task["status"]["conditions"]), "conditions quote nobody"
    assert "> I gave up" in task["status"]["attempts"][0]["message"]
    assert "new.py" not in here.files()

    told = here.bernstein("retry", "task/wrong", "--reason", "it can be done by now")

    assert told.code == 0, told.err
    here.wait("task/wrong", "condition=Succeeded")
    again = here.closed("wrong")
    assert again["metadata"]["uid"] == task["metadata"]["uid"]
    assert [a["reason"] for a in again["status"]["attempts"]] == ["AgentFailed", "Succeeded"]
    assert [a["answer"] for a in again["status"]["requests"]] == ["Done"]
    assert "new.py" in here.files()


def test_a_session_that_takes_too_long_is_counted_and_the_next_one_goes_on(
    world: MakeWorld,
) -> None:
    def short(spec: Object) -> None:
        spec["limits"] = {"timeoutSeconds": {"small": 30}}

    hangs = {"steps": [{"write": {"path": "half.py", "content": "X = 1\n"}}, {"hang": True}]}
    ends = {"steps": [{"replace": {"path": "half.py", "old": "X = 1", "new": "X = 2"}}]}
    here = world([does("slow", hangs), does("late", hangs, ends)], short)
    here.task("slow", maxRetries=0)
    here.task("late", maxRetries=1)
    task = here.stalled("task", "slow", "Timeout", 120)
    assert task["status"]["attempt"] == 1
    late = here.closed("late")
    assert [a["reason"] for a in late["status"]["attempts"]] == ["Timeout", "Succeeded"]
    assert here.files() == [".gitignore", "README.md", "app.py", "half.py", "test_app.py"]
    assert here.on_server("show", "refs/heads/main:half.py") == "X = 2\n"


def test_a_cancelled_task_ends_its_agent_keeps_its_work_and_merges_nothing(
    world: MakeWorld,
) -> None:
    write = {"write": {"path": "half.py", "content": "X = 1\n"}}
    here = world([does("long", {"steps": [write, {"usage": {"input": 7}}, {"hang": True}]})])
    before = here.tip()
    here.task("long")
    here.await_("agentsession", "long-s1", lambda s: s["status"]["report"]["usage"]["input"] == 7)
    here.await_("task", "long", lambda t: state(t) == "InProgress")
    here.kubectl("patch", "task", "long", "--type=merge", "-p", '{"spec":{"cancel":{}}}')
    here.wait("task/long", ENDED)
    task = here.get("task", "long")
    assert (state(task), condition(task, "Succeeded")["status"]) == ("Cancelled", "False")
    assert task["status"]["history"][-1]["actor"] == "user"
    running = [p for p in here.all("pods") if p["status"]["phase"] == "Running"]
    assert running == []
    assert "half.py" in here.files(f"{names.refs_of(task['metadata']['uid'])}/long/s1")
    assert here.tip() == before


def test_what_is_closed_of_a_plan_that_failed_is_delivered_without_the_rest(
    world: MakeWorld,
) -> None:
    wrong = {"steps": [], "error": {"kind": "error", "message": "I gave up"}, "exit": 0}
    here = world([does("good", writing("new.py", "X = 1\n")), does("wrong", wrong)])
    before = here.tip()
    never = {"type": "path_exists", "path": "never.py"}
    steps = [
        {"title": "good", "files": ["new.py"], "completionSignals": [EXISTS]},
        {"title": "wrong", "files": ["never.py"], "completionSignals": [never]},
    ]
    here.plan("part", [{"name": "all", "steps": steps}])
    here.wait("plan/part", ENDED)
    assert here.get("plan", "part")["status"]["phase"] == "Failed"
    assert here.tip() == before

    me = here.kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
    asks = {"id": "part-1", "verb": "DeliverPartial", "by": me, "reason": "it is due"}
    patch = json.dumps({"spec": {"requests": [asks]}})
    here.kubectl("patch", "plan", "part", "--type=merge", "-p", patch)

    plan = here.await_("plan", "part", lambda p: p["status"]["phase"] == "DeliveredPartially", 240)
    assert here.tip() == plan["status"]["delivery"]["sha"] == plan["status"]["integration"]["sha"]
    assert "new.py" in here.files()
    succeeded = condition(plan, "Succeeded")
    assert (succeeded["status"], succeeded["reason"]) == ("False", "DeliveredPartially")
    assert condition(plan, "Stalled") == {}
    checks = {check["name"]: check["verdict"] for check in plan["status"]["verification"]["checks"]}
    assert set(checks.values()) == {"Passed"}
    assert [answer["answer"] for answer in plan["status"]["requests"]] == ["Done"]
