"""Pull requests on a real Gitea: opened once, kept up to date, and looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from bernstein.forges.gitea import GITEA
from tests.programs.forges.repository import (
    BOT,
    BRANCHES,
    OWNER,
    SCOPES,
    STRANGER,
    WANTED,
    Repository,
)


def test_a_pull_request_is_opened_once_and_says_what_it_is_to_say(repository: Repository) -> None:
    first, again = repository.open(), repository.open()

    assert again.number == first.number
    assert (again.state, again.sha, again.branches) == ("Open", repository.sha, BRANCHES)
    assert again.description.title == "Add a shop"
    assert again.description.labels == ("bernstein",)
    assert again.url == f"{repository.server.url}/{OWNER}/{repository.name}/pulls/1"
    (told,) = repository.api("GET", "/pulls")
    assert (told["title"], told["body"].strip()) == ("Add a shop", WANTED.body.strip())
    assert told["user"]["login"] == BOT


class Deaf(httpx.AsyncHTTPTransport):
    """A network that brings the request, and loses the answer to the first that makes something."""

    lost = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if request.method == "POST" and not self.lost:
            self.lost = True
            raise httpx.ReadError("lost", request=request)
        return response


def test_one_whose_making_was_never_heard_of_is_found_again(repository: Repository) -> None:
    repository.transport = Deaf()
    assert repository.failure().reason == "ForgeUnreachable"

    repository.transport = None
    pull = repository.open()

    assert [each["number"] for each in repository.api("GET", "/pulls")] == [pull.number]
    assert pull.description.labels == ("bernstein",)


def test_a_draft_becomes_ready_and_its_text_is_changed_in_place(repository: Repository) -> None:
    draft = repository.open(replace(WANTED, draft=True))
    assert draft.description.draft
    assert draft.description.title == "Add a shop"
    (told,) = repository.api("GET", "/pulls")
    assert (told["title"], told["draft"]) == ("WIP: Add a shop", True)
    repository.api("POST", f"/issues/{draft.number}/labels", labels=["bernstein"])

    ready = repository.open(replace(WANTED, body="Verified and complete."))

    assert ready.number == draft.number
    (told,) = repository.api("GET", "/pulls")
    assert (told["title"], told["draft"], told["body"]) == (
        "Add a shop",
        False,
        "Verified and complete.",
    )


def test_what_people_have_made_of_it_stays_and_its_text_is_ours(repository: Repository) -> None:
    drafts = replace(WANTED, draft=True)
    draft = repository.open(drafts)
    path = f"/pulls/{draft.number}"
    repository.api("PATCH", path, title="[WIP] The shop that we want")
    repository.open(replace(drafts, body="Verified again."))
    (told,) = repository.api("GET", "/pulls")
    assert told["title"] == "[WIP] The shop that we want", "as they write it"
    assert (told["draft"], told["body"]) == (True, "Verified again.")

    repository.api("PATCH", path, title="The shop that we want")
    repository.open(replace(drafts, body="Verified once more."))
    (told,) = repository.api("GET", "/pulls")
    assert (told["title"], told["draft"]) == ("The shop that we want", False)
    assert told["body"] == "Verified once more."


def test_what_becomes_of_it_is_told(repository: Repository) -> None:
    pull = repository.open()
    moved = repository.server.commit(
        OWNER, repository.name, "more.py", "x = 1\n", branch=BRANCHES.head
    )
    seen = repository.run(GITEA.get(repository.at, pull.number))
    assert (seen.state, seen.sha) == ("Open", moved)

    repository.api("PATCH", f"/pulls/{pull.number}", state="closed")
    assert repository.run(GITEA.get(repository.at, pull.number)).state == "Closed"
    assert repository.open().state == "Closed", "a person has closed it: no other one is opened"

    repository.api("PATCH", f"/pulls/{pull.number}", state="open")
    repository.server.merge(OWNER, repository.name, pull.number)
    merged = repository.run(GITEA.get(repository.at, pull.number))
    assert (merged.state, merged.sha) == ("Merged", moved)


def test_a_check_that_stands_on_no_first_page_counts(repository: Repository) -> None:
    pull = repository.open()
    for number in range(51):
        state = "failure" if number == 0 else "success"
        repository.api("POST", f"/statuses/{pull.sha}", state=state, context=f"tests ({number})")
    told = repository.run(GITEA.checks(repository.at, pull))
    assert [each.name for each in told.failed] == ["tests (0)"]

    repository.api("POST", f"/statuses/{pull.sha}", state="success", context="tests (0)")
    assert repository.run(GITEA.checks(repository.at, pull)).state == "Passed"


def test_what_its_checks_say_is_told(repository: Repository) -> None:
    pull = repository.open()

    def checks() -> Any:
        return repository.run(GITEA.checks(repository.at, pull))

    assert checks().state == "None"
    for state, context in (("success", "lint"), ("pending", "tests")):
        repository.api("POST", f"/statuses/{pull.sha}", state=state, context=context)
    assert checks().state == "Pending"
    failure = {"state": "failure", "context": "tests", "description": "3 failed"}
    repository.api("POST", f"/statuses/{pull.sha}", **failure)
    told = checks()
    assert told.state == "Failed"
    assert [(each.name, each.text) for each in told.failed] == [("tests", "3 failed")]
    repository.api("POST", f"/statuses/{pull.sha}", state="success", context="tests")
    assert checks().state == "Passed"


def test_comments_are_told_with_their_authors_files_and_lines(repository: Repository) -> None:
    pull = repository.open()
    repository.api("POST", f"/issues/{pull.number}/comments", user=STRANGER, body="Nice shop!")
    line = {"path": "shop.py", "body": "Why 1?", "new_position": 1}
    review: dict[str, Any] = {
        "event": "REQUEST_CHANGES",
        "body": "Please change it.",
        "comments": [line],
    }
    repository.api("POST", f"/pulls/{pull.number}/reviews", **review)

    told = repository.run(GITEA.comments(repository.at, pull))

    facts = [(each.author, each.text, each.path, each.line, each.official) for each in told]
    assert facts == [
        (STRANGER, "Nice shop!", "", 0, False),
        (OWNER, "Please change it.", "", 0, True),
        (OWNER, "Why 1?", "shop.py", 1, True),
    ]
    assert len({each.id for each in told}) == 3


def test_who_may_write_is_told_to_who_may_ask(repository: Repository) -> None:
    def may_write(user: str) -> bool | None:
        return repository.run(GITEA.may_write(repository.at, user))

    assert may_write(OWNER) is None, "the token's account does not administrate the repository"
    repository.token.write_text(repository.server.token(OWNER, *SCOPES))
    assert [may_write(user) for user in (OWNER, BOT, STRANGER, "nobody-at-all")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_pull_request_from_a_fork_is_not_taken_for_ours(repository: Repository) -> None:
    fork = {"name": f"fork-{repository.name}"}
    repository.api("POST", "/forks", user=STRANGER, **fork)
    repository.server.commit(STRANGER, fork["name"], "evil.py", "x\n", branch=BRANCHES.head)
    theirs = {"head": f"{STRANGER}:{BRANCHES.head}", "base": "main", "title": "Add a shop"}
    foreign = repository.api("POST", "/pulls", user=STRANGER, **theirs)

    ours = repository.open()

    assert ours.number != foreign["number"]
    assert ours.sha == repository.sha


@pytest.mark.parametrize(
    ("scopes", "reason"),
    [(("read:repository", "read:issue"), "ForgeRightsMissing"), ((), "ForgeTokenRefused")],
)
def test_a_token_without_the_right_is_refused_in_words(
    repository: Repository, scopes: tuple[str, ...], reason: str
) -> None:
    token = repository.server.token(BOT, *scopes) if scopes else "f" * 40
    repository.token.write_text(token)

    failed = repository.failure()

    assert failed.reason == reason
    assert failed.remedy


def test_a_repository_that_the_token_cannot_see_is_told(repository: Repository) -> None:
    repository.api("PATCH", "", private=True)
    repository.token.write_text(repository.server.token(STRANGER, *SCOPES))

    assert repository.failure().reason == "ForgeNotFound"


def test_a_branch_that_is_not_there_is_told(repository: Repository) -> None:
    repository.api("DELETE", f"/branches/{BRANCHES.head}")

    failed = repository.failure()

    assert (failed.reason, failed.status) == ("ForgeNotFound", 404)


def test_a_server_that_is_gone_is_told_and_what_it_had_is_there_again(
    repository: Repository,
) -> None:
    pull = repository.open()
    repository.server.stop()
    try:
        assert repository.failure().reason == "ForgeUnreachable"
    finally:
        repository.server.start()
    assert repository.open().number == pull.number
