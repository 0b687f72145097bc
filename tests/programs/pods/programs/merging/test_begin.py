"""begin against a real server: it starts at the target, and on nothing that others pushed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from bernstein.api.programs.merge import BeginResult
from bernstein.pods.git.client import Git
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.refs import INTEGRATION, TARGET, reason

Begin = Callable[..., BeginResult]


def test_begin_starts_at_the_target_and_a_repeat_changes_nothing(
    origin: Origin, do_begin: Begin
) -> None:
    first = origin.commit({"a": "1"}, ref=TARGET)
    assert do_begin() == BeginResult(first, first, INTEGRATION)
    assert do_begin() == BeginResult(first, first, INTEGRATION)
    second = origin.commit({"a": "2"}, first, ref=TARGET)
    assert do_begin(again=True) == BeginResult(second, second, INTEGRATION)
    assert origin.tip(INTEGRATION) == second


def test_begin_without_the_target_says_so(origin: Origin, do_begin: Begin) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/other")
    assert reason(do_begin) == "RefNotFound"


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("foreign", ["on the target", "unrelated"])
def test_a_ref_that_others_made_is_not_believed(
    origin: Origin, do_begin: Begin, foreign: str, again: bool
) -> None:
    tip = origin.commit({"pyproject.toml": "[tool.ruff]\n"}, ref=TARGET)
    parents = (tip,) if foreign == "on the target" else ()
    origin.commit({"pyproject.toml": "[tool.ruff.lint]\nselect = []\n"}, *parents, ref=INTEGRATION)

    assert reason(partial(do_begin, again=again)) == "IntegrationExists"

    origin.git("update-ref", "-d", INTEGRATION)
    assert do_begin(again=again) == BeginResult(tip, tip, INTEGRATION)


def test_a_first_begin_believes_no_older_commit_of_the_target(
    origin: Origin, do_begin: Begin
) -> None:
    first = origin.commit({"a": "1"}, ref=INTEGRATION)
    origin.commit({"a": "2"}, first, ref=TARGET)
    assert reason(do_begin) == "IntegrationExists"


def test_after_a_failed_begin_no_older_commit_of_the_target_is_the_base(
    origin: Origin, do_begin: Begin
) -> None:
    """Somebody has put the ref at the target of a year ago, whose linter knew less."""
    old = origin.commit({"ruff.toml": "lint.select = []\n"}, ref=INTEGRATION)
    recent = origin.commit({"ruff.toml": "lint.select = ['ALL']\n"}, old)
    tip = origin.commit({"a": "2"}, recent, ref=TARGET)

    assert do_begin(again=True) == BeginResult(tip, tip, INTEGRATION)
    assert origin.tip(INTEGRATION) == tip


def test_begin_goes_on_from_what_a_rival_of_the_same_plan_made(
    origin: Origin, do_begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = origin.commit({"a": "1"})
    second = origin.commit({"a": "2"}, first, ref=TARGET)
    push = Git.push

    def late(self: Git, ref: str, sha: str, expect: str | None) -> None:
        if expect is None:
            origin.git("update-ref", INTEGRATION, first)
        push(self, ref, sha, expect)

    monkeypatch.setattr(Git, "push", late)
    assert do_begin(again=True) == BeginResult(second, second, INTEGRATION)
    assert origin.tip(INTEGRATION) == second


def test_begin_moves_no_ref_that_has_moved_since_it_was_read(
    origin: Origin, do_begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = origin.commit({"a": "1"}, ref=INTEGRATION)
    tip = origin.commit({"a": "2"}, first, ref=TARGET)
    foreign = origin.commit({"a": "3"}, tip)
    push = Git.push

    def late(self: Git, ref: str, sha: str, expect: str | None) -> None:
        origin.git("update-ref", INTEGRATION, foreign)
        push(self, ref, sha, expect)

    monkeypatch.setattr(Git, "push", late)
    assert reason(partial(do_begin, again=True)) == "RefMoved"
    assert origin.tip(INTEGRATION) == foreign
