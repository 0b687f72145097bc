"""Which declared files lie within the append-only ones: those are held by nobody."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.checks.globs import Listed, plain
from bernstein.core.scheduling.append_only import held
from bernstein.core.scheduling.file_overlap import Globs


@pytest.mark.parametrize(
    ("entry", "append_only"),
    [
        ("CHANGELOG.md", "CHANGELOG.md"),
        ("./CHANGELOG.md", "CHANGELOG.md"),
        ("CHANGELOG", "CHANGELOG"),
        ("news/1.md", "news"),
        ("news/*.md", "news/"),
        ("news/**", "news"),
        ("anything/**", "."),
        ("CHANGELOG.md", "*.md"),
        ("web/CHANGELOG.md", "**/CHANGELOG.md"),
        ("CHANGELOG.md", "**/CHANGELOG.md"),
        ("packages/*/CHANGELOG.md", "**/CHANGELOG.md"),
        ("packages/[ab]/CHANGELOG.md", "packages/*/CHANGELOG.md"),
        ("**/CHANGELOG.md", "**/CHANGELOG.md"),
        ("news", "news/**"),
        ("news.d", "news.d/**"),
        ("news/1.md", "news/**"),
        ("news/deep/**", "news/**"),
        ("news/**/*.md", "news/**"),
        ("news/1*.md", "news/*.md"),
        ("**", "**"),
        ("src/**", "**"),
        (".", "**"),
        ("{a,b}.md", "{a,b}.md"),
    ],
)
def test_what_lies_within_is_not_held(entry: str, append_only: str) -> None:
    assert held((entry,), (append_only,)) == ()
    assert held(("!", entry), ("other/*", append_only))[1:] == ()


@pytest.mark.parametrize(
    ("entry", "append_only"),
    [
        ("src/a.py", "CHANGELOG.md"),
        ("CHANGELOG.md.bak", "CHANGELOG.md"),
        ("newsroom/1.md", "news"),
        ("news", "news/1.md"),
        (".", "news"),
        ("**", "news/**"),
        ("*.md", "CHANGELOG.md"),
        ("*", "*.md"),
        ("news/*", "news/*.md"),
        ("news/**", "news/*"),
        ("news/**", "news/*/**"),
        ("news", "news/*.md"),
        ("news", "new*"),
        ("news.d", "news.d/*.md"),
        ("a/b.c/x", "a/b.c/*.c"),
        ("docs/*/a.md", "docs/x/*.md"),
        ("docs/**/a.md", "docs/*/a.md"),
        ("a?.md", "ab.md"),
        ("a*.md", "a?.md"),
        ("[!a].md", "[!b].md"),
        (r"\a.md", "a.md"),
        ("{a,b}.md", "a.md"),
    ],
)
def test_what_may_name_something_else_is_held(entry: str, append_only: str) -> None:
    assert held((entry,), (append_only,)) == (entry,)


def test_without_append_only_files_all_are_held() -> None:
    assert held(("a", "b/**"), ()) == ("a", "b/**")


names = st.sampled_from(["a", "b", "ab", ".a", "x.y", "{a}", "*", "**", "a*", "*b", "?", "[ab]"])
entries = st.lists(names, min_size=1, max_size=4).map("/".join)
folders = st.lists(st.sampled_from(["a", "b", "ab", "aab", "c"]), max_size=3)
files = st.sampled_from(["a", "b", "ab", ".a", "x.y", "c"])
paths = st.builds(lambda above, name: "/".join([*above, name]), folders, files)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(entries, st.lists(entries, max_size=3).map(tuple), st.lists(paths, max_size=20))
def test_what_is_not_held_names_only_what_may_be_added_to(
    entry: str, append_only: Globs, found: list[str]
) -> None:
    """A path that a glob's folder may be is taken for a folder."""
    if held((entry,), append_only):
        return
    own, shared = Listed((entry,)), Listed(append_only)
    for path in found:
        assert path == plain(entry) or not own.holds(path) or shared.holds(path)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(entries, max_size=4).map(tuple), st.lists(entries, max_size=3).map(tuple))
def test_each_file_is_held_or_not_whatever_stands_beside_it(
    declared: Globs, append_only: Globs
) -> None:
    alone = tuple(entry for entry in declared if held((entry,), append_only))

    assert held(declared, append_only) == alone


def test_what_takes_too_many_steps_is_held() -> None:
    declared = tuple(f"{'a' * 200}{number}.c" for number in range(40))
    append_only = tuple(f"{'*a' * 100}{number}[!b]c" for number in range(40))

    assert held(declared, append_only)
    assert held((*declared, "CHANGELOG.md"), (*append_only, "CHANGELOG.md"))[-1] != "CHANGELOG.md"
