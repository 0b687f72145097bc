"""Signal `glob_exists` on a listing of a tree."""

from __future__ import annotations

import time

import pytest

from bernstein.api.pod import Check
from bernstein.checks.signals.glob_exists import scan
from bernstein.checks.time_limit import TimeLimitError
from bernstein.checks.verdict import Verdict
from bernstein.pods import globs
from tests.unit.checks.trees import Tree

TREE = Tree(
    dict.fromkeys(("src/app.py", "src/api/limit.py", ".github/workflows/ci.yml", "é.md"), "")
)


def glob_exists(pattern: str, tree: Tree = TREE) -> Verdict:
    return scan(tree, Check("signal-0", "glob_exists", value=pattern))


@pytest.mark.parametrize(
    ("pattern", "verdict"),
    [
        ("src/app.py", "Passed"),
        ("./src/*.py", "Passed"),
        ("*.py", "Failed"),
        ("**/*.py", "Passed"),
        ("src/**/limit.py", "Passed"),
        ("src/**/app.py", "Passed"),
        ("src/*/app.py", "Failed"),
        ("?.md", "Passed"),
        ("[ab].md", "Failed"),
        ("**/ci.yml", "Passed"),
        ("src/a*", "Passed"),
        ("/etc/*", "Errored"),
        ("../*", "Errored"),
        ("src/../../*", "Errored"),
        ("", "Errored"),
    ],
)
def test_globs(pattern: str, verdict: str) -> None:
    assert glob_exists(pattern).verdict == verdict


def test_a_match_is_named() -> None:
    assert glob_exists("**/limit.py").excerpt == "src/api/limit.py"


@pytest.mark.parametrize("pattern", ["*a" * 40 + "b", "**/" * 20 + "b", "{a,b}" * 20, "*" * 900])
def test_no_glob_takes_long(pattern: str) -> None:
    start = time.process_time()
    paths = ["a" * 200, "a/" * 100 + "a"] * 20

    assert globs.first_match(pattern, paths) is None or pattern == "*" * 900
    assert time.process_time() - start < 5


def test_a_glob_that_takes_too_long_is_errored(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(_pattern: str, _paths: object) -> str | None:
        raise TimeLimitError("took over 10 s")

    monkeypatch.setattr(globs, "first_match", slow)

    found = glob_exists("**/*")

    assert (found.verdict, found.reason) == ("Errored", "PatternTooSlow")
