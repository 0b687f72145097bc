"""Which paths are checked out where a Project names folders."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.pods.worktree.folders import Folders, OutsideCheckoutError, Unseen

PATHS = st.lists(st.sampled_from(["a", "ab", "b", ".c"]), min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("path", "held"),
    [
        (b"top", True),
        (b"a/beside", True),
        (b"a/b/in", True),
        (b"a/b/deep/in", True),
        (b"a/bb/out", False),
        (b"a/c/out", False),
        (b"c/out", False),
        (b"a/b", True),
        (b"x/a/b/out", False),
    ],
)
def test_a_folder_comes_with_all_below_and_the_files_above(path: bytes, *, held: bool) -> None:
    assert Folders(["a/b"]).holds(path) is held


def test_without_folders_it_is_everything() -> None:
    everything = Folders(())
    assert not everything
    assert everything.holds(b"any/thing")
    assert everything.left_out({b"any/thing": 1}) == {}


def test_what_is_left_out_is_all_else() -> None:
    entries = {b"top": 1, b"a/b/c": 2, b"b/c": 3}
    assert Folders(["a"]).left_out(entries) == {b"b/c": 3}


@given(folders=st.lists(PATHS, min_size=1, max_size=3), path=PATHS)
def test_a_folder_in_a_named_one_changes_nothing(folders: list[str], path: str) -> None:
    more = [*folders, f"{folders[0]}/below"]
    assert Folders(more).holds(path.encode()) == Folders(folders).holds(path.encode())


def test_gits_own_patterns_are_those_that_git_writes(tmp_path: Path) -> None:
    named = ["a/b", "a/b/c", "d", "a/x/y"]
    for args in (["init", "-q", "."], ["sparse-checkout", "set", "--cone", *named]):
        subprocess.run(["git", *args], cwd=tmp_path, check=True, capture_output=True)
    written = (tmp_path / ".git/info/sparse-checkout").read_text().split()
    mine = Folders(["a/b", "d", "a/x/y"]).patterns().split()
    assert sorted(mine) == sorted(written)


@pytest.mark.parametrize(("path", "folder"), [(b"a/b", False), (b"a/b", True), (b"a", False)])
def test_nothing_may_take_the_place_of_what_was_not_checked_out(path: bytes, folder: bool) -> None:
    with pytest.raises(OutsideCheckoutError, match=f"{path.decode()}: "):
        Unseen([b"a/b"]).expect_nothing(path, folder=folder)


@pytest.mark.parametrize(("path", "folder"), [(b"a", True), (b"a/c", False), (b"a/bc", True)])
def test_what_lies_beside_it_may(path: bytes, folder: bool) -> None:
    Unseen([b"a/b"]).expect_nothing(path, folder=folder)


def test_a_name_of_an_agents_making_is_harmless_in_the_message() -> None:
    with pytest.raises(OutsideCheckoutError) as raised:
        Unseen([b"a\x1b[31m\n" + b"x" * 4000]).expect_nothing(
            b"a\x1b[31m\n" + b"x" * 4000, folder=False
        )
    assert "\x1b" not in raised.value.message
    assert len(raised.value.message) < 500
