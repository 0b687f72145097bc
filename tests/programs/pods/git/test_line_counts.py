"""How many lines of which file a commit changes, as people are shown it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bernstein.api.pod import ChangedFile
from bernstein.pods.git import client, line_counts, patch
from tests.programs.pods.git_server import plain_env


class Work:
    """Files that an agent has changed, and the repository of ours that reads them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "theirs"
        self.folder.mkdir()
        self.git("init", "--quiet", "-b", "main")
        self.ours = client.init_bare(folder / "ours", [self.folder / ".git"])
        self.base = self.git("commit-tree", "-m", "base", self.git("write-tree"))

    def git(self, *args: str) -> str:
        done = subprocess.run(
            ["git", *args], cwd=self.folder, env=plain_env(), capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, bytes]) -> str:
        """A commit of exactly these files."""
        self.git("read-tree", "--empty")
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            self.git("add", "-f", "--", f":(literal){name}")
        return self.git("commit-tree", "-m", "x", "-p", self.base, self.git("write-tree"))

    def counts(self, files: dict[str, bytes], before: str = "") -> tuple[ChangedFile, ...]:
        head = self.commit(files)
        return line_counts.most_changed(self.ours, before or self.base, head)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def test_the_file_with_the_most_changed_lines_is_first(work: Work) -> None:
    before = work.commit({"a.py": b"1\n2\n3\n", "gone.py": b"x\n" * 9})

    found = work.counts({"a.py": b"1\n3\n4\n", "new.py": b"x\n" * 20}, before)

    assert found == (
        ChangedFile("new.py", 20, 0),
        ChangedFile("gone.py", 0, 9),
        ChangedFile("a.py", 1, 1),
    )


def test_what_is_no_text_or_too_large_is_named_without_numbers_behind_all_others(
    work: Work,
) -> None:
    large = b"x\n" * patch.LARGEST
    found = work.counts({"a.png": b"\x89PNG\0", "b.txt": large, "z.py": b"1\n"})

    assert found == (ChangedFile("z.py", 1, 0), ChangedFile("a.png"), ChangedFile("b.txt"))


def test_a_tree_cannot_say_that_a_file_is_not_to_be_counted(work: Work) -> None:
    found = work.counts({".gitattributes": b"* -diff -text\n", "a.py": b"1\n2\n"})

    assert ChangedFile("a.py", 2, 0) in found


def test_however_many_files_there_are_only_some_are_told(work: Work) -> None:
    found = work.counts({f"{n:03}.py": b"x\n" * (n + 1) for n in range(patch.MOST_FILES)})

    assert [file.added for file in found] == list(range(100, 92, -1))


def test_a_name_is_told_as_far_as_a_status_has_room_for_it(work: Work) -> None:
    odd = ':(glob)*\t"ü.py'
    found = work.counts({odd: b"1\n", f"{'d' * 200}/x.py": b"1\n2\n"})

    assert found == (ChangedFile("d" * 100, 2, 0), ChangedFile(':(glob)*\t"?.py', 1, 0))


def test_what_git_cannot_tell_is_left_out(work: Work) -> None:
    assert line_counts.most_changed(work.ours, work.base, "0" * 40) == ()


def test_git_that_takes_too_long_is_not_waited_for(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_counts, "_SECONDS", 0.0)

    assert work.counts({"a.py": b"1\n"}) == ()
