"""The programs that open and watch pull requests, with a real Gitea."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.programs.forge import (
    ForgeAddress,
    ProposeConfig,
    ProposeResult,
    SeenPullRequest,
    WatchConfig,
)
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.core.sanitise import without_quotes
from bernstein.forges.errors import ForgeError
from bernstein.forges.gitea import GITEA
from bernstein.pods.errors import PodError
from bernstein.pods.programs import propose, watch
from tests.programs.forges.repository import BRANCHES, OWNER, Repository


def address(repository: Repository) -> ForgeAddress:
    return ForgeAddress("gitea", repository.url, str(repository.token))


def opened(repository: Repository, body: str = "Verified.\n") -> ProposeResult:
    config = ProposeConfig(
        address(repository), BRANCHES.head, BRANCHES.base, "Add a shop", body, labels=("bernstein",)
    )
    return propose.run(config)


def seen(
    repository: Repository, *pulls: SeenPullRequest, seconds: int = 0
) -> tuple[SeenPullRequest, ...]:
    config = WatchConfig(address(repository), pulls, look_seconds=1, seconds=seconds)
    return watch.run(config).changed


def test_a_pull_request_is_opened_once_however_often_its_job_runs(repository: Repository) -> None:
    first, again = opened(repository), opened(repository, "Verified again.\n")

    assert (first.pull_request, first.url) == (again.pull_request, again.url)
    assert first.pull_request.state == "Open"
    assert first.pull_request.sha == repository.sha
    (listed,) = repository.api("GET", "/pulls?state=all")
    assert listed["body"].strip() == "Verified again."
    assert listed["html_url"] == first.url


def test_what_a_forge_refuses_is_told_with_its_reason_and_without_the_token(
    repository: Repository,
) -> None:
    token = repository.token.read_text()
    repository.token.write_text("f" * 40)

    with pytest.raises(PodError) as failed:
        opened(repository)
    assert failed.value.reason == "ForgeTokenRefused"
    assert token not in failed.value.message
    assert "f" * 40 not in failed.value.message
    told = without_quotes(failed.value.message, "it")
    assert told == "the forge answered 401; it has its words", "a sentence without them"


def test_what_has_not_changed_ends_with_nothing_to_tell(repository: Repository) -> None:
    assert seen(repository, opened(repository).pull_request) == ()


@pytest.mark.parametrize("ends", ["Merged", "Closed"])
def test_the_end_of_a_pull_request_ends_the_watch_at_once(
    repository: Repository, ends: str
) -> None:
    pull = opened(repository).pull_request

    def end() -> None:
        if ends == "Merged":
            repository.server.merge(OWNER, repository.name, pull.number)
        else:
            repository.api("PATCH", f"/pulls/{pull.number}", state="closed")

    (now,) = beside(end, lambda: seen(repository, pull, seconds=60))
    assert now == replace(pull, state=ends)


def test_a_commit_on_the_branch_is_seen(repository: Repository) -> None:
    pull = opened(repository).pull_request
    sha = repository.server.commit(OWNER, repository.name, "more.txt", "more", branch=BRANCHES.head)

    assert seen(repository, pull) == (replace(pull, sha=sha, ci="None"),)


def test_one_that_the_forge_does_not_show_is_missing_and_the_others_are_still_watched(
    repository: Repository,
) -> None:
    pull = opened(repository).pull_request
    gone = replace(pull, number=9999)
    repository.api("PATCH", f"/pulls/{pull.number}", state="closed")

    assert seen(repository, gone, pull) == (
        replace(gone, state="Missing"),
        replace(pull, state="Closed"),
    )


def test_what_its_ci_says_is_seen_and_none_is_worth_no_word(repository: Repository) -> None:
    pull = opened(repository).pull_request
    assert seen(repository, pull) == (), "nothing reports there"

    status = f"/statuses/{pull.sha}"
    repository.api("POST", status, state="failure", context="tests")
    assert seen(repository, pull) == (replace(pull, ci="Failed"),)
    assert seen(repository, replace(pull, ci="Failed")) == ()
    repository.api("POST", status, state="success", context="tests")
    assert seen(repository, replace(pull, ci="Failed")) == (replace(pull, ci="Passed"),)

    repository.api("PATCH", f"/pulls/{pull.number}", state="closed")
    ended = replace(pull, state="Closed", ci="Failed")
    assert seen(repository, replace(pull, ci="Failed")) == (ended,), "as it was seen last"


def test_where_nobody_can_say_what_ci_says_the_pull_request_is_watched_all_the_same(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull = opened(repository).pull_request

    def refused(self: Any, at: Any, pull: Any) -> Any:
        raise ForgeError(ForgeReason.RIGHTS_MISSING, "not for this token")
        yield

    monkeypatch.setattr(type(GITEA), "checks", refused)
    known = replace(pull, ci="Pending")
    assert seen(repository, pull) == seen(repository, known) == ()

    name, branch = repository.name, BRANCHES.head
    sha = repository.server.commit(OWNER, name, "more.txt", "more", branch=branch)
    assert seen(repository, known) == (replace(pull, sha=sha),), "of another commit nobody knows"


def test_one_that_was_merged_is_told_as_it_was_merged_whatever_is_at_its_branch_now(
    repository: Repository,
) -> None:
    pull = opened(repository).pull_request
    repository.server.merge(OWNER, repository.name, pull.number)
    name, branch = repository.name, BRANCHES.head
    repository.server.commit(OWNER, name, "late.txt", "late", branch=branch)
    assert seen(repository, pull) == (replace(pull, state="Merged"),)

    repository.api("DELETE", f"/branches/{branch.replace('/', '%2F')}")
    assert seen(repository, pull) == (replace(pull, state="Merged"),)
    assert opened(repository).pull_request.number == pull.number


def test_one_that_goes_to_another_branch_now_is_seen(repository: Repository) -> None:
    pull = opened(repository).pull_request
    repository.server.commit(OWNER, repository.name, "d.txt", "d", branch="main", new="dev")
    repository.api("PATCH", f"/pulls/{pull.number}", base="dev")

    assert seen(repository, pull) == (replace(pull, base="dev", ci="None", behind=True),)


@pytest.mark.parametrize("path", ["other.py", "shop.py"])
def test_that_its_branch_has_moved_is_seen_whether_it_conflicts_or_not(
    repository: Repository, path: str
) -> None:
    pull = opened(repository).pull_request
    repository.server.commit(OWNER, repository.name, path, "theirs", branch="main")

    outdated = replace(pull, behind=True)
    assert seen(repository, pull) == (replace(outdated, ci="None"),)
    assert seen(repository, outdated) == ()

    repository.api("PATCH", f"/pulls/{pull.number}", state="closed")
    assert seen(repository, outdated) == (replace(pull, state="Closed"),)


def test_one_that_cannot_be_read_keeps_no_other_one_from_being_told(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull = opened(repository).pull_request
    broken = replace(pull, number=pull.number + 1)
    get = type(GITEA).get

    def fails(self: Any, at: Any, number: int) -> Any:
        if number == broken.number:
            raise ForgeError(ForgeReason.ANSWER_INVALID, "no commit")
        return get(self, at, number)

    monkeypatch.setattr(type(GITEA), "get", fails)
    with pytest.raises(PodError) as failed:
        seen(repository, broken)
    assert failed.value.reason == "ForgeAnswerInvalid", "there is no other one"
    unread = replace(broken, unread="ForgeAnswerInvalid")
    assert seen(repository, broken, pull) == (unread,)

    repository.api("PATCH", f"/pulls/{pull.number}", state="closed")
    assert seen(repository, unread, pull) == (replace(pull, state="Closed"),)


def test_a_new_token_is_used_as_soon_as_its_file_has_it(
    repository: Repository, tmp_path: Path
) -> None:
    pull, token = opened(repository).pull_request, repository.token.read_text()
    repository.token.write_text("f" * 40)
    with pytest.raises(PodError):
        seen(repository, pull)

    repository.token.write_text(token)
    assert seen(repository, pull) == ()


def beside(
    act: Callable[[], None], watch: Callable[[], tuple[SeenPullRequest, ...]]
) -> tuple[SeenPullRequest, ...]:
    timer = threading.Timer(1.5, act)
    timer.start()
    try:
        return watch()
    finally:
        timer.join()
