"""Which lists of paths and globs may name the same file."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.checks.paths import normal_path
from bernstein.core.scheduling.file_overlap import HeldFiles, Overlap
from bernstein.pods.globs import first_match
from tests.unit.core.scheduling.overlap import overlap


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("a.py", "a.py", True),
        ("a.py", "b.py", False),
        ("src", "src/a.py", True),
        ("src/", "src/a.py", True),
        ("src", "srcs/a.py", False),
        ("src-gen/a.py", "src", False),
        ("./src//a.py", "src/a.py", True),
        (".", "src/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a.md", False),
        ("src/*.py", "src", True),
        ("./src/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("src/**", "src", True),
        ("src/*/a.py", "src/x", True),
        ("src/*/a.py", "src/x.py", False),
        ("src/*/a.py", "lib", False),
        ("**/*.py", "docs/x.md", False),
        ("**/*.py", "docs", True),
        ("**/*.md", "docs/*.py", True),
        ("src/**", "docs/**", False),
        ("src/a*", "src/b/*", True),
        ("{a,b}.py", "b.py", False),
        ("{a,b}.py", "{a,b}.py", True),
        ("{{name}}/a.py", "{{name}}/b.py", False),
    ],
)
def test_paths_and_globs_overlap_where_they_may_name_the_same_file(
    left: str, right: str, same: bool
) -> None:
    assert overlap([left], [right]) is same
    assert overlap([right], [left]) is same


PATTERNS = ["*", "**", "a*", "*b", "[ab]", "[!a]", "a?b"]

parts = st.sampled_from(["a", "b", "ab", ".a", "x.y", "{a,b}", *PATTERNS])
entries = st.lists(parts, min_size=1, max_size=4).map("/".join)
lists = st.lists(entries, max_size=4).map(tuple)
folders = st.sampled_from(["a", "b", "a-b", "a.b"])
plain = st.lists(folders, min_size=1, max_size=4).map("/".join)
files = st.sampled_from(["a", "b", "ab", "aab", ".a", "x.y", "c"])
concrete = st.lists(files, min_size=1, max_size=5).map("/".join)


def names(entry: str, path: str) -> bool:
    return first_match(normal_path(entry), [path]) is not None


@settings(max_examples=200, deadline=None, derandomize=True)
@given(entries, entries, st.lists(concrete, max_size=8))
def test_entries_that_name_one_path_overlap(left: str, right: str, found: list[str]) -> None:
    if any(names(left, path) and names(right, path) for path in found):
        assert overlap([left], [right])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(plain, plain)
def test_of_paths_the_answer_is_exact(left: str, right: str) -> None:
    nested = f"{left}/".startswith(f"{right}/") or f"{right}/".startswith(f"{left}/")

    assert overlap([left], [right]) is nested


@settings(max_examples=100, deadline=None, derandomize=True)
@given(lists, lists, st.none() | st.integers(0, 40))
def test_it_does_not_matter_who_came_first(
    left: tuple[str, ...], right: tuple[str, ...], steps: int | None
) -> None:
    def found(held: tuple[str, ...], asked: tuple[str, ...]) -> Overlap | None:
        held_files = HeldFiles([left, right]) if steps is None else HeldFiles([left, right], steps)
        held_files.add("it", held)
        return held_files.overlap(asked)

    assert (found(left, right) is None) is (found(right, left) is None)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(lists, max_size=6), lists)
def test_among_many_holders_it_finds_one_that_overlaps(
    held: list[tuple[str, ...]], asked: tuple[str, ...]
) -> None:
    held_files = HeldFiles([*held, asked])
    for number, one in enumerate(held):
        held_files.add(str(number), one)

    found = held_files.overlap(asked)

    if found is None:
        assert not any(overlap(asked, one) for one in held)
    else:
        assert found.sure
        assert overlap(asked, held[int(found.holder)])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(lists, lists, st.integers(0, 200))
def test_without_steps_left_it_says_yes_and_that_it_is_unsure(
    held: tuple[str, ...], asked: tuple[str, ...], steps: int
) -> None:
    held_files = HeldFiles([held, asked], steps)
    held_files.add("it", held)
    found = held_files.overlap(asked)

    if overlap(held, asked):
        assert found is not None
    elif found is not None:
        assert found == Overlap("it", sure=False)


@pytest.mark.parametrize(
    ("held", "asked"),
    [
        ("a/" * 60 + "x.bbc", "**/a*/" * 5 + "x[!b]c"),
        ("**/a*/" * 5 + "x[!b]c", "a/" * 60 + "x.bbc"),
        ("a" * 120 + ".c", "*a" * 60 + "b?c"),
        ("x.y", "[0-9a-z]" * 25 + "?"),
    ],
)
def test_a_comparison_takes_as_many_steps_as_both_are_long(held: str, asked: str) -> None:
    held_files = HeldFiles([(held,), (asked,)], steps=16 * (len(held) + len(asked)))
    held_files.add("it", (held,))

    assert held_files.overlap((asked,)) is None


@pytest.mark.parametrize(("held", "asked"), [("a/x.c", "*/{}?c"), ("*/x?c", "a/x.{}.c")])
def test_steps_are_those_of_all_questions(held: str, asked: str) -> None:
    questions = [(asked.format(number),) for number in range(20)]
    files = HeldFiles([(held,), *questions], steps=100)
    files.add("it", (held,))

    answers = [files.overlap(question) for question in questions]

    assert answers[0] is None
    assert answers[-1] == Overlap("it", sure=False)


def test_what_it_takes_to_make_a_glob_counts_even_if_it_is_known() -> None:
    """Else a Task would wait, or not, by what the process happens to remember."""
    globs = tuple(f"{'*a' * 100}{number}" for number in range(20))

    def answer(steps: int) -> Overlap | None:
        files = HeldFiles([("x.py",), globs], steps)
        files.add("it", ("x.py",))
        return files.overlap(globs)

    least = next(steps for steps in range(0, 50_000, 500) if answer(steps) is None)

    assert least > 20 * 2 * 200, "more than to compare them"
    assert answer(least - 500) == Overlap("it", sure=False)
    assert answer(least) is None


def test_paths_that_nobody_holds_take_steps_too() -> None:
    others = tuple(f"{number}.c" for number in range(20))
    files = HeldFiles([("*.md",), others], steps=10)
    files.add("it", others[:1])

    assert files.overlap(("*.md",)) == Overlap("it", sure=False)
