"""The program that closes the pull request of what was cancelled, with a real Gitea."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.programs.forge import ForgeAddress, ProposeConfig, ProposeResult
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.forges.errors import ForgeError
from bernstein.forges.gitea import GITEA
from bernstein.pods.errors import PodError
from bernstein.pods.programs import propose
from tests.programs.forges.repository import BRANCHES, OWNER, Repository

SAID = "The Plan `team/shop` was cancelled, so this pull request is closed.\n"


def close(repository: Repository, number: int, head: str = BRANCHES.head) -> ProposeResult:
    address = ForgeAddress("gitea", repository.url, str(repository.token))
    return propose.run(
        ProposeConfig(address, head, BRANCHES.base, "", SAID, close=True, number=number)
    )


def said(repository: Repository, number: int) -> list[str]:
    told = repository.api("GET", f"/issues/{number}/comments")
    return [each["body"].strip() for each in told]


def state(repository: Repository, number: int) -> str:
    return str(repository.api("GET", f"/pulls/{number}")["state"])


def test_it_is_closed_and_told_why_once_however_often_its_job_runs(repository: Repository) -> None:
    number = repository.open().number

    first, again = close(repository, number), close(repository, number)
    assert (first.pull_request, first.url) == (again.pull_request, again.url)
    assert (first.pull_request.state, first.pull_request.sha) == ("Closed", repository.sha)
    assert state(repository, number) == "closed"
    assert said(repository, number) == [SAID.strip()]


def test_one_of_which_nobody_knows_the_number_is_found_by_its_branch(
    repository: Repository,
) -> None:
    assert close(repository, 0).pull_request.state == "Missing", "none was opened"

    number = repository.open().number
    assert close(repository, 0).pull_request.number == number
    assert state(repository, number) == "closed"


def test_one_that_was_merged_meanwhile_is_left_as_it_is(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = repository.open().number
    close_it = type(GITEA).close

    def late(self: Any, at: Any, pull: Any) -> Any:
        repository.server.merge(OWNER, repository.name, number)
        return close_it(self, at, pull)

    monkeypatch.setattr(type(GITEA), "close", late)
    assert close(repository, number).pull_request.state == "Merged"
    monkeypatch.undo()
    assert close(repository, number).pull_request.state == "Merged"
    assert said(repository, number) == []


def test_one_of_another_branch_is_nobodys_to_close(repository: Repository) -> None:
    number = repository.open().number

    with pytest.raises(PodError) as failed:
        close(repository, number, head="bernstein/web-11112222")
    assert failed.value.reason == "ForgeNotFound"
    assert state(repository, number) == "open"


def test_that_it_cannot_be_told_why_keeps_it_from_nothing(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = repository.open().number

    def refused(self: Any, at: Any, pull: Any, text: str) -> Any:
        raise ForgeError(ForgeReason.RIGHTS_MISSING, "not for this token")
        yield

    monkeypatch.setattr(type(GITEA), "comment", refused)
    assert close(repository, number).pull_request.state == "Closed"


def test_what_a_person_has_pushed_to_it_is_closed_with_it(repository: Repository) -> None:
    number = repository.open().number
    name, branch = repository.name, BRANCHES.head
    sha = repository.server.commit(OWNER, name, "more.txt", "more", branch=branch)

    closed = close(repository, number).pull_request
    assert (closed.state, closed.sha) == ("Closed", sha)
