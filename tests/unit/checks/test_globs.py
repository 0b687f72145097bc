"""Which paths a glob names: as `glob_exists` says, or more where it is written in a rare way."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bernstein.checks.globs import Glob, first_wildcard
from bernstein.checks.paths import normal_path
from bernstein.pods.globs import first_match

PLAIN = ["a", "b", "ab", ".a", "{a,b}", "{", "a]", "!"]
STARS = ["*", "**", "?", "a*", "*a", "*b*", "a**", "a?b*", "?*", "*?"]
BRACKETS = ["[ab]", "[!a]", "[^a]b", "[a-c]", "[-a]", "[!-a]", "[a-]", "[z-a]"]
ODD = ["***", "[]a]", "[!]a]", "[[:alpha:]]", "[a", "[!]", "[^]", "[]", "[--a]", "[a--]", "[a-c-e]"]
ESCAPED = ["\\*", "\\a", "a\\", "[a\\]", "[\\].a"]
NAMES = ["a", "b", "c", "ab", ".a", "aa", "abb", "{a,b}", "{", "]", "*", "\\", "a\\", "-", "!", "^"]

usual = st.sampled_from([*PLAIN, *STARS, *BRACKETS])
rare = st.sampled_from([*ODD, *ESCAPED])
names = st.sampled_from([*NAMES, "[a", "[!]", "[]", "a]"])
paths = st.lists(names, min_size=1, max_size=5).map("/".join)


def globs(parts: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(parts, min_size=1, max_size=4)


def finds(pattern: str, path: str) -> bool:
    """Whether the signal finds the path."""
    return first_match(normal_path(pattern), [path]) is not None


@pytest.mark.parametrize("name", [*PLAIN, *STARS, *BRACKETS])
def test_one_name_matches_as_in_glob_exists(name: str) -> None:
    named = [other for other in NAMES if Glob.of([name]).names(other)]

    assert named == [other for other in NAMES if finds(name, other)]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(globs(usual), paths)
def test_a_glob_names_what_glob_exists_finds(parts: list[str], path: str) -> None:
    found = finds("/".join(parts), path)

    assert Glob.of(parts).names(path) is found


@settings(max_examples=200, deadline=None, derandomize=True)
@given(globs(usual | rare), paths)
@example(["[]a]"], "]")
@example(["[!]"], "[!]")
def test_a_rare_glob_names_at_least_that(parts: list[str], path: str) -> None:
    if finds("/".join(parts), path):
        assert Glob.of(parts).names(path)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(globs(usual), paths, paths)
def test_a_glob_enters_every_folder_of_what_it_names(
    parts: list[str], folder: str, rest: str
) -> None:
    glob = Glob.of(parts)

    if glob.names(f"{folder}/{rest}"):
        assert glob.names_or_enters(folder)


@pytest.mark.parametrize(
    ("glob", "path", "enters"),
    [
        ("*/a.py", "x", True),
        ("*/a.py", "x/y", False),
        ("**/a.py", "x/y", True),
        ("**/x/*.py", "a/b/x", True),
        ("x*/y/*.py", "xx/z", False),
        ("*", "x", True),
        ("*", "x/y", False),
    ],
)
def test_a_glob_enters_where_it_may_go_on(glob: str, path: str, enters: bool) -> None:
    assert Glob.of(glob.split("/")).names_or_enters(path) is enters


@settings(max_examples=100, deadline=None, derandomize=True)
@given(globs(usual), paths)
def test_what_a_glob_names_ends_with_its_tail(parts: list[str], path: str) -> None:
    glob = Glob.of(parts)

    assert not glob.names(path) or path.endswith(glob.tail)


def test_the_tail_is_what_follows_the_last_wildcard() -> None:
    assert [Glob.of([g]).tail for g in ["*.py", "a[xy]b", "a[x]b", "**", "a?"]] == [
        ".py",
        "b",
        "axb",
        "",
        "",
    ]


def test_a_wide_bracket_stands_for_any_character_and_costs_as_little() -> None:
    wide = Glob.of(["[\x01-\U0010ffff]"])

    assert wide.size == Glob.of(["?"]).size
    assert wide.names("x")
    assert not wide.names("xy")


@pytest.mark.parametrize(("name", "found"), [("a*", True), ("{a,b}", False), ("a]", False)])
def test_braces_are_plain_characters(name: str, found: bool) -> None:
    assert (first_wildcard(name) is not None) is found
