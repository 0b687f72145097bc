"""What a commit changes, whatever an agent has put into it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bernstein.cli.local import changes
from bernstein.cli.local.changes import Changes, NotThere
from bernstein.cli.local.git import GitFailed
from bernstein.core.delivery.kept import Commits
from tests.unit.cli.local.repositories import REF, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "server.git")


def shown(repository: Repository, commits: Commits, *, stat: bool = False) -> Changes:
    return asyncio.run(changes.between(repository.url, commits, stat=stat))


def work(repository: Repository, before: dict[str, bytes], after: dict[str, bytes]) -> Commits:
    base = repository.commit("refs/heads/main", before)
    return Commits(REF, repository.commit(REF, after, base), base)


def test_lines_that_came_and_went_are_shown(repository: Repository) -> None:
    commits = work(repository, {"a.py": b"x = 1\n"}, {"a.py": b"x = 2\n", "b.py": b"y = 1\n"})

    found = shown(repository, commits)

    assert not found.cut
    rows = found.text.splitlines()
    assert {"-x = 1", "+x = 2", "+y = 1", "+++ b/b.py"} <= set(rows)
    assert "a.py | 2 +-" in shown(repository, commits, stat=True).text


def test_no_file_of_the_tree_hides_what_was_changed(repository: Repository) -> None:
    hiding = {".gitattributes": b"* -diff binary\n", "a.py": b"x = 1\n"}
    commits = work(repository, hiding, {**hiding, "a.py": b"x = 2\n"})

    assert "+x = 2" in shown(repository, commits).text


def test_no_setting_of_the_person_runs_a_program_on_it(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = work(repository, {"a.py": b"x = 1\n"}, {"a.py": b"x = 2\n"})
    config = tmp_path / "gitconfig"
    config.write_text(
        "[diff]\n external = false\n noprefix = true\n"
        '[diff "shown"]\n textconv = false\n[color]\n ui = always\n'
        f"[core]\n attributesFile = {tmp_path}/attributes\n"
    )
    (tmp_path / "attributes").write_text("* diff=shown\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_DIR", str(tmp_path))

    found = shown(repository, commits)

    assert "+x = 2" in found.text.splitlines()
    assert "+++ b/a.py" in found.text.splitlines()


def test_the_recorded_commit_is_shown_although_its_ref_was_moved(repository: Repository) -> None:
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    commits = work(repository, {"a.py": b"x = 1\n"}, {"a.py": b"x = 2\n"})
    repository.commit(REF, {"a.py": b"other\n"}, commits.base)

    assert "+x = 2" in shown(repository, commits).text


def test_another_commit_is_never_shown_in_its_place(repository: Repository) -> None:
    commits = work(repository, {"a.py": b"x = 1\n"}, {"a.py": b"x = 2\n"})
    repository.git("update-ref", REF, commits.base)

    with pytest.raises(NotThere, match="does not hold"):
        shown(repository, Commits(REF, "b" * 40, commits.base))


def test_what_is_very_long_is_cut(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "LARGEST", 1000)
    commits = work(repository, {"a": b""}, {"a": b"line\n" * 100_000})

    found = shown(repository, commits)

    assert (found.cut, len(found.text)) == (True, 1000)


def test_a_repository_that_cannot_be_read_says_why(repository: Repository, tmp_path: Path) -> None:
    commits = work(repository, {"a": b""}, {"a": b"1"})

    with pytest.raises(GitFailed, match=r"missing\.git"):
        asyncio.run(changes.between(f"file://{tmp_path}/missing.git", commits))
    with pytest.raises(GitFailed, match="refs/none"):
        shown(repository, Commits("refs/none", commits.sha, commits.base))
