"""Signals on a listing of a tree."""

from __future__ import annotations

import time

import pytest

from bernstein.gates import tree_checks
from bernstein.gates.tree_checks import InvalidPathError, file_contains, glob_exists, normal_path

PATHS = ["src", "src/app.py", "src/api", "src/api/limit.py", ".github/workflows/ci.yml", "é.md"]


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
    assert glob_exists(pattern, PATHS).verdict == verdict


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../b", "", ".", "a\0b", ".git/config"])
def test_paths_that_leave_the_repository_are_invalid(path: str) -> None:
    with pytest.raises(InvalidPathError):
        normal_path(path)


def test_paths_are_normal() -> None:
    assert normal_path("./a//b/") == "a/b"


@pytest.mark.parametrize(
    ("wanted", "regex", "verdict"),
    [
        ("RateLimiter", False, "Passed"),
        ("R.teLimiter", False, "Failed"),
        ("R.teLimiter", True, "Passed"),
        ("^class", True, "Passed"),
        ("limiter$", True, "Failed"),
        ("(", True, "Errored"),
    ],
)
def test_contents(wanted: str, regex: bool, verdict: str) -> None:
    content = b"import x\nclass RateLimiter:\n    pass\n\xff"
    assert file_contains("a.py", content, wanted, regex).verdict == verdict


def test_an_expression_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_checks, "MATCH_SECONDS", 0.3)
    start = time.monotonic()
    verdict = file_contains("a", b"a" * 50 + b"!", "(a+)+$", True)
    assert (verdict.verdict, verdict.reason) == ("Errored", "PatternTooSlow")
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("pattern", ["*a" * 40 + "b", "**/" * 20 + "b", "{a,b}" * 20, "*" * 900])
def test_no_glob_takes_long(pattern: str) -> None:
    start = time.process_time()
    assert glob_exists(pattern, ["a" * 200, "a/" * 100 + "a"] * 20).verdict in {"Passed", "Failed"}
    assert time.process_time() - start < 5
