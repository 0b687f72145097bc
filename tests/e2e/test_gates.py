"""Quality gates: what they find is told to the agent, and what they judge by is not the agent's."""

from __future__ import annotations

from tests.e2e.conftest import MakeWorld, Object, does, refused, writing


def test_what_gates_find_is_told_to_the_next_attempt_which_mends_it(world: MakeWorld) -> None:
    own = {"name": "no_foo", "command": "! grep -n foo new.py", "image": "bernstein-toolchain:dev"}

    def gates(spec: Object) -> None:
        spec["gates"] = {
            "extends": "Default",
            "pipeline": [{"name": "tests"}, {"name": "merge_conflict"}, own],
        }

    bad, good = writing("new.py", "foo = 1\n"), writing("new.py", "bar = 1\n")
    bad["steps"].append({"replace": {"path": "app.py", "old": "42", "new": "41"}})
    good["steps"].append({"replace": {"path": "app.py", "old": "42", "new": "40 + 2"}})
    here = world([does("gated", bad, good)], gates)
    before = here.tip()
    here.task("gated", completionSignals=[{"type": "glob_exists", "value": "n*.py"}])
    task = here.closed("gated", 180)
    ends = [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]
    assert ends == [("GateFailed", True), ("Succeeded", True)]
    prompt = here.get("configmap", "gated-s2-prompt")["data"]["findings.md"]
    for told in ("'tests' Failed", "assert 41 == 42", "'no_foo' Failed", "1:foo = 1"):
        assert told in prompt
    verdicts = {c["name"]: c["verdict"] for c in task["status"]["verification"]["checks"]}
    names = (
        "signal-0",
        "lint",
        "lint_suppression",
        "tests",
        "pii_scan",
        "dlp_scan",
        "merge_conflict",
        "no_foo",
    )
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


def test_lint_counts_what_the_base_does_not_have(world: MakeWorld) -> None:
    """In a repository with an old fault: honest work lands at once, a new fault does not."""
    scripts = [
        does("old", writing("old.py", "import os\n")),
        does("fine", writing("new.py", "X = 1\n")),
        does("worse", writing("more.py", "import sys\n")),
    ]

    def without_lint(spec: Object) -> None:
        spec["gates"] = {"pipeline": [{"name": "pii_scan"}]}

    here = world(scripts, without_lint)
    here.task("old")
    here.closed("old")
    here.project["spec"]["gates"] = {"extends": "Default"}
    here.apply(here.project)

    here.task("fine")
    fine = here.closed("fine")
    before = here.tip()
    here.task("worse", maxRetries=0)
    worse = refused(here, "worse", "GateFailed", "lint", before)

    found = {c["name"]: c for c in fine["status"]["verification"]["checks"]}["lint"]
    assert (found["verdict"], found["excerpt"]) == ("Passed", "1 finding was there before")
    assert fine["status"]["attempt"] == 1
    told = {c["name"]: c for c in worse["status"]["verification"]["checks"]}["lint"]
    assert told["reason"] == "NewFindings"
    assert "more.py:1 F401" in told["excerpt"]
    assert "old.py" not in told["excerpt"]


def test_a_gate_that_the_base_fails_too_burns_no_attempts(world: MakeWorld) -> None:
    never = {"name": "never", "command": "echo no; false", "image": "bernstein-toolchain:dev"}

    def gates(spec: Object) -> None:
        spec["gates"] = {"extends": "Default", "pipeline": [never]}

    here = world([does("held", writing("new.py", "X = 1\n"))], gates)
    here.task("held")
    task = here.stalled("btask", "held", "BaseFails")
    assert (task["status"]["state"], task["status"]["attempt"]) == ("Done", 1)
    here.project["spec"]["gates"]["allowBaseFailures"] = True
    here.apply(here.project)
    here.closed("held")


def test_a_gate_that_compares_runs_once_on_both_trees(world: MakeWorld) -> None:
    """Old dangers and old functions stay; what is new or worse does not come in."""
    danger = "import subprocess\n\n\ndef run(x: str) -> None:\n    subprocess.call(x, shell=True)\n"
    ways = "".join(f"    if x == {i}:\n        return {i}\n" for i in range(12))
    grown = "def f(x: int) -> int:\n" + ways + "    return 0\n"
    scripts = [
        does("old", writing("old.py", danger + "\n\n" + grown)),
        does("fine", writing("new.py", "X = 1\n")),
        does("danger", writing("more.py", danger)),
        does("grows", writing("old.py", danger + "\n\n" + grown.replace("x ==", "x and x =="))),
    ]
    gates = [{"name": name} for name in ("security_scan", "complexity_check", "import_cycle")]

    def none(spec: Object) -> None:
        spec["gates"] = {"pipeline": [{"name": "pii_scan"}]}

    here = world(scripts, none)
    here.task("old")
    here.closed("old")
    here.project["spec"]["gates"] = {"pipeline": gates}
    here.apply(here.project)

    here.task("fine")
    fine = here.closed("fine")
    before = here.tip()
    here.task("danger", maxRetries=0)
    danger_task = refused(here, "danger", "GateFailed", "security_scan", before)
    here.task("grows", maxRetries=0)
    grown_task = refused(here, "grows", "GateFailed", "complexity_check", before)

    checks = fine["status"]["verification"]["checks"]
    assert {c["name"]: c["verdict"] for c in checks if c["kind"] == "gate"} == {
        gate["name"]: "Passed" for gate in gates
    }
    told = _check(danger_task, "security_scan")
    assert told["reason"] == "NewFindings"
    assert "more.py:5 B602" in told["excerpt"]
    assert "old.py" not in told["excerpt"]
    told = _check(grown_task, "complexity_check")
    assert told["reason"] == "WorseThanBase"
    assert "old.py:f was 13, is 25" in told["excerpt"]


def _check(task: Object, name: str) -> Object:
    found: Object = next(c for c in task["status"]["verification"]["checks"] if c["name"] == name)
    return found
