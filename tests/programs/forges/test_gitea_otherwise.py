"""A real Gitea whose administrator gives short pages, whose people write drafts in their own way,
and whose repository gets another name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bernstein.forges.gitea import GITEA
from tests.gitea import Gitea, gitea
from tests.programs.forges.repository import BOT, BRANCHES, OWNER, STRANGER, Repository


@pytest.fixture(scope="module")
def server() -> Iterator[Gitea]:
    with gitea(page=2) as server:
        for name in (OWNER, BOT, STRANGER):
            server.add_user(name)
        yield server


def test_ours_is_found_behind_newer_ones_on_pages_that_are_short(repository: Repository) -> None:
    pull = repository.open()
    for number in range(4):
        branch = f"other-{number}"
        repository.server.commit(
            OWNER, repository.name, f"{branch}.py", "X = 1\n", branch="main", new=branch
        )
        repository.api("POST", "/pulls", head=branch, base="main", title=branch)

    assert repository.run(GITEA.find(repository.at, BRANCHES)) is not None
    assert repository.open().number == pull.number


def test_a_check_behind_the_first_short_page_counts(repository: Repository) -> None:
    pull = repository.open()
    for number in range(5):
        state = "failure" if number == 0 else "success"
        repository.api("POST", f"/statuses/{pull.sha}", state=state, context=f"tests ({number})")

    told = repository.run(GITEA.checks(repository.at, pull))

    assert [each.name for each in told.failed] == ["tests (0)"]


@pytest.mark.parametrize("title", ["WIP:The shop", "wip: The shop", "[WIP]The shop"])
def test_a_draft_becomes_ready_however_people_write_it(repository: Repository, title: str) -> None:
    pull = repository.open()
    repository.api("PATCH", f"/pulls/{pull.number}", title=title)
    (told,) = repository.api("GET", "/pulls")
    assert told["draft"] is True

    ready = repository.open()

    assert (ready.description.draft, ready.description.title) == (False, "The shop")
    (told,) = repository.api("GET", "/pulls")
    assert (told["title"], told["draft"]) == ("The shop", False)


def test_a_repository_that_was_renamed_is_told_so_and_not_followed(repository: Repository) -> None:
    repository.open()
    repository.api("PATCH", "", name=f"{repository.name}-renamed")

    failed = repository.failure()

    assert failed.reason == "ForgeAddressInvalid"
    assert "the repository was renamed or moved" in failed.message


def test_what_is_said_behind_the_first_short_page_is_heard(repository: Repository) -> None:
    pull = repository.open()
    for number in range(5):
        said = {"event": "COMMENT", "body": f"comment {number}"}
        repository.api("POST", f"/pulls/{pull.number}/reviews", **said)

    told = repository.run(GITEA.comments(repository.at, pull))

    assert {each.text for each in told} == {f"comment {number}" for number in range(5)}
