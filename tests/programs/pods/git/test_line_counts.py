"""How many lines of which file a commit changes, as people are shown it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from bernstein.api.pod import ChangedFile
from bernstein.checks.content import settings_files
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
        return self.look(files, before).most

    def look(self, files: dict[str, bytes], before: str = "") -> line_counts.Lines:
        return line_counts.look(self.ours, before or self.base, self.commit(files))


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

    assert found == (ChangedFile("d" * 100, 2, 0), ChangedFile(':(glob)*?"?.py', 1, 0))


NUMBERED = {"tests/test_a.py": b"1\n2\n", "src/a.py": b"1\n2\n"}


@pytest.mark.parametrize(
    ("after", "weakened"),
    [
        ({"tests/test_a.py": b"1\n2\n3\n"}, ""),
        ({"tests/test_b.py": b"1\n"}, ""),
        ({"src/a.py": b"1\n"}, ""),
        ({"tests/test_a.py": b"1\n"}, "tests/test_a.py"),
        ({"tests/test_a.py": b"1\nskip\n"}, "tests/test_a.py"),
        ({"tests/test_a.py": None}, "tests/test_a.py"),
        ({"tests/test_a.py": b"1\n2\n\0"}, "tests/test_a.py"),
    ],
    ids=["longer", "new", "no test", "shorter", "edited", "gone", "no text any more"],
)
def test_a_test_that_lines_were_taken_from_is_named(
    work: Work, after: dict[str, bytes | None], weakened: str
) -> None:
    before = work.commit(NUMBERED)
    files = {name: content for name, content in {**NUMBERED, **after}.items() if content}

    assert work.look(files, before).weakened == weakened


TESTED = b"def test_a():\n    assert True is a()\n"


@pytest.mark.parametrize(
    ("after", "weakened"),
    [
        (
            b"import pytest\n\n\n@pytest.mark.skip\n" + TESTED,
            "tests/test_a.py: test_a is marked as one to skip, or ends early",
        ),
        (b"import pytest\n" + TESTED, ""),
        (TESTED + b"\n\n@pytest.mark.skip\ndef test_b(): ...\n", ""),
    ],
    ids=["skipped", "no less", "new one skipped"],
)
def test_a_test_that_is_skipped_and_keeps_its_lines_is_named(
    work: Work, after: bytes, weakened: str
) -> None:
    before = work.commit({"tests/test_a.py": TESTED})

    assert work.look({"tests/test_a.py": after}, before).weakened == weakened


def test_of_a_file_that_lines_were_taken_from_the_test_is_named_that_is_weaker(work: Work) -> None:
    """Another file that comes first is no reason to name none."""
    files = {"tests/data.txt": b"1\n2\n", "tests/test_a.py": TESTED}
    before = work.commit(files)
    weaker = TESTED.replace(b"assert True is", b"")

    alone = work.look({**files, "tests/test_a.py": weaker}, before)
    second = work.look({"tests/data.txt": b"1\n", "tests/test_a.py": weaker}, before)

    told = "tests/test_a.py: test_a has 0 of 1 assertions left"
    assert (alone.weakened, second.weakened) == (told, told)


@pytest.mark.parametrize("path", ["pytest.ini", "jest.config.js", "conftest.py"])
def test_what_says_which_tests_are_run_and_is_no_text_is_named(work: Work, path: str) -> None:
    base = work.commit({"tests/test_a.py": TESTED})
    head = work.commit({"tests/test_a.py": TESTED, path: b"\0"})

    assert line_counts.look(work.ours, base, head).weakened == path


def test_where_git_cannot_tell_no_file_is_named_and_tests_count_as_weakened(work: Work) -> None:
    found = line_counts.look(work.ours, work.base, "0" * 40)

    assert found == line_counts.Lines((), line_counts.UNKNOWN, line_counts.UNKNOWN)


def test_git_that_takes_too_long_is_not_waited_for(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_counts, "_SECONDS", 0.0)

    assert work.counts({"a.py": b"1\n"}) == ()


TOOLS = b"[project]\nname = 'a'\n[tool.ruff]\nline-length = 100\n"


@pytest.mark.parametrize(
    ("after", "named"),
    [
        ({"pyproject.toml": TOOLS.replace(b"'a'", b"'b'"), "app.py": b"A = 1\n"}, ""),
        ({"pyproject.toml": TOOLS.replace(b"100", b"900")}, "pyproject.toml"),
        ({"pyproject.toml": TOOLS + b"["}, "pyproject.toml"),
        ({}, "pyproject.toml"),
        ({"pyproject.toml": TOOLS, "web/ruff.toml": b""}, ""),
        ({"pyproject.toml": TOOLS, "web/ruff.toml": b"line-length = 9\n"}, "web/ruff.toml"),
        ({"pyproject.toml": TOOLS, ".gitignore": b"*.py\n"}, ".gitignore"),
        ({"pyproject.toml": TOOLS, "mypy.ini": b"\0" * 3_000_000}, "mypy.ini"),
    ],
)
def test_a_file_that_configures_checks_otherwise_is_named(
    work: Work, after: dict[str, bytes], named: str
) -> None:
    before = work.commit({"pyproject.toml": TOOLS})

    assert work.look(after, before).configured == named


def test_a_configuration_that_takes_the_square_of_its_length_is_not_parsed(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    dots = b"[tool.ruff]\na" + b".a" * 12_000 + b" = 1\n"
    before = work.commit({"pyproject.toml": b"[tool.ruff]\n"})

    def seconds() -> float:
        begun = time.process_time()
        assert work.look({"pyproject.toml": dots}, before).configured == "pyproject.toml"
        return time.process_time() - begun

    with monkeypatch.context() as taken:
        taken.setattr(settings_files, "is_quick", lambda *_: True)
        parsed = seconds()

    assert seconds() * 5 < parsed


def test_many_configurations_that_are_slow_to_read_are_not_all_read(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = ({"pyproject.toml": TOOLS.replace(b"'a'", name)} for name in (b"'b'", b"'c'"))
    assert work.look(after, work.commit(before)).configured == ""

    monkeypatch.setattr(line_counts, "_CONFIGURED_SECONDS", -1.0)

    assert work.look(after, work.commit(before)).configured == "pyproject.toml"
