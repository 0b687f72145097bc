"""Signal `file_contains` on contents."""

from __future__ import annotations

import time

import pytest

from bernstein.api.pod import Check
from bernstein.checks.signals import file_contains
from bernstein.checks.verdict import Verdict
from tests.unit.checks.trees import Tree


def contains(content: bytes | str, wanted: str, regex: bool) -> Verdict:
    check = Check("signal-0", "file_contains", path="./a.py", contains=wanted, regex=regex)
    return file_contains.scan(Tree({"a.py": content}), check)


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
    assert contains(content, wanted, regex).verdict == verdict


def test_an_expression_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contains, "MATCH_SECONDS", 0.3)
    start = time.monotonic()
    verdict = contains(b"a" * 50 + b"!", "(a+)+$", True)
    assert (verdict.verdict, verdict.reason) == ("Errored", "PatternTooSlow")
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(("content", "what"), [("->a", "symlink"), ("!", "submodule")])
def test_only_a_file_holds_anything(content: str, what: str) -> None:
    verdict = contains(content, "a", False)

    assert (verdict.verdict, verdict.reason) == ("Failed", "NotAFile")
    assert verdict.excerpt.startswith(f"a.py is a {what}")


def test_a_file_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contains, "CONTENT_BYTES", 10)

    verdict = contains("x" * 11, "x", False)

    assert (verdict.verdict, verdict.reason) == ("Errored", "TooLarge")
    assert verdict.excerpt == "a.py has 11 bytes"
