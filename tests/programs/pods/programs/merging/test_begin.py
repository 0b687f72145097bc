"""begin against a real server: it starts at the target, and on nothing that others pushed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from bernstein.api.pod import BeginResult
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
    origin.commit({"a": "2"}, first, ref=TARGET)
    assert do_begin(again=True) == BeginResult(first, first, INTEGRATION)
    assert origin.tip(INTEGRATION) == first


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


def test_begin_takes_what_a_rival_of_the_same_plan_made(
    origin: Origin, do_begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = origin.commit({"a": "1"})
    origin.commit({"a": "2"}, first, ref=TARGET)
    push = Git.push

    def late(self: Git, ref: str, sha: str, expect: str | None) -> None:
        origin.git("update-ref", INTEGRATION, first)
        push(self, ref, sha, expect)

    monkeypatch.setattr(Git, "push", late)
    assert do_begin(again=True) == BeginResult(first, first, INTEGRATION)
