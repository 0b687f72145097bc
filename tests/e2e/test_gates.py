"""Quality gates: what they find is told to the agent, and what they judge by is not the agent's."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import (
    MakeWorld,
    Object,
    does,
    refused,
    state,
    with_default_gates,
    writing,
)

pytestmark = pytest.mark.verification


def test_what_gates_find_is_told_to_the_next_attempt_which_mends_it(world: MakeWorld) -> None:
    image = "bernstein-toolchain:dev"
    own = {"name": "no_foo", "command": "! grep -n foo new.py", "image": image}
    prose = {"name": "prose", "command": "false", "image": image, "paths": ["docs/**"]}

    def gates(spec: Object) -> None:
        spec["gates"] = {
            "extends": "Default",
            "pipeline": [{"name": "tests"}, {"name": "merge_conflict"}, own, prose],
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
    assert verdicts == {**dict.fromkeys(names, "Passed"), "prose": "Skipped"}
    assert _check(task, "prose")["reason"] == "ConditionNotMet"
    assert here.tip("main^") == before
    assert "40 + 2" in here.on_server("show", "main:app.py")


KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"
HIDDEN = {"write": {"path": ".gitattributes", "content": "*.py -diff\n* -text\n"}}


def test_a_planted_secret_is_found_though_git_is_told_not_to_diff_it(world: MakeWorld) -> None:
    planted = {"write": {"path": "new.py", "content": f'AWS = "{KEY}"\n'}}
    scripts = [does("planted", {"steps": [HIDDEN, planted], "text": "done"})]
    here = world(scripts, with_default_gates)
    before = here.tip()
    here.task("planted", maxRetries=0)
    task = refused(here, "planted", "SecretFound", "new.py:1 AWS Access Key", before)
    assert KEY not in str(task)
    assert here.on_server("log", "--all", "--text", "--format=%H", f"-S{KEY}").strip() == ""


CARD = "4111 1111 " + "1111 1111"
"""Its last digit is the check digit of the others."""


def test_personal_data_in_a_new_file_is_rejected_and_what_only_looks_like_it_lands(
    world: MakeWorld,
) -> None:
    scripts = [
        does("leaks", writing("orders.py", f'PAID_WITH = "{CARD}"\n')),
        does("harmless", writing("numbers.py", f'NO_CARD = "{CARD[:-1]}2"\n')),
    ]
    here = world(scripts, lambda spec: spec.update(gates={"pipeline": [{"name": "pii_scan"}]}))
    here.task("harmless")
    harmless = here.closed("harmless")
    before = here.tip()
    here.task("leaks", maxRetries=0)
    leaks = refused(here, "leaks", "GateFailed", "pii_scan", before)

    assert _check(harmless, "pii_scan")["verdict"] == "Passed"
    told = _check(leaks, "pii_scan")
    assert (told["verdict"], told["reason"]) == ("Failed", "SecretFound")
    assert "orders.py:1 payment card number" in told["excerpt"]
    assert CARD not in str(leaks)


def test_a_linter_is_configured_by_the_pinned_commit(world: MakeWorld) -> None:
    attempt = {
        "steps": [
            {"write": {"path": "ruff.toml", "content": 'lint.ignore = ["F401"]\n'}},
            {"write": {"path": "new.py", "content": "import os\n"}},
        ],
        "text": "done",
    }
    here = world([does("quiet", attempt)], with_default_gates)
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


def _check(task: Object, name: str) -> Object:
    found: Object = next(c for c in task["status"]["verification"]["checks"] if c["name"] == name)
    return found


def and_writes(attempt: Object, path: str, content: str) -> Object:
    return {**attempt, "steps": [*attempt["steps"], {"write": {"path": path, "content": content}}]}


def test_work_that_leaves_its_files_is_rejected_and_told_which_it_changed(
    world: MakeWorld,
) -> None:
    good = writing("new.py", "X = 1\n")
    bad = and_writes(good, "docs/other.md", "# other\n")

    def enforces(spec: Object) -> None:
        with_default_gates(spec)
        spec.update(fileScope="Enforce")

    here = world([does("strays", bad, good)], enforces)
    here.task("strays", files=["*.py"])
    task = here.closed("strays", 180)
    ends = [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]
    assert ends == [("ScopeViolation", True), ("Succeeded", True)]
    prompt = here.get("configmap", "strays-s2-prompt")["data"]
    assert "Rule 'file-scope' Failed:\ndocs/other.md" in prompt["findings.md"]
    judged = task["status"]["verification"]
    assert {c["name"]: c["verdict"] for c in judged["checks"]}["file-scope"] == "Passed"
    assert judged["qualityScore"] == 100


def test_files_beside_its_own_are_shown_to_who_approves_where_they_are_only_warned_of(
    world: MakeWorld,
) -> None:
    def warns(spec: Object) -> None:
        spec.update(fileScope="Warn", approval={"result": "HighRisk"})

    here = world([does("strays", writing("new.py", "X = 1\n"))], warns)
    here.task("strays", files=["app.py"])
    task = here.await_("task", "strays", lambda t: bool(t["status"]["approval"]["because"]), 180)
    because = "it changes a file that its step does not declare: 'new.py'"
    assert task["status"]["approval"]["because"] == [because]
    name = task["status"]["approval"]["name"]
    shown = here.await_("bappr", name, lambda a: bool(a["status"]["shown"]))["status"]["shown"]
    told = {"name": "file-scope", "title": "file-scope", "verdict": "Failed"}
    assert {**told, "reason": "ScopeViolation", "required": False} in shown["checks"]


WEAKER: Object = {
    "replace": {"path": "test_app.py", "old": "assert answer() == 42", "new": "answer()"}
}


def test_what_ci_runs_and_a_weaker_test_wait_for_a_person_and_other_work_lands(
    world: MakeWorld,
) -> None:
    scripts = [
        does("ci", writing(".github/workflows/x.yml", "on: push\n")),
        does("weakens", {"steps": [WEAKER], "text": "done"}),
        does("harmless", writing("new.py", "X = 1\n")),
    ]
    here = world(scripts, lambda spec: spec.update(approval={"result": "HighRisk"}))
    risks = {
        "ci": "it changes a protected path: '.github/workflows/x.yml'",
        "weakens": "it takes lines from a test that existed, or weakens it: "
        "'test_app.py: test_answer has 0 of 1 assertions left'",
    }
    here.task("ci", files=[".github/workflows/x.yml"])
    here.task("weakens", files=["test_app.py"])
    here.task("harmless", files=["new.py"])

    assert "approval" not in here.closed("harmless", 180)["status"]
    for name, risk in risks.items():
        task = here.await_("task", name, lambda t: state(t) == "PendingApproval", 180)
        asked = task["status"]["approval"]
        assert asked["because"] == [risk]
        approval = here.await_("bappr", asked["name"], lambda a: bool(a["status"]["shown"]))
        assert approval["status"]["shown"]["because"] == [risk]
    assert here.files() == [".gitignore", "README.md", "app.py", "new.py", "test_app.py"]
    assert "assert answer() == 42" in here.on_server("show", "main:test_app.py")


def test_tests_that_were_there_are_protected(world: MakeWorld) -> None:
    good = writing("new.py", "X = 1\n")
    bad = {**good, "steps": [*good["steps"], WEAKER]}
    here = world([does("weakens", bad, good)], lambda spec: spec.update(protectTests=True))
    here.task("weakens")
    task = here.closed("weakens", 180)
    ends = [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]
    assert ends == [("TestsWeakened", True), ("Succeeded", True)]
    told = here.get("configmap", "weakens-s2-prompt")["data"]["findings.md"]
    assert "test_app.py: test_answer has 0 of 1 assertions left" in told
    assert "assert answer() == 42" in here.on_server("show", "main:test_app.py")
