"""may_merge: only exactly what was judged, by every check that is asked for now."""

from __future__ import annotations

import pytest

from bernstein.api.task import CheckResult, Verification
from bernstein.core.merge import may_merge
from tests.unit.core.objects import HEAD, TREE, sha, verification


def check(name: str, verdict: str = "Passed", *, required: bool = True) -> CheckResult:
    fields = {"name": name, "kind": "gate", "verdict": verdict, "required": required}
    return CheckResult.model_validate(fields)


def judged(*checks: CheckResult, passed: bool | None = True) -> Verification:
    return verification(passed=passed, checks=[c.model_dump() for c in checks])


def test_a_passed_tree_may_be_merged() -> None:
    assert may_merge(judged(check("lint")), sha=HEAD, tree=TREE, expected=["lint"])


@pytest.mark.parametrize("passed", [None, False])
def test_what_is_not_passed_may_not(passed: bool | None) -> None:
    found = judged(check("lint"), passed=passed)

    assert not may_merge(found, sha=HEAD, tree=TREE, expected=["lint"])
    assert not may_merge(None, sha=HEAD, tree=TREE, expected=())


@pytest.mark.parametrize(("commit", "tree"), [(sha(1), TREE), (HEAD, sha(1))])
def test_another_commit_or_tree_may_not(commit: str, tree: str) -> None:
    assert not may_merge(judged(check("lint")), sha=commit, tree=tree, expected=["lint"])


def test_a_check_that_is_asked_for_now_and_was_not_made_forbids_it() -> None:
    assert not may_merge(judged(check("lint")), sha=HEAD, tree=TREE, expected=["lint", "tests"])


@pytest.mark.parametrize("verdict", ["Failed", "Errored", "TimedOut", "Skipped"])
def test_the_verdicts_are_asked_again_whatever_the_summary_says(verdict: str) -> None:
    forged = judged(check("lint", verdict))

    assert not may_merge(forged, sha=HEAD, tree=TREE, expected=["lint"])
    optional = judged(check("lint", verdict, required=False))
    assert may_merge(optional, sha=HEAD, tree=TREE, expected=["lint"])
