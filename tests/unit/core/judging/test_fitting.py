"""A change is cut to the room that there is, and it is known that it was."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.judging.fitting import MOST_FILES, FileChange, Fitted, fitted

LINES = "+line\n" * 1000


def patches(change: Fitted) -> list[str]:
    return [file.patch for file in change.files]


def test_what_fits_is_shown_whole() -> None:
    change = fitted([FileChange("a", "+1\n"), FileChange("b", "+2")], 100)

    assert patches(change) == ["+1", "+2"]
    assert not change.is_cut


def test_one_large_file_takes_no_room_from_small_ones() -> None:
    change = fitted([FileChange("large", LINES), FileChange("small", "+1\n")], 60)

    assert patches(change)[1] == "+1"
    large = change.files[0]
    assert large.patch == "\n".join(["+line"] * 9)
    assert large.left_out == len(LINES) - 1 - len(large.patch)
    assert change.is_cut


def test_it_is_cut_between_lines_where_there_are_any() -> None:
    (cut,) = fitted([FileChange("a", "+" + "x" * 100)], 10).files

    assert (cut.patch, cut.left_out) == ("+xxxxxxxxx", 91)


def test_of_very_many_files_the_smallest_are_shown_and_the_others_named() -> None:
    changes = [FileChange(f"f{n}", "+" + "x" * (n % 7)) for n in range(MOST_FILES + 2)]
    changes[3] = FileChange("large", LINES)
    changes[5] = FileChange("lar\nger", LINES * 2)

    change = fitted(changes, 10**6)

    assert len(change.files) == MOST_FILES
    assert change.unseen == ("large", "lar<U+000A>ger")
    assert change.is_cut


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("+a\u202eb", "+a<U+202E>b"),
        ("+a\u200bb", "+a<U+200B>b"),
        ("+\x1b[2Kb", "+<U+001B>[2Kb"),
        ("+a\r", "+a<U+000D>"),
        ("+\ud800", "+<U+D800>"),
        ("+\tü", "+\tü"),
    ],
)
def test_nothing_is_in_it_that_nobody_sees(text: str, shown: str) -> None:
    (file,) = fitted([FileChange(text[1:], text)], 100).files

    assert file.patch == shown
    assert file.path == shown[1:]


def test_a_path_is_on_one_line_and_bounded() -> None:
    (file,) = fitted([FileChange("a\n" * 1000, "")], 100).files

    assert "\n" not in file.path
    assert len(file.path) <= 301


def test_a_change_of_50_mb_takes_no_time() -> None:
    huge = [FileChange("a", "+line of code\n" * 4_000_000), FileChange("b", "+\u202e" * 10**6)]
    begun = time.process_time()

    change = fitted(huge, 60_000)

    assert time.process_time() - begun < 2
    assert sum(map(len, patches(change))) <= 60_000
    assert change.is_cut


CHANGES = st.lists(
    st.builds(FileChange, st.text(max_size=9), st.text(alphabet="+a\n\u202e", max_size=60)),
    max_size=9,
)


@given(CHANGES, st.integers(0, 200))
def test_it_is_never_more_than_there_is_room_for(changes: list[FileChange], room: int) -> None:
    change = fitted(changes, room)

    assert sum(map(len, patches(change))) <= room
    assert len(change.files) == len(changes)
    # Whole, or known not to be.
    whole = fitted(changes, 10**6)
    assert not whole.is_cut
    for cut, entire in zip(change.files, whole.files, strict=True):
        assert entire.patch.startswith(cut.patch)
        assert (cut.patch == entire.patch) is (cut.left_out == 0)


def test_what_cannot_be_shown_is_named_on_a_line_and_makes_the_change_a_cut_one() -> None:
    found = fitted([FileChange("a.py", "+x")], 100, ["logo.png", "a\nb"])

    assert [file.path for file in found.files] == ["a.py"]
    assert found.unseen == ("logo.png", "a<U+000A>b")
    assert found.is_cut
