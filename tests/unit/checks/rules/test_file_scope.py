"""Whose files are whose: a change of any other one is told."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bernstein.api.pod import Check
from bernstein.checks.globs import Listed
from bernstein.checks.rules.file_scope import NAME
from bernstein.checks.verdict import Verdict
from bernstein.pods.programs.inspect import judge
from tests.unit.checks.trees import Tree


def verdict(*files: str, **trees: Any) -> Verdict:
    return judge(Tree(**trees), Check(NAME, NAME, files=files))


@pytest.mark.parametrize(
    ("files", "path"),
    [
        (("src/a.py",), "src/a.py"),
        (("src",), "src/deep/a.py"),
        (("src/",), "src/a.py"),
        (("./src//deep/",), "src/deep/a.py"),
        (("src/*.py",), "src/a.py"),
        (("src/**",), "src/deep/a.py"),
        (("**/test_*.py",), "a/b/test_a.py"),
        (("docs", "src/**/*.py"), "src/a.py"),
        ((".",), "anything"),
        (("**",), ".hidden/file"),
        (("naïve/*",), "naïve/a"),
    ],
)
def test_a_path_has_all_below_it_and_a_glob_what_it_matches(
    files: tuple[str, ...], path: str
) -> None:
    assert Listed(files).holds(path)
    assert verdict(*files, after={path: "x"}).verdict == "Passed"


@pytest.mark.parametrize(
    ("files", "path"),
    [
        (("src/a.py",), "src/b.py"),
        (("src/a",), "src/ab"),
        (("src",), "srcs/a.py"),
        (("src",), "other/src/a.py"),
        (("src/*",), "src/deep/a.py"),
        (("src/*.py",), "src/a.pyc"),
        (("src/A.py",), "src/a.py"),
        (("{a,b}",), "a"),
        (("a",), "a\nb"),
    ],
)
def test_every_other_path_is_outside(files: tuple[str, ...], path: str) -> None:
    found = verdict(*files, after={path: "x"})

    assert (found.verdict, found.reason) == ("Failed", "ScopeViolation")
    assert path in found.excerpt


MOVED = {"before": {"src/a.py": "x\n"}, "after": {"lib/a.py": "x\n"}}


def test_a_rename_counts_on_both_sides() -> None:
    assert verdict("src", **MOVED).excerpt == "lib/a.py"
    assert verdict("lib", **MOVED).excerpt == "src/a.py"
    assert verdict("src", "lib", **MOVED).verdict == "Passed"


def test_a_file_that_is_deleted_counts() -> None:
    found = verdict("src", before={"docs/a.md": "x", "src/a.py": "x"}, after={"src/a.py": "y"})

    assert found.excerpt == "docs/a.md"


def test_what_was_there_and_is_left_as_it_was_does_not_count() -> None:
    there = {"docs/a.md": "x", "src/a.py": "x"}

    assert verdict("src", before=there, after={**there, "src/a.py": "y"}).verdict == "Passed"


def test_a_symlink_counts_by_its_own_path() -> None:
    assert verdict("src", after={"src/link": "->../../docs"}).verdict == "Passed"
    assert verdict("docs", after={"src/link": "->../docs/a.md"}).excerpt == "src/link"


def test_however_many_are_outside_the_first_are_told() -> None:
    found = verdict("src", after={f"docs/{n:03}.md": "x" for n in range(300)})

    assert found.excerpt.startswith("docs/000.md\ndocs/001.md\n")
    assert found.excerpt.endswith("and 280 more")


def test_globs_that_are_slow_elsewhere_take_no_longer_than_the_paths_are() -> None:
    begun = time.monotonic()

    found = verdict(*(f"{'a*' * 100}{n}" for n in range(40)), after={"a" * 3000: "x"})

    assert found.verdict == "Failed"
    assert time.monotonic() - begun < 5
