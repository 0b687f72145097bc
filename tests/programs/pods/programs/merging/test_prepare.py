"""prepare against a real server: nothing lost, nothing made twice."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bernstein.api.pod import ChangedFile
from bernstein.api.programs.commit import CommitText
from bernstein.api.programs.merge import PrepareResult
from bernstein.pods import termination
from bernstein.pods.git import client as git
from bernstein.pods.git.client import Git
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import plain_env
from tests.programs.pods.programs.merging.refs import (
    CANDIDATE,
    INTEGRATION,
    SESSION,
    TARGET,
    TEXT,
    reason,
)

pytestmark = pytest.mark.verification


def test_the_candidate_is_one_commit_on_the_tip(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    base = origin.commit({"a": "1\n"})
    work = origin.commit({"api.py": "new\n", "tests/test_api.py": ""}, base, ref=SESSION)
    tip = origin.commit({"b": "neighbour\n"}, base, ref=INTEGRATION)
    result = do_prepare(work)
    assert result.base == tip
    assert origin.tip(CANDIDATE) == result.sha
    assert origin.git("rev-list", "--parents", "-1", result.sha) == f"{result.sha} {tip}"
    assert origin.git("ls-tree", "-r", "--name-only", result.tree).split() == [
        *("a", "api.py", "b", "tests/test_api.py")
    ]
    assert origin.git("log", "-1", "--format=%an <%ae>%n%B", result.sha).startswith(
        f"{TEXT.author} <{TEXT.email}>\n{TEXT.message.strip()}"
    )
    assert (result.changed.files, result.changed.python, result.changed.tests) == (2, True, True)
    assert result.changed.most == (
        ChangedFile("api.py", 1, 0),
        ChangedFile("tests/test_api.py", 0, 0),
    )


def test_a_repeated_prepare_makes_the_very_same_commit(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    base = origin.commit({"a": "1\n"})
    work = origin.commit({"b": "2\n"}, base, ref=SESSION)
    origin.commit({"c": "3\n"}, base, ref=INTEGRATION)
    assert do_prepare(work) == do_prepare(work)


def test_a_new_candidate_replaces_the_old_one(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    base = origin.commit({"a": "1\n"})
    work = origin.commit({"b": "2\n"}, base, ref=SESSION)
    tip = origin.commit({"c": "3\n"}, base, ref=INTEGRATION)
    first = do_prepare(work)
    origin.commit({"d": "4\n"}, tip, ref=INTEGRATION)
    second = do_prepare(work)
    assert second.sha != first.sha
    assert origin.tip(CANDIDATE) == second.sha


def test_a_conflict_names_its_files_and_pushes_nothing(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    base = origin.commit({"a": "1\n", "é": "1\n"})
    work = origin.commit({"a": "2\n", "é": "2\n"}, base, ref=SESSION)
    tip = origin.commit({"a": "3\n", "é": "3\n"}, base, ref=INTEGRATION)
    result = do_prepare(work)
    assert result == PrepareResult(tip, "", "", result.changed, ("a", "é"), result.sides)
    assert origin.git("for-each-ref", CANDIDATE) == ""


@pytest.mark.parametrize(
    "hidden", ["* merge=union\n", "* merge=ours\n", "[attr]diff merge=union\n* diff\n"]
)
def test_attributes_in_the_tree_cannot_hide_a_conflict(
    origin: Origin, do_prepare: Callable[..., PrepareResult], hidden: str
) -> None:
    base = origin.commit({".gitattributes": hidden, "a": "1\n"})
    work = origin.commit({"a": "2\n"}, base, ref=SESSION)
    origin.commit({"a": "3\n"}, base, ref=INTEGRATION)
    assert do_prepare(work).conflicts == ("a",)


def test_a_union_driver_in_the_tree_is_overruled(origin: Origin, tmp_path: Path) -> None:
    """Even with the current directory in a checkout, where git reads its attributes."""
    hidden = "* merge=union\n"
    base = origin.commit({".gitattributes": hidden, "a": "1\n"}, ref=TARGET)
    ours = origin.commit({"a": "2\n"}, base, ref=SESSION)
    theirs = origin.commit({"a": "3\n"}, base, ref=INTEGRATION)
    (tmp_path / ".gitattributes").write_text(hidden)
    repository = Git(git.init_bare(tmp_path / "own.git").git_dir, origin.remote())
    repository.fetch([f"{ref}:{ref}" for ref in (TARGET, SESSION, INTEGRATION)])

    def merge() -> int:
        here = {"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(tmp_path)}
        command = ["git", "merge-tree", "--write-tree", ours, theirs]
        env = plain_env() | here
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=False)
        return done.returncode

    assert merge() == 1
    (tmp_path / "own.git" / "info" / "attributes").unlink()
    assert merge() == 0, "fires with the protection off: both sides, silently"


def test_work_that_the_tip_holds_already_makes_no_candidate(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    base = origin.commit({"a": "1\n"})
    work = origin.commit({"b": "2\n"}, base, ref=SESSION)
    tip = origin.commit({"c": "3\n"}, work, ref=INTEGRATION)
    result = do_prepare(work)
    assert (result.base, result.sha, result.changed.files) == (tip, tip, 0)
    assert origin.git("for-each-ref", CANDIDATE) == ""
    same_change = origin.commit({"b": "2\n"}, base, ref="refs/bernstein/01234567/other/s1")
    assert do_prepare(same_change, ref="refs/bernstein/01234567/other/s1").sha == tip


def test_the_candidate_of_a_task_that_was_split_is_the_tip_that_its_subtasks_have_made(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    """By its step: it has no session whose ref could be fetched, its work is in the ref that it
    lands on."""
    base = origin.commit({"a": "1\n"})
    before = origin.commit({"b": "2\n"}, base)
    tip = origin.commit({"c": "3\n"}, before, ref=INTEGRATION)

    result = do_prepare(tip, ref=INTEGRATION, onto=INTEGRATION)

    assert (result.base, result.sha, result.changed.files) == (tip, tip, 0)
    assert result.tree == origin.tip(f"{tip}^{{tree}}")
    assert reason(lambda: do_prepare(before, ref=INTEGRATION, onto=INTEGRATION)) == "RefMoved"
    assert origin.git("for-each-ref", CANDIDATE) == ""
    assert origin.tip(INTEGRATION) == tip


def test_a_plan_is_merged_with_both_parents(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    base = origin.commit({"a": "1\n"})
    first = origin.commit({"b": "2\n"}, base)
    second = origin.commit({"c": "3\n"}, first, ref=INTEGRATION)
    tip = origin.commit({"d": "4\n"}, base, ref=TARGET)
    result = do_prepare(second, ref=INTEGRATION, onto=TARGET, merge=True)
    parents = origin.git("rev-list", "--parents", "-1", result.sha)
    assert parents == f"{result.sha} {tip} {second}"


@pytest.mark.parametrize("moved", [False, True])
def test_a_plan_is_squashed_to_one_commit_wherever_the_target_is(
    origin: Origin, do_prepare: Callable[..., PrepareResult], moved: bool
) -> None:
    tip = base = origin.commit({"a": "1\n"}, ref=TARGET)
    first = origin.commit({"b": "2\n"}, base)
    second = origin.commit({"c": "3\n"}, first, ref=INTEGRATION)
    if moved:
        tip = origin.commit({"d": "4\n"}, base, ref=TARGET)
    result = do_prepare(second, ref=INTEGRATION, onto=TARGET)
    assert origin.git("rev-list", "--parents", "-1", result.sha) == f"{result.sha} {tip}"
    names = origin.git("ls-tree", "-r", "--name-only", result.tree).split()
    assert names == ["a", "b", "c", *(["d"] if moved else [])]
    assert (result.tree == origin.tip(f"{second}^{{tree}}")) != moved
    assert result.changed.files == 2


def test_a_session_ref_that_moved_is_refused(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    base = origin.commit({"a": "1\n"}, ref=INTEGRATION)
    verified = origin.commit({"b": "2\n"}, base)
    origin.commit({"b": "swapped\n"}, base, ref=SESSION)
    assert reason(lambda: do_prepare(verified)) == "RefMoved"


def test_histories_without_a_common_commit_are_no_merge(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    origin.commit({"a": "1\n"}, ref=INTEGRATION)
    work = origin.commit({"b": "2\n"}, ref=SESSION)
    assert reason(lambda: do_prepare(work)) == "InternalError"


def test_a_candidate_is_by_its_author_and_its_committer(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    base = origin.commit({"a": "1\n"})
    work = origin.commit({"b": "2\n"}, base, ref=SESSION)
    origin.commit({"c": "3\n"}, base, ref=INTEGRATION)
    message = "Work\n\nBernstein-Task: t\nSigned-off-by: R. O'Bot <r@example.com>\n"
    text = CommitText(message, "Ada É", "ada@example.com", "R. O'Bot", "r@example.com")

    sha = do_prepare(work, commit=text).sha

    shown = origin.git("show", "-s", "--format=%an <%ae> %cn <%ce>", sha)
    assert shown == "Ada É <ada@example.com> R. O'Bot <r@example.com>"
    trailer = origin.git("show", "-s", "--format=%(trailers:key=Signed-off-by,valueonly)", sha)
    assert trailer.strip() == "R. O'Bot <r@example.com>"


def test_the_message_author_and_committer_of_a_candidate_are_required(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    base = origin.commit({"a": "1\n"})
    work = origin.commit({"b": "2\n"}, base, ref=SESSION)
    origin.commit({"c": "3\n"}, base, ref=INTEGRATION)
    for broken in (
        CommitText("m", "", "x@y"),
        CommitText("m", "<>", "x@y"),
        CommitText(" ", "a", ""),
        CommitText("m", "a", "x@y", "<>", "x@y"),
    ):
        assert reason(lambda b=broken: do_prepare(work, commit=b)) == "InvalidConfig"  # type: ignore[misc]


def test_remote_refs_are_named_in_full_or_are_branches() -> None:
    assert git.full_ref("main") == "refs/heads/main"
    assert git.full_ref(INTEGRATION) == INTEGRATION


def test_a_conflict_shows_both_sides_and_what_is_around(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    far = "".join(f"{n}\n" for n in range(20))
    base = origin.commit({"a b[1].py": f"{far}old\nend\n", "gone": "1\n"})
    work = origin.commit({"a b[1].py": f"{far}mine\nend\n", "gone": "2\n"}, base, ref=SESSION)
    others: dict[str, bytes | str | None] = {"a b[1].py": f"{far}theirs\nend\n", "gone": None}
    origin.commit(others, base, ref=INTEGRATION)
    result = do_prepare(work)
    assert result.conflicts == ("a b[1].py", "gone")
    tip = origin.tip(INTEGRATION)
    assert result.sides.splitlines() == [
        *("a b[1].py:", "...", "18", "19", f"<<<<<<< {tip}", "theirs", "=======", "mine"),
        *(f">>>>>>> {work}", "end", "gone:", "(what landed before has no such file)"),
    ]


@pytest.mark.parametrize(("mine", "others"), [("x", "y"), ("ö", "ä")])
def test_of_a_large_conflict_some_of_both_sides_is_shown(
    origin: Origin, do_prepare: Callable[..., PrepareResult], mine: str, others: str
) -> None:
    def wide(character: str) -> str:
        return "".join(f"{character * 150}{n}\n" for n in range(200))

    base = origin.commit({"a": "1\n"})
    work = origin.commit({"a": wide(mine)}, base, ref=SESSION)
    origin.commit({"a": wide(others)}, base, ref=INTEGRATION)
    result = do_prepare(work)
    assert termination.fits(result)
    assert mine * 100 in result.sides
    assert others * 100 in result.sides


def test_of_conflicts_in_many_files_as_much_is_shown_as_fits(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    files = [f"file-{'ö' * 60}-{n:02}" for n in range(25)]
    base = origin.commit(dict.fromkeys(files, "1\n"))
    work = origin.commit(dict.fromkeys(files, "2\n"), base, ref=SESSION)
    origin.commit(dict.fromkeys(files, "3\n"), base, ref=INTEGRATION)
    result = do_prepare(work)
    assert termination.fits(result)
    assert result.conflicts[0] == files[0]
