"""may_merge: only exactly what was judged, by every check that is asked for now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.pod import Check
from bernstein.api.verification import Bypass, CheckResult, Verification
from bernstein.checks.spec import CheckSpec
from bernstein.core.delivery.may_merge import may_merge
from tests.unit.core.objects import HEAD, NOW, TREE, sha, verification

LINT = CheckSpec("lint", "gate", "lint", True, command="ruff check .", image="toolchain:1")
TESTS = CheckSpec("tests", "gate", "tests", True, command="pytest", image="toolchain:1")
READS = Check(name="lint", type="pii_scan")


def check(name: str, verdict: str = "Passed", *, required: bool = True) -> CheckResult:
    fields = {"name": name, "kind": "gate", "verdict": verdict, "required": required}
    fields["asked"] = LINT.digest
    return CheckResult.model_validate(fields)


def judged(*checks: CheckResult, passed: bool | None = True) -> Verification:
    return verification(passed=passed, checks=[c.model_dump() for c in checks])


def test_a_passed_tree_may_be_merged() -> None:
    assert may_merge(
        judged(check("lint")),
        sha=HEAD,
        tree=TREE,
        expected=[LINT],
        approved=True,
        bypasses_hold=True,
    )


@pytest.mark.parametrize("passed", [None, False])
def test_what_is_not_passed_may_not(passed: bool | None) -> None:
    found = judged(check("lint"), passed=passed)

    assert not may_merge(
        found, sha=HEAD, tree=TREE, expected=[LINT], approved=True, bypasses_hold=True
    )
    assert not may_merge(None, sha=HEAD, tree=TREE, expected=(), approved=True, bypasses_hold=True)


@pytest.mark.parametrize(("commit", "tree"), [(sha(1), TREE), (HEAD, sha(1))])
def test_another_commit_or_tree_may_not(commit: str, tree: str) -> None:
    assert not may_merge(
        judged(check("lint")),
        sha=commit,
        tree=tree,
        expected=[LINT],
        approved=True,
        bypasses_hold=True,
    )


def test_a_check_that_is_asked_for_now_and_was_not_made_forbids_it() -> None:
    assert not may_merge(
        judged(check("lint")),
        sha=HEAD,
        tree=TREE,
        expected=[LINT, TESTS],
        approved=True,
        bypasses_hold=True,
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"command": "true"},
        {"image": "toolchain:2"},
        {"required": False},
        {"pinned": ("ruff.toml",)},
        {"condition": "any_changed"},
        {"reads": READS},
    ],
)
def test_a_check_that_is_another_one_by_now_forbids_it(changed: dict[str, Any]) -> None:
    now_asked = replace(LINT, **changed)

    assert not may_merge(
        judged(check("lint")),
        sha=HEAD,
        tree=TREE,
        expected=[now_asked],
        approved=True,
        bypasses_hold=True,
    )


@pytest.mark.parametrize(
    "changed", [{"timeout": 9}, {"title": "x"}, {"skipped": "ConditionNotMet"}]
)
def test_what_does_not_change_the_question_forbids_nothing(changed: dict[str, Any]) -> None:
    now_asked = replace(LINT, **changed)

    assert may_merge(
        judged(check("lint")),
        sha=HEAD,
        tree=TREE,
        expected=[now_asked],
        approved=True,
        bypasses_hold=True,
    )


@pytest.mark.parametrize("verdict", ["Failed", "Errored", "TimedOut", "Skipped"])
def test_the_verdicts_are_asked_again_whatever_the_summary_says(verdict: str) -> None:
    forged = judged(check("lint", verdict))

    assert not may_merge(
        forged, sha=HEAD, tree=TREE, expected=[LINT], approved=True, bypasses_hold=True
    )
    optional = judged(check("lint", verdict, required=False))
    assert may_merge(
        optional, sha=HEAD, tree=TREE, expected=[LINT], approved=True, bypasses_hold=True
    )


def test_what_people_have_not_approved_may_not() -> None:
    found = judged(check("lint"))

    assert not may_merge(
        found, sha=HEAD, tree=TREE, expected=[LINT], approved=False, bypasses_hold=True
    )


@pytest.mark.parametrize("holds", [False, True])
def test_a_bypass_counts_while_it_holds(holds: bool) -> None:
    who = {"by": "ann", "reason": "wrong here", "approval": "a", "verdict": "Failed", "time": NOW}
    bypassed = check("lint", "Bypassed").model_copy(update={"bypass": Bypass.model_validate(who)})

    found = may_merge(
        judged(bypassed), sha=HEAD, tree=TREE, expected=[LINT], approved=True, bypasses_hold=holds
    )

    assert found is holds
