"""begin, prepare and land against a real server: nothing lost, nothing merged twice."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bernstein.api.pod import (
    BeginConfig,
    BeginResult,
    CommitText,
    LandConfig,
    LandResult,
    PrepareConfig,
    PrepareResult,
)
from bernstein.pods.errors import PodError
from bernstein.pods.git import client as git
from bernstein.pods.git.client import Git, GitError
from bernstein.pods.programs import begin, land, prepare
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import plain_env

TARGET = "refs/heads/main"
INTEGRATION = "refs/bernstein/01234567/integration"
SESSION = "refs/bernstein/01234567/add-api/s1"
CANDIDATE = "refs/bernstein/01234567/add-api/candidate"
TEXT = CommitText("Bernstein", "bernstein@example.com", "Add the API\n\nBernstein-Task: add-api\n")


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[], str]:
    """Names of fresh folders: every run of a program is a new pod."""
    count = iter(range(1000))
    return lambda: str(tmp_path / f"pod-{next(count)}" / "repo.git")


@pytest.fixture
def do_begin(origin: Origin, folder: Callable[[], str]) -> Callable[[], BeginResult]:
    remote = origin.remote("work")
    return lambda: begin.run(BeginConfig(remote, "main", INTEGRATION, folder()))


@pytest.fixture
def do_prepare(origin: Origin, folder: Callable[[], str]) -> Callable[..., PrepareResult]:
    def run(sha: str, **changes: Any) -> PrepareResult:
        values: dict[str, Any] = {"ref": SESSION, "onto": INTEGRATION, "candidate": CANDIDATE}
        values |= {"remote": origin.remote("work"), "git_dir": folder(), "commit": TEXT}
        return prepare.run(PrepareConfig(**values | {"sha": sha} | changes))

    return run


@pytest.fixture
def do_land(origin: Origin, folder: Callable[[], str]) -> Callable[..., LandResult]:
    def run(sha: str, expect: str | None, **changes: Any) -> LandResult:
        values: dict[str, Any] = {"ref": CANDIDATE, "onto": INTEGRATION, "sha": sha}
        values |= {"tree": origin.tip(f"{sha}^{{tree}}"), "expect": expect}
        values |= {"remote": origin.remote("deliver"), "git_dir": folder()}
        return land.run(LandConfig(**values | changes))

    return run


def reason(action: Callable[[], object]) -> str:
    with pytest.raises(PodError) as raised:
        action()
    return raised.value.reason


# --- begin --------------------------------------------------------------------------------------


def test_begin_starts_at_the_target_and_a_repeat_changes_nothing(
    origin: Origin, do_begin: Callable[[], BeginResult]
) -> None:
    first = origin.commit({"a": "1"}, ref=TARGET)
    assert do_begin() == BeginResult(first, first, INTEGRATION)
    origin.commit({"a": "2"}, first, ref=TARGET)
    assert do_begin() == BeginResult(first, first, INTEGRATION)
    assert origin.tip(INTEGRATION) == first


def test_begin_without_the_target_says_so(
    origin: Origin, do_begin: Callable[[], BeginResult]
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/other")
    assert reason(do_begin) == "RefNotFound"


def test_begin_takes_what_a_rival_made(
    origin: Origin, do_begin: Callable[[], BeginResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = origin.commit({"a": "1"})
    origin.commit({"a": "2"}, first, ref=TARGET)
    push = Git.push

    def late(self: Git, ref: str, sha: str, expect: str | None) -> None:
        origin.git("update-ref", INTEGRATION, first)
        push(self, ref, sha, expect)

    monkeypatch.setattr(Git, "push", late)
    assert do_begin() == BeginResult(first, first, INTEGRATION)


# --- prepare ------------------------------------------------------------------------------------


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
    assert result == PrepareResult(tip, "", "", result.changed, ("a", "é"))
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


# --- land ---------------------------------------------------------------------------------------


@pytest.fixture
def ready(origin: Origin) -> tuple[str, str]:
    """(tip of the integration ref, candidate on it)."""
    tip = origin.commit({"a": "1\n"}, ref=INTEGRATION)
    return tip, origin.commit({"b": "2\n"}, tip, ref=CANDIDATE)


def test_lands_the_commit_and_a_repeat_finds_it_landed(
    origin: Origin, ready: tuple[str, str], do_land: Callable[..., LandResult]
) -> None:
    tip, sha = ready
    assert do_land(sha, tip) == LandResult("Landed", sha)
    assert origin.tip(INTEGRATION) == sha
    assert do_land(sha, tip) == LandResult("Landed", sha)
    later = origin.commit({"c": "3\n"}, sha, ref=INTEGRATION)
    origin.git("update-ref", "-d", CANDIDATE)
    assert do_land(sha, tip) == LandResult("Landed", later)


def test_who_only_looks_pushes_nothing_and_needs_no_right_to_push(
    origin: Origin, ready: tuple[str, str], do_land: Callable[..., LandResult]
) -> None:
    tip, sha = ready
    reader = origin.remote("read")
    assert do_land(sha, None, remote=reader) == LandResult("Moved", tip)
    assert origin.tip(INTEGRATION) == tip

    do_land(sha, tip)

    assert do_land(sha, None, remote=reader) == LandResult("Landed", sha)


def test_a_tip_elsewhere_is_moved_and_untouched(
    origin: Origin, ready: tuple[str, str], do_land: Callable[..., LandResult]
) -> None:
    tip, sha = ready
    other = origin.commit({"c": "3\n"}, tip, ref=INTEGRATION)
    assert do_land(sha, tip) == LandResult("Moved", other)
    assert origin.tip(INTEGRATION) == other


def test_a_deleted_branch_is_not_made_anew(
    origin: Origin, ready: tuple[str, str], do_land: Callable[..., LandResult]
) -> None:
    tip, sha = ready
    origin.git("update-ref", "-d", INTEGRATION)
    assert reason(lambda: do_land(sha, tip)) == "RefNotFound"


def test_only_the_verified_tree_on_the_expected_base_lands(
    origin: Origin, ready: tuple[str, str], do_land: Callable[..., LandResult]
) -> None:
    tip, sha = ready
    elsewhere = origin.commit({"b": "2\n"}, ref="refs/bernstein/01234567/elsewhere/s1")
    cases: dict[str, Callable[[], object]] = {
        "TreeMismatch": lambda: do_land(sha, tip, tree=origin.tip(f"{tip}^{{tree}}")),
        "RefMoved": lambda: do_land(elsewhere, tip),
        "NotOnBase": lambda: do_land(elsewhere, tip, ref="refs/bernstein/01234567/elsewhere/s1"),
    }
    for expected, action in cases.items():
        assert reason(action) == expected
    assert origin.tip(INTEGRATION) == tip


def test_a_protected_branch_or_a_weak_credential_has_its_reason(
    origin: Origin, ready: tuple[str, str], do_land: Callable[..., LandResult]
) -> None:
    tip, sha = ready
    origin.git("update-ref", "refs/heads/protected", tip)
    assert reason(lambda: do_land(sha, tip, onto="refs/heads/protected")) == "BranchProtected"
    weak = {"onto": INTEGRATION, "remote": origin.remote("read")}
    assert reason(lambda: do_land(sha, tip, **weak)) == "CredentialRefused"
    assert origin.tip(INTEGRATION) == tip


def test_an_answer_lost_after_the_push_is_answered_by_the_remote(
    origin: Origin,
    ready: tuple[str, str],
    do_land: Callable[..., LandResult],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tip, sha = ready
    push = Git.push

    def lost(self: Git, ref: str, new: str, expect: str | None) -> None:
        push(self, ref, new, expect)
        raise GitError("RepositoryUnreachable", "the connection broke")

    monkeypatch.setattr(Git, "push", lost)
    assert do_land(sha, tip) == LandResult("Landed", sha)


def test_a_rival_between_look_and_push_wins(
    origin: Origin,
    ready: tuple[str, str],
    do_land: Callable[..., LandResult],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tip, sha = ready
    rival = origin.commit({"c": "3\n"}, tip)
    push = Git.push

    def late(self: Git, ref: str, new: str, expect: str | None) -> None:
        origin.git("update-ref", INTEGRATION, rival)
        push(self, ref, new, expect)

    monkeypatch.setattr(Git, "push", late)
    assert do_land(sha, tip) == LandResult("Moved", rival)
    assert origin.tip(INTEGRATION) == rival


class Crash(BaseException):
    """The pod dies here."""


STEPS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["done", "before push", "after push"])),
    min_size=4,
    max_size=6,
)


@settings(
    max_examples=max(2, settings().max_examples // 50),  # each is some 30 connections
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(steps=[("a", "after push"), ("b", "before push"), ("b", "done"), ("a", "after push")])
@given(steps=STEPS)
def test_whatever_crashes_every_task_lands_exactly_once(
    steps: list[tuple[str, str]],
    new_origin: Callable[[], Origin],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Tasks prepare and land in any order, with pods dying before or after their push."""
    origin, folder = new_origin(), tmp_path_factory.mktemp("pods")
    base = origin.commit({"log": "start\n"}, ref=INTEGRATION)
    tasks = {name: Lifecycle(name, origin, folder, base) for name in "ab"}
    for name, fate in steps:
        tasks[name].step(fate)
    for task in tasks.values():
        while task.state != "Landed":
            task.step("done")
    subjects = origin.git("log", "--format=%s", INTEGRATION).splitlines()
    assert sorted(subjects) == ["a", "b", "change"]
    assert {name: origin.git("show", f"{INTEGRATION}:{name}") for name in "ab"} == {
        name: f"work of {name}" for name in "ab"
    }


class Lifecycle:
    """One Task's merge as the operator drives it: prepare, land, and again when the tip moved."""

    def __init__(self, name: str, origin: Origin, folder: Path, base: str) -> None:
        self.name, self.origin, self.folder = name, origin, folder
        self.ref = f"refs/bernstein/01234567/{name}"
        self.work = origin.commit({name: f"work of {name}\n"}, base, ref=f"{self.ref}/s1")
        self.prepared: PrepareResult | None = None
        self.state = "Open"
        self.pods = 0

    def step(self, fate: str) -> None:
        """One Job, which may die; the operator learns only the results that got out."""
        if self.state == "Landed":
            return
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Git, "push", _dying(fate))
            try:
                self._job()
            except Crash:
                return

    def _job(self) -> None:
        self.pods += 1
        git_dir = str(self.folder / f"{self.name}-{self.pods}")
        text = CommitText("x", "x@example.com", self.name)
        candidate = f"{self.ref}/candidate"
        if self.prepared is None:
            remote = self.origin.remote("work")
            values = (f"{self.ref}/s1", self.work, INTEGRATION, candidate, git_dir, text)
            self.prepared = prepare.run(PrepareConfig(remote, *values))
            return
        made, remote = self.prepared, self.origin.remote("deliver")
        config = LandConfig(remote, candidate, made.sha, made.tree, INTEGRATION, made.base, git_dir)
        self.state = land.run(config).state
        if self.state == "Moved":
            self.prepared = None


def _dying(fate: str) -> Callable[[Git, str, str, str | None], None]:
    push = Git.push

    def act(self: Git, ref: str, sha: str, expect: str | None) -> None:
        if fate == "before push":
            raise Crash
        push(self, ref, sha, expect)
        if fate == "after push":
            raise Crash

    return act


def test_the_message_and_author_of_a_candidate_are_required(
    origin: Origin, do_prepare: Callable[..., PrepareResult]
) -> None:
    base = origin.commit({"a": "1\n"})
    work = origin.commit({"b": "2\n"}, base, ref=SESSION)
    origin.commit({"c": "3\n"}, base, ref=INTEGRATION)
    for broken in (
        CommitText("", "x@y", "m"),
        CommitText("<>", "x@y", "m"),
        CommitText("a", "", " "),
    ):
        assert reason(lambda b=broken: do_prepare(work, commit=b)) == "InvalidConfig"  # type: ignore[misc]


def test_remote_refs_are_named_in_full_or_are_branches() -> None:
    assert git.full_ref("main") == "refs/heads/main"
    assert git.full_ref(INTEGRATION) == INTEGRATION
