"""One Task, from the agent to the branch, and what the agent cannot make us believe."""

from __future__ import annotations

from tests.e2e.conftest import LIE, MakeWorld, Object, World, condition, does, state, writing

EXISTS = {"type": "path_exists", "path": "new.py"}
TESTS = {"type": "test_passes", "command": "python3 -m pytest -q -p no:cacheprovider"}


def test_a_task_is_verified_merged_and_closed_with_few_writes(world: MakeWorld) -> None:
    here = world([does("good", writing("new.py", "X = 1\n"))])
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
        "pii_scan": "Passed",
    }
    assert float(status["spendUsd"]) > 0
    patches = [
        w
        for w in here.writes()
        if (w.resource, w.subresource, w.name) == ("tasks", "status", "good")
    ]
    said = [w.body["status"].get("state", "verdicts") for w in patches if w.code == 200]
    assert said == ["Open", "Claimed", "InProgress", "Done", "verdicts", "Closed"]


def test_a_liar_is_rejected_and_told_why(world: MakeWorld) -> None:
    here = world([does("liar", LIE, writing("other.py", "Y = 1\n"), writing("new.py", "X = 1\n"))])
    here.task("liar", completionSignals=[EXISTS])
    task = here.closed("liar", 180)
    ends = [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]
    assert ends == [("EmptyDiff", True), ("SignalFailed", True), ("Succeeded", True)]
    prompt = here.get("configmap", "liar-s3")["data"]["prompt.md"]
    assert "Attempt: 3" in prompt
    assert "path_exists: new.py" in prompt
    assert here.files() == [".gitignore", "README.md", "app.py", "new.py", "test_app.py"]


def test_without_retries_a_liar_fails_for_good_and_nothing_is_merged(world: MakeWorld) -> None:
    here = world([does("liar", writing("other.py", "Y = 1\n"))])
    before = here.tip()
    here.task("liar", completionSignals=[EXISTS], maxRetries=0)
    refused(here, "liar", "SignalFailed", "path_exists: new.py", before)


def refused(here: World, name: str, reason: str, check: str, before: str) -> Object:
    """The Task, which failed for good: it says which check and what helps, and nothing landed."""
    task = here.stalled("task", name, reason)
    assert state(task) == "Failed"
    message = condition(task, "Stalled")["message"]
    assert check in message
    assert "Remedy:" in message
    assert here.tip() == before
    return task


def test_what_gates_find_is_told_to_the_next_attempt_which_mends_it(world: MakeWorld) -> None:
    own = {"name": "no_foo", "command": "! grep -n foo new.py", "image": "bernstein-toolchain:dev"}

    def gates(spec: Object) -> None:
        spec["gates"] = {"pipeline": [{"name": "tests"}, {"name": "merge_conflict"}, own]}

    bad, good = writing("new.py", "foo = 1\n"), writing("new.py", "bar = 1\n")
    bad["steps"].append({"replace": {"path": "app.py", "old": "42", "new": "41"}})
    good["steps"].append({"replace": {"path": "app.py", "old": "42", "new": "40 + 2"}})
    here = world([does("gated", bad, good)], gates)
    before = here.tip()
    here.task("gated", completionSignals=[{"type": "glob_exists", "value": "n*.py"}])
    task = here.closed("gated", 180)
    ends = [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]
    assert ends == [("GateFailed", True), ("Succeeded", True)]
    prompt = here.get("configmap", "gated-s2")["data"]["prompt.md"]
    for told in ("'tests' Failed", "assert 41 == 42", "'no_foo' Failed", "1:foo = 1"):
        assert told in prompt
    verdicts = {c["name"]: c["verdict"] for c in task["status"]["verification"]["checks"]}
    names = ("signal-0", "lint", "tests", "pii_scan", "merge_conflict", "no_foo")
    assert verdicts == dict.fromkeys(names, "Passed")
    assert here.tip("main^") == before
    assert "40 + 2" in here.on_server("show", "main:app.py")


def test_a_planted_secret_is_found_though_git_is_told_not_to_diff_it(world: MakeWorld) -> None:
    key = "AKIA" + "IOSFODNN7" + "QWERTYU"
    attempt = {
        "steps": [
            {"write": {"path": ".gitattributes", "content": "*.py -diff\n* -text\n"}},
            {"write": {"path": "new.py", "content": f'AWS = "{key}"\n'}},
        ],
        "text": "done",
    }
    here = world([does("planted", attempt)])
    before = here.tip()
    here.task("planted", maxRetries=0)
    task = refused(here, "planted", "GateFailed", "pii_scan", before)
    found = next(c for c in task["status"]["verification"]["checks"] if c["name"] == "pii_scan")
    assert found["verdict"] == "Failed"
    assert "new.py:1" in found["excerpt"]
    assert key not in str(task)


def test_a_linter_is_configured_by_the_pinned_commit(world: MakeWorld) -> None:
    attempt = {
        "steps": [
            {"write": {"path": "ruff.toml", "content": 'lint.ignore = ["F401"]\n'}},
            {"write": {"path": "new.py", "content": "import os\n"}},
        ],
        "text": "done",
    }
    here = world([does("quiet", attempt)])
    before = here.tip()
    here.task("quiet", maxRetries=0)
    task = refused(here, "quiet", "GateFailed", "lint", before)
    lint = next(c for c in task["status"]["verification"]["checks"] if c["name"] == "lint")
    assert "F401" in lint["excerpt"]


def test_a_step_that_changes_nothing_is_verified_and_closed_without_a_merge(
    world: MakeWorld,
) -> None:
    here = world([does("look", LIE)])
    before = here.tip()
    here.task("look", changes="none", completionSignals=[TESTS])
    task = here.closed("look")
    assert task["status"]["delivery"]["state"] == "NoChange"
    assert here.tip() == before


def test_an_agent_that_reports_an_error_with_exit_code_0_has_failed(world: MakeWorld) -> None:
    wrong = {
        "steps": [{"write": {"path": "new.py", "content": "X = 1\n"}}],
        "error": {"kind": "error", "message": "I gave up"},
        "exit": 0,
    }
    here = world([does("wrong", wrong)])
    here.task("wrong", completionSignals=[EXISTS], maxRetries=0)
    task = here.stalled("task", "wrong", "AgentFailed")
    assert "I gave up" in condition(task, "Stalled")["message"]


def test_a_usage_limit_waits_and_costs_no_attempt(world: MakeWorld) -> None:
    limited = {"error": {"kind": "usage_limit", "message": "limit reached", "retry_after": 5}}
    here = world([does("limited", limited, writing("new.py", "X = 1\n"))])
    here.task("limited", maxRetries=0)

    # The script goes by attempts, and a limit is none: the same answer comes again.
    def waits(task: Object) -> bool:
        return len(task["status"].get("attempts", [])) >= 2

    task = here.await_("task", "limited", waits, 60)
    assert task["status"]["attempt"] == 0
    assert {a["reason"] for a in task["status"]["attempts"]} == {"UsageLimited"}
    assert not any(a["counted"] for a in task["status"]["attempts"])
    assert condition(task, "Stalled") == {}


def test_a_session_that_takes_too_long_is_counted_and_the_next_one_goes_on(
    world: MakeWorld,
) -> None:
    def short(spec: Object) -> None:
        spec["limits"] = {"timeoutSeconds": {"small": 20}}

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
    hangs = {"steps": [{"write": {"path": "half.py", "content": "X = 1\n"}}, {"hang": True}]}
    here = world([does("long", hangs)])
    before = here.tip()
    here.task("long")
    here.await_("task", "long", lambda t: state(t) == "InProgress")
    here.kubectl("patch", "task", "long", "--type=merge", "-p", '{"spec":{"cancel":{}}}')
    task = here.await_("task", "long", lambda t: state(t) == "Cancelled", 120)
    assert task["status"]["history"][-1]["actor"] == "user"
    running = [p for p in here.all("pods") if p["status"]["phase"] == "Running"]
    assert running == []
    uid = task["metadata"]["uid"][:8]
    assert "half.py" in here.files(f"refs/bernstein/{uid}/long/s1")
    assert here.tip() == before
