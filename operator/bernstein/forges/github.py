"""GitHub and GitHub Enterprise Server: REST API of 2022-11-28, and GraphQL for drafts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal
from urllib.parse import quote

from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import (
    PAGE,
    Branches,
    Call,
    CheckState,
    Comment,
    CommitChecks,
    Description,
    FailedCheck,
    PullRequest,
    RepositoryPath,
    Steps,
    both_ends,
    checked,
    counted,
    invalid,
    known,
    labelled,
    listed,
    located,
    login_of,
    newest,
    number_of,
    sha_of,
    told,
)
from bernstein.web.json_values import Json, items, mapping, text_of

_GRAPHQL = "graphql"
"""Only there a pull request becomes a draft, or ready."""
_DRAFTS = {
    True: "mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) "
    "{ pullRequest { isDraft } } }",
    False: "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) "
    "{ pullRequest { isDraft } } }",
}
_BEHIND = {"behind": True, "dirty": True, "clean": False, "unstable": False, "has_hooks": False}
"""By what it says of merging; where that is being found out, it does not say. Behind is one only
where a rule of the branch wants it up to date."""
_HIDDEN = {"blocked", "draft"}
"""What it says first, whether or not it would be behind once that is out of the way: a review or a
check that is missing, and that it is a draft."""
_STATES: Mapping[str, CheckState] = {"success": "Passed", "pending": "Pending"}
_FINE = {"success", "neutral", "skipped"}
_WRITES = {"write", "admin"}
_PAGE = {"per_page": str(PAGE)}


class GitHub:
    name: Final = "github"

    def locate(self, url: str) -> RepositoryPath:
        return located(url)

    def roots(self, repository: RepositoryPath, api: str | None) -> Mapping[str | None, str]:
        public = repository.server == "https://github.com"
        rest = api or ("https://api.github.com" if public else f"{repository.server}/api/v3")
        return {None: rest, _GRAPHQL: rest.rstrip("/").removesuffix("/v3")}

    def headers(self, token: str) -> Mapping[str, str]:
        return {
            "accept": "application/vnd.github+json",
            "authorization": f"Bearer {token}",
            "x-github-api-version": "2022-11-28",
        }

    def find(self, repository: RepositoryPath, branches: Branches) -> Steps[PullRequest | None]:
        query = {"head": f"{repository.owner}:{branches.head}", "base": branches.base}
        query |= {"state": "all", "sort": "created", "direction": "desc", **_PAGE}
        answer = yield Call("GET", f"{_repository(repository)}/pulls", query)
        return newest(map(_pull, listed(answer)), branches)

    def get(self, repository: RepositoryPath, number: int) -> Steps[PullRequest]:
        answer = mapping((yield Call("GET", f"{_repository(repository)}/pulls/{number}")))
        pull = _pull(answer)
        if pull.state != "Open" or text_of(answer.get("mergeable_state")) not in _HIDDEN:
            return pull
        return replace(pull, behind=(yield from self._lacks(repository, pull)))

    def is_ours(self, repository: RepositoryPath, pull: PullRequest) -> Steps[bool]:  # noqa: ARG002
        answer = yield from told(Call("GET", "/user"))
        # An app's token is nobody's, and is not told whose; no person opens one as an app.
        return login_of(answer) == pull.author != "" if answer else pull.by_app

    def _lacks(self, repository: RepositoryPath, pull: PullRequest) -> Steps[bool | None]:
        """Whether its base has commits that it lacks. None: that cannot be told."""
        both = f"{quote(pull.branches.base, safe='')}...{pull.sha}"
        # The changes of files are on the first page alone, with their text.
        small = {"per_page": "1", "page": "2"}
        answer = yield from told(Call("GET", f"{_repository(repository)}/compare/{both}", small))
        count = mapping(answer).get("behind_by")
        return count > 0 if isinstance(count, int) and not isinstance(count, bool) else None

    def create(
        self, repository: RepositoryPath, branches: Branches, wanted: Description
    ) -> Steps[PullRequest]:
        body = {"head": branches.head, "base": branches.base, "draft": wanted.draft}
        body |= {"title": wanted.title, "body": wanted.body}
        answer = yield Call("POST", f"{_repository(repository)}/pulls", body=body)
        return (yield from self._label(repository, _pull(mapping(answer)), wanted))

    def update(
        self, repository: RepositoryPath, pull: PullRequest, wanted: Description
    ) -> Steps[PullRequest]:
        path = f"{_repository(repository)}/pulls/{pull.number}"
        body: Json = {"body": wanted.body}
        if pull.description.title != wanted.title:
            body["title"] = wanted.title
        answer = yield Call("PATCH", path, body=body)
        if pull.description.draft != wanted.draft:
            asks = {"query": _DRAFTS[wanted.draft], "variables": {"id": pull.node}}
            told = yield Call("POST", "/graphql", body=asks, root=_GRAPHQL)
            if mapping(told).get("errors"):
                text = "the forge does not change whether the pull request is a draft"
                raise ForgeError(ForgeReason.REFUSED, text)
        return (yield from self._label(repository, _pull(mapping(answer)), wanted))

    def _label(
        self, repository: RepositoryPath, pull: PullRequest, wanted: Description
    ) -> Steps[PullRequest]:
        missing = [label for label in wanted.labels if label not in pull.description.labels]
        if missing:
            # It makes those that the repository does not have.
            path = f"{_repository(repository)}/issues/{pull.number}/labels"
            yield Call("POST", path, body={"labels": missing})
        return labelled(pull, wanted.labels)

    def close(self, repository: RepositoryPath, pull: PullRequest) -> Steps[PullRequest]:
        path = f"{_repository(repository)}/pulls/{pull.number}"
        answer = yield Call("PATCH", path, body={"state": "closed"})
        return _pull(mapping(answer))

    def comment(self, repository: RepositoryPath, pull: PullRequest, text: str) -> Steps[None]:
        path = f"{_repository(repository)}/issues/{pull.number}/comments"
        yield Call("POST", path, body={"body": text})

    def checks(self, repository: RepositoryPath, pull: PullRequest) -> Steps[CommitChecks]:
        """What reports statuses, and what reports check runs: those are for apps and classic tokens
        alone to read. Where a token may not, what reports statuses counts."""
        commit = f"{_repository(repository)}/commits/{pull.sha}"
        statuses, all_told = yield from counted(Call("GET", f"{commit}/status", _PAGE), "statuses")
        runs: list[Json] = []
        all_run = True
        unread: Literal["", "None"] = "None"
        try:
            call = Call("GET", f"{commit}/check-runs", _PAGE)
            runs, all_run = yield from counted(call, "check_runs")
        except ForgeError as error:
            if error.reason != ForgeReason.RIGHTS_MISSING:
                raise
            unread = ""
        rows = [*map(_status, statuses), *map(_run, runs)]
        return checked(rows, all_told and all_run, nothing=unread)

    def comments(self, repository: RepositoryPath, pull: PullRequest) -> Steps[tuple[Comment, ...]]:
        root = _repository(repository)
        found: list[Comment] = []
        for kind, path in (
            ("comment", f"{root}/issues/{pull.number}/comments"),
            ("review", f"{root}/pulls/{pull.number}/reviews"),
            ("line", f"{root}/pulls/{pull.number}/comments"),
        ):
            rows = yield from both_ends(Call("GET", path, _PAGE))
            found += [_comment(kind, row) for row in rows if _is_said(row)]
        return tuple(found)

    def may_write(self, repository: RepositoryPath, user: str) -> Steps[bool | None]:
        path = f"{_repository(repository)}/collaborators/{quote(user, safe='')}/permission"
        answer = yield from told(Call("GET", path))
        return None if answer is None else text_of(mapping(answer).get("permission")) in _WRITES

    def likely_writers(self, repository: RepositoryPath) -> Steps[frozenset[str]]:
        path = f"{_repository(repository)}/collaborators"
        rows = yield from known(Call("GET", path, {"permission": "push", **_PAGE}), "login")
        return frozenset(login_of(row) for row in rows)


GITHUB: Final = GitHub()


def _repository(repository: RepositoryPath) -> str:
    return f"/repos/{repository.parts}"


def _pull(answer: Json) -> PullRequest:
    head, base = mapping(answer.get("head")), mapping(answer.get("base"))
    state = text_of(answer.get("state"))
    if state not in {"open", "closed"}:
        raise invalid("the state of a pull request is missing")
    # A list has no `merged`.
    merged = answer.get("merged_at") is not None
    ours = mapping(base.get("repo")).get("id")
    return PullRequest(
        number=number_of(answer.get("number")),
        url=text_of(answer.get("html_url")),
        state="Merged" if merged else "Open" if state == "open" else "Closed",
        branches=Branches(text_of(head.get("ref")), text_of(base.get("ref"))),
        sha=sha_of(head.get("sha")),
        description=Description(
            title=text_of(answer.get("title")),
            body=text_of(answer.get("body")),
            draft=answer.get("draft") is True,
            labels=tuple(text_of(mapping(e).get("name")) for e in items(answer.get("labels"))),
        ),
        own_branch=ours is not None and mapping(head.get("repo")).get("id") == ours,
        node=text_of(answer.get("node_id")),
        author=login_of(answer.get("user")),
        by_app=mapping(answer.get("user")).get("type") == "Bot",
        behind=_BEHIND.get(text_of(answer.get("mergeable_state"))),
    )


def _status(answer: Json) -> tuple[CheckState, FailedCheck]:
    words = (text_of(answer.get(each)) for each in ("context", "description", "target_url"))
    return _STATES.get(text_of(answer.get("state")), "Failed"), FailedCheck(*words)


def _run(answer: Json) -> tuple[CheckState, FailedCheck]:
    title = text_of(mapping(answer.get("output")).get("title"))
    check = FailedCheck(text_of(answer.get("name")), title, text_of(answer.get("html_url")))
    if text_of(answer.get("status")) != "completed":
        return "Pending", check
    return ("Passed" if text_of(answer.get("conclusion")) in _FINE else "Failed"), check


def _is_said(row: Json) -> bool:
    """Reviews that nobody has sent yet, were dismissed, or have no text of their own are not; one
    that approves asks for nothing."""
    unsaid = ("PENDING", "DISMISSED", "APPROVED")
    return bool(text_of(row.get("body"))) and row.get("state") not in unsaid


def _comment(kind: str, answer: Json) -> Comment:
    line = answer.get("line")
    at = text_of(answer.get("updated_at")) or text_of(answer.get("submitted_at"))
    return Comment(
        id=f"{kind}-{number_of(answer.get('id'))}",
        author=login_of(answer.get("user")),
        text=text_of(answer.get("body")),
        at=at,
        path=text_of(answer.get("path")),
        line=line if isinstance(line, int) else 0,
    )
