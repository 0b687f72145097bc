"""The folder of a release: what may be emptied, and what is refused untouched."""

from __future__ import annotations

from pathlib import Path

import pytest

from release import folder, sums
from release.errors import ReleaseError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "home" / "checkout"
    made.mkdir(parents=True)
    (made / "kept").write_text("kept")
    return made


def test_what_a_release_has_left_is_removed(root: Path) -> None:
    to = root / "dist"
    folder.take(to, root)
    (to / "images").mkdir()
    (to / "images/a.tar").write_text("old")
    (to / "link").symlink_to(root / "kept")

    folder.take(to, root)

    assert [path.name for path in to.iterdir()] == [folder.MARKER]
    assert (root / "kept").read_text() == "kept"


def test_an_empty_folder_is_taken_and_its_marker_has_no_sum(root: Path) -> None:
    to = root.parent / "empty"
    to.mkdir()

    folder.take(to, root)
    sums.write(to)

    assert (to / sums.NAME).read_text() == ""


@pytest.mark.parametrize("name", [".", "..", "../..", "../link", "../theirs", "../also/below"])
def test_what_is_not_ours_is_refused_and_stays(root: Path, name: str) -> None:
    ours, theirs, also = root / "dist", root.parent / "theirs", root.parent / "also"
    folder.take(ours, root)
    (root.parent / "link").symlink_to(ours)
    for each in (theirs, also / "below"):
        each.mkdir(parents=True)
        (each / "kept").write_text("kept")
    before = sorted(root.parent.rglob("*"))

    with pytest.raises(ReleaseError, match="NotOurFolder"):
        folder.take(root / name, root, [also])

    assert sorted(root.parent.rglob("*")) == before


def test_a_folder_of_another_architecture_is_never_emptied(root: Path) -> None:
    also = root.parent / "release"
    folder.take(also, root)
    (also / "images").mkdir()

    for to in (also, also / "images", root.parent):
        with pytest.raises(ReleaseError, match="NotOurFolder"):
            folder.take(to, root, [also])
    assert (also / "images").is_dir()


def test_a_file_in_its_place_is_refused(root: Path) -> None:
    with pytest.raises(ReleaseError, match="NotOurFolder"):
        folder.take(root / "kept", root)
