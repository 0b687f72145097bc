"""Who may only read a repository may open a pull request of any branch, on a real Gitea: such a one
is not ours."""

from __future__ import annotations

import pytest

from bernstein.forges.gitea import GITEA
from bernstein.forges.operations import close, ensure
from tests.programs.forges.repository import (
    BOT,
    BRANCHES,
    OWNER,
    SCOPES,
    STRANGER,
    WANTED,
    Repository,
)


@pytest.fixture
def foreign(repository: Repository) -> int:
    """The number of one that somebody opened who may only read."""
    at = f"/collaborators/{STRANGER}"
    repository.api("PUT", at, permission="read")
    told = repository.api(
        "POST", "/pulls", user=STRANGER, head=BRANCHES.head, base=BRANCHES.base, title="Send money"
    )
    return int(told["number"])


def with_scopes(repository: Repository, *scopes: str) -> None:
    repository.token.write_text(repository.server.token(BOT, *SCOPES, *scopes))


@pytest.mark.parametrize("scopes", [(), ("read:user",)])
def test_one_of_somebody_else_is_not_taken_for_ours(
    repository: Repository, foreign: int, scopes: tuple[str, ...]
) -> None:
    with_scopes(repository, *scopes)

    failure = repository.failure()

    assert failure.reason == "ForgeOpenedByOther"
    assert f"{STRANGER} has opened pull request {foreign} of {BRANCHES.head}" in str(failure)
    (told,) = repository.api("GET", "/pulls")
    assert (told["title"], told["labels"]) == ("Send money", [])


def test_once_it_is_closed_ours_is_opened(repository: Repository, foreign: int) -> None:
    """That its author has closed it refuses nothing."""
    repository.api("PATCH", f"/pulls/{foreign}", user=STRANGER, state="closed")

    ours = repository.open()

    assert (ours.number != foreign, ours.state, ours.author) == (True, "Open", BOT)


def test_one_of_ours_that_is_known_is_not_hidden_by_a_newer_one(repository: Repository) -> None:
    ours = repository.open()
    repository.api("PATCH", f"/pulls/{ours.number}", state="closed")
    repository.api("PUT", f"/collaborators/{STRANGER}", permission="read")
    ends = {"head": BRANCHES.head, "base": BRANCHES.base}
    repository.api("POST", "/pulls", user=STRANGER, title="Mine", **ends)

    found = repository.run(ensure(GITEA, repository.at, BRANCHES, WANTED, ours.number))

    assert (found.number, found.state) == (ours.number, "Closed")


@pytest.mark.parametrize("scopes", [(), ("read:user",)])
def test_one_of_ours_whose_number_is_not_known_is_found(
    repository: Repository, scopes: tuple[str, ...]
) -> None:
    with_scopes(repository, *scopes)

    assert repository.open().number == repository.open().number


def test_a_cancel_closes_what_is_ours_alone(repository: Repository, foreign: int) -> None:
    assert repository.run(close(GITEA, repository.at, BRANCHES, 0, "Cancelled.")) is None

    (told,) = repository.api("GET", "/pulls")
    assert (told["number"], told["state"], told["user"]["login"]) == (foreign, "open", STRANGER)


def test_what_people_merged_is_merged_whoever_has_opened_it(
    repository: Repository, foreign: int
) -> None:
    repository.api("POST", f"/pulls/{foreign}/merge", user=OWNER, Do="merge")

    assert repository.open().state == "Merged"
