"""Which lines of Python a tree has that the one before it has not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bernstein.pods.worktree import new_lines as module
from bernstein.pods.worktree.new_lines import new_lines


def told(
    tmp_path: Path, before: Mapping[str, str], after: Mapping[str, str]
) -> Mapping[str, object] | None:
    for name, files in (("before", before), ("after", after)):
        for path, text in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return new_lines(tmp_path / "after", tmp_path / "before")


def test_new_lines_are_told_by_their_numbers_from_1(tmp_path: Path) -> None:
    before = {"p/a.py": "a = 1\nb = 2\nc = 3\n"}
    after = {"p/a.py": "a = 1\nx = 1\n\ny = 2\nb = 2\nc = 4\n"}

    assert told(tmp_path, before, after) == {"p/a.py": [(2, 2), (4, 4), (6, 6)]}


def test_lines_that_have_moved_are_old_ones_as_often_as_they_were_there(tmp_path: Path) -> None:
    before = {"a.py": "one = 1\ntwo = 2\n"}
    after = {"a.py": "if two:\n    two = 2\n    one = 1\none = 1\n"}

    assert told(tmp_path, before, after) == {"a.py": [(1, 1), (4, 4)]}


def test_a_file_by_another_name_has_the_lines_of_those_that_are_gone(tmp_path: Path) -> None:
    before = {"a.py": "one = 1\n", "b.py": "two = 2\n"}
    after = {"c.py": "two = 2\nthree = 3\n", "a.py": "one = 1\n", "d.py": "one = 1\n"}

    assert told(tmp_path, before, after) == {"c.py": [(2, 2)], "d.py": [(1, 1)]}


def test_only_files_of_python_are_looked_at_and_no_symlinks(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("x = 1\n")
    (tmp_path / "after").mkdir()
    (tmp_path / "after" / "b.py").symlink_to(tmp_path / "secret.py")
    (tmp_path / "after" / "folder").symlink_to(tmp_path)

    assert told(tmp_path, {}, {"a.txt": "x\n", ".git/a.py": "x = 1\n"}) == {}


def test_more_than_anybody_can_have_written_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    text = "x = 1\n\ny = 1\n"

    assert told(tmp_path, {}, {"a.py": text}) is not None
    assert told(tmp_path, {}, {"b.py": text}) is None


def test_a_file_that_is_too_long_to_be_read_is_told_all_the_same(tmp_path: Path) -> None:
    assert told(tmp_path, {}, {"a.py": "x = 1\n" * 200_000}) == {"a.py": [(1, 1)]}


def test_long_names_count_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)

    assert told(tmp_path, {}, {"a.py": "x = 1\n", "b.py": "x = 1\n"}) is not None
    assert told(tmp_path, {}, {f"{'p' * 250}.py": "x = 1\n"}) is None
