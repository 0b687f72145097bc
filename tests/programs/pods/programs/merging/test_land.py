"""land against a real server: nothing lost, nothing merged twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bernstein.api.programs.commit import CommitText
from bernstein.api.programs.merge import LandConfig, LandResult, PrepareConfig, PrepareResult
from bernstein.pods.git.client import Git, GitError
from bernstein.pods.programs import land, prepare
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.refs import (
    CANDIDATE,
    INTEGRATION,
    reason,
)


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
        text = CommitText(self.name, "x", "x@example.com")
        candidate = f"{self.ref}/candidate"
        if self.prepared is None:
            remote = self.origin.remote("work")
            values = (f"{self.ref}/s1", self.work, INTEGRATION, candidate, text, git_dir)
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
