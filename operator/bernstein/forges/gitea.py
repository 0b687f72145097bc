"""Gitea and Forgejo: API v1, as of Gitea 1.26."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import (
    MOST_PAGES,
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
    brief,
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
    pages,
    retitles,
    sha_of,
    told,
)
from bernstein.web.json_values import Json, items, mapping, text_of

DRAFT = "WIP: "
"""What it knows a draft by, unless its administrator has said otherwise."""
_DRAFTS = (DRAFT.rstrip(), "[WIP]")
_CHECKS: Mapping[str, CheckState] = {
    "success": "Passed",
    "warning": "Passed",
    "failure": "Failed",
    "error": "Failed",
}
_WRITES = {"write", "admin", "owner"}
_COLOR = "#5319e7"
MOST_REVIEWS = 40
"""Of which the lines are read, with a request for each."""
MOST_PARTS = 30
"""In which comments are read that are too much for one answer."""


class Gitea:
    name: Final = "gitea"

    def locate(self, url: str) -> RepositoryPath:
        return located(url)

    def roots(self, repository: RepositoryPath, api: str | None) -> Mapping[str | None, str]:
        return {None: api or f"{repository.server}/api/v1"}

    def headers(self, token: str) -> Mapping[str, str]:
        return {"authorization": f"token {token}"}

    def find(self, repository: RepositoryPath, branches: Branches) -> Steps[PullRequest | None]:
        query = {"state": "all", "sort": "recentupdate", "limit": str(PAGE)}
        query["base_branch"] = branches.base
        path = f"{_repository(repository)}/pulls"
        answers = yield from pages(Call("GET", path, query))
        found = newest((_pull(each) for each in answers if _has(each, branches)), branches)
        if found is not None or len(answers) < MOST_PAGES * PAGE:
            return found
        # By base and head it names the oldest one of several, and whoever has opened many others
        # since hides none.
        ends = "/".join(quote(each, safe="") for each in (branches.base, branches.head))
        answer = yield from told(Call("GET", f"{path}/{ends}"))
        return newest([_pull(mapping(answer))], branches) if answer else None

    def get(self, repository: RepositoryPath, number: int) -> Steps[PullRequest]:
        answer = yield Call("GET", f"{_repository(repository)}/pulls/{number}")
        pull = _pull(mapping(answer))
        if pull.state != "Merged":
            return pull
        # It tells where the branch is now, whoever has pushed to it since; this ref has stayed.
        ref = f"pull/{number}/head"
        refs = yield Call("GET", f"{_repository(repository)}/git/refs/{ref}")
        found = [each for each in listed(refs) if each.get("ref") == f"refs/{ref}"]
        if not found:
            raise invalid("it does not say at which commit the pull request was merged")
        return replace(pull, sha=sha_of(mapping(found[0].get("object")).get("sha")))

    def is_ours(self, repository: RepositoryPath, pull: PullRequest) -> Steps[bool]:
        answer = yield from told(Call("GET", "/user"))
        if answer:
            return login_of(answer) == pull.author != ""
        # That takes a scope of its own. Who looks at it, each may say who may write to it.
        path = f"{_repository(repository)}/issues/{pull.number}/reactions"
        answer = yield from told(Call("POST", path, body={"content": "eyes"}))
        return bool(answer) and login_of(mapping(answer).get("user")) == pull.author != ""

    def create(
        self, repository: RepositoryPath, branches: Branches, wanted: Description
    ) -> Steps[PullRequest]:
        body = {"head": branches.head, "base": branches.base, **_texts(wanted)}
        answer = yield Call("POST", f"{_repository(repository)}/pulls", body=body)
        return (yield from self._label(repository, _pull(mapping(answer)), wanted))

    def update(
        self, repository: RepositoryPath, pull: PullRequest, wanted: Description
    ) -> Steps[PullRequest]:
        path = f"{_repository(repository)}/pulls/{pull.number}"
        body = _texts(wanted)
        if not retitles(pull, wanted):
            del body["title"]
        answer = yield Call("PATCH", path, body=body)
        return (yield from self._label(repository, _pull(mapping(answer)), wanted))

    def _label(
        self, repository: RepositoryPath, pull: PullRequest, wanted: Description
    ) -> Steps[PullRequest]:
        missing = [label for label in wanted.labels if label not in pull.description.labels]
        if not missing:
            return pull
        labels = Call("GET", f"{_repository(repository)}/labels", {"limit": str(PAGE)})
        named = {text_of(each.get("name")) for each in (yield from pages(labels))}
        for label in missing:
            if label not in named:
                made = {"name": label, "color": _COLOR}
                yield Call("POST", f"{_repository(repository)}/labels", body=made)
        issue = f"{_repository(repository)}/issues/{pull.number}"
        yield Call("POST", f"{issue}/labels", body={"labels": missing})
        return labelled(pull, wanted.labels)

    def close(self, repository: RepositoryPath, pull: PullRequest) -> Steps[PullRequest]:
        path = f"{_repository(repository)}/pulls/{pull.number}"
        answer = yield Call("PATCH", path, body={"state": "closed"})
        return _pull(mapping(answer))

    def comment(self, repository: RepositoryPath, pull: PullRequest, text: str) -> Steps[None]:
        path = f"{_repository(repository)}/issues/{pull.number}/comments"
        yield Call("POST", path, body={"body": text})

    def checks(self, repository: RepositoryPath, pull: PullRequest) -> Steps[CommitChecks]:
        path = f"{_repository(repository)}/commits/{pull.sha}/status"
        statuses, are_all = yield from counted(Call("GET", path, {"limit": str(PAGE)}), "statuses")
        return checked(map(_status, statuses), are_all)

    def comments(self, repository: RepositoryPath, pull: PullRequest) -> Steps[tuple[Comment, ...]]:
        root = _repository(repository)
        said = yield from _said(f"{root}/issues/{pull.number}")
        found = [_comment(each) for each in said]
        path = f"{root}/pulls/{pull.number}/reviews"
        reviews = [
            review
            for review in (yield from both_ends(Call("GET", path, {"limit": str(PAGE)})))
            if text_of(review.get("state")) not in {"PENDING", "REQUEST_REVIEW"}
            and review.get("dismissed") is not True
        ]
        # One that approves asks for nothing, but for what it says of lines.
        found += [
            _review(each)
            for each in reviews
            if text_of(each.get("body")) and text_of(each.get("state")) != "APPROVED"
        ]
        for review in (yield from self._with_lines(repository, reviews)):
            number = number_of(review.get("id"))
            lines = yield from _unless_odd(Call("GET", f"{path}/{number}/comments"))
            user = mapping(review.get("user")) if review.get("official") is True else {}
            found += [_line(mapping(each), user) for each in items(lines)]
        return tuple(found)

    def _with_lines(self, repository: RepositoryPath, reviews: list[Json]) -> Steps[list[Json]]:
        """Those with lines to be read: where they are many, of people who may well write to the
        repository first, and the newest ones."""
        found = [review for review in reviews if review.get("comments_count")]
        if len(found) <= MOST_REVIEWS:
            return found
        likely = yield from self.likely_writers(repository)

        def rank(review: Json) -> tuple[bool, bool, int]:
            is_official = review.get("official") is True
            is_likely = login_of(review.get("user")) in likely
            return is_official, is_likely, number_of(review.get("id"))

        return sorted(found, key=rank, reverse=True)[:MOST_REVIEWS]

    def may_write(self, repository: RepositoryPath, user: str) -> Steps[bool | None]:
        name = quote(user, safe="")
        path = f"{_repository(repository)}/collaborators/{name}/permission"
        # Only who may administrate the repository is told of others.
        answer = yield from told(Call("GET", path))
        return None if answer is None else text_of(mapping(answer).get("permission")) in _WRITES

    def likely_writers(self, repository: RepositoryPath) -> Steps[frozenset[str]]:
        # Whoever may write to its issues is in it, too.
        call = Call("GET", f"{_repository(repository)}/assignees")
        rows = yield from known(call, "login", paged=False)
        return frozenset(login_of(row) for row in rows)


GITEA: Final = Gitea()


def _repository(repository: RepositoryPath) -> str:
    return f"/repos/{repository.parts}"


def _texts(wanted: Description) -> Json:
    title = f"{DRAFT}{wanted.title}" if wanted.draft else wanted.title
    return {"title": title, "body": wanted.body}


def _has(answer: Json, branches: Branches) -> bool:
    """Before it is read: of others the branch, and with it the commit, may be gone."""
    head, base = (mapping(answer.get(each)) for each in ("head", "base"))
    return _branch(head) == branches.head and base.get("ref") == branches.base


def _branch(head: Json) -> str:
    """Once it is deleted, only the label has its name; of a fork's the owner stands before it."""
    return text_of(head.get("label")).rpartition(":")[2] or text_of(head.get("ref"))


def _pull(answer: Json) -> PullRequest:
    head, base = mapping(answer.get("head")), mapping(answer.get("base"))
    title = text_of(answer.get("title"))
    prefix = next((each for each in _DRAFTS if title.upper().startswith(each.upper())), "")
    state = text_of(answer.get("state"))
    if state not in {"open", "closed"}:
        raise invalid("the state of a pull request is missing")
    merged = answer.get("merged") is True
    return PullRequest(
        number=number_of(answer.get("number")),
        url=text_of(answer.get("html_url")),
        state="Merged" if merged else "Open" if state == "open" else "Closed",
        branches=Branches(_branch(head), text_of(base.get("ref"))),
        sha=sha_of(head.get("sha")),
        description=Description(
            title=title.removeprefix(title[: len(prefix)]).lstrip(),
            body=text_of(answer.get("body")),
            draft=answer.get("draft") is True,
            labels=tuple(text_of(mapping(e).get("name")) for e in items(answer.get("labels"))),
        ),
        own_branch=head.get("repo_id") == base.get("repo_id"),
        author=login_of(answer.get("user")),
        behind=_is_behind(answer),
    )


def _is_behind(answer: Json) -> bool | None:
    """Whether its base has commits that it lacks: whether it may be merged so, a rule of the branch
    says, of which it tells administrators alone."""
    tip, common = text_of(mapping(answer.get("base")).get("sha")), text_of(answer.get("merge_base"))
    return tip != common if tip and common else None


def _status(answer: Json) -> tuple[CheckState, FailedCheck]:
    words = (text_of(answer.get(each)) for each in ("context", "description", "target_url"))
    return _CHECKS.get(text_of(answer.get("status")), "Pending"), FailedCheck(*words)


def _said(issue: str) -> Steps[list[Json]]:
    """The comments on it. Their list has no pages: one that is too long for an answer is read by
    times, the newest first; so whoever says a lot hides what stands beside it in one second."""
    call = Call("GET", f"{issue}/comments")
    try:
        return [mapping(each) for each in items((yield call))]
    except ForgeError as error:
        if error.reason != ForgeReason.ANSWER_INVALID:
            raise
        failed = error
    about = mapping((yield Call("GET", issue)))
    first, last = (_moment(about.get(name)) for name in ("created_at", "updated_at"))
    # What is changed later moves no time of the whole.
    parts: list[tuple[int, int | None]] = [(first, last), (last + 1, None)]
    found: dict[int, Json] = {}
    asked = 0
    while parts and asked < MOST_PARTS:
        begin, end = parts.pop()
        asked += 1
        query = {"since": _time(begin)} | ({} if end is None else {"before": _time(end)})
        rows = yield from _unless_odd(Call("GET", call.path, query))
        found |= {number_of(mapping(each).get("id")): brief(mapping(each)) for each in items(rows)}
        if rows is None and end is not None and begin < end:
            middle = (begin + end) // 2
            parts += [(begin, middle), (middle + 1, end)]
    if not found:
        raise failed
    return [found[number] for number in sorted(found)]


def _unless_odd(call: Call) -> Steps[Any]:
    """None: the answer is too long, or cannot be read."""
    try:
        return items((yield call))
    except ForgeError as error:
        if error.reason != ForgeReason.ANSWER_INVALID:
            raise
        return None


def _moment(value: Any) -> int:
    """Of a time in RFC 3339, in Unix time."""
    try:
        return int(datetime.fromisoformat(text_of(value)).timestamp())
    except (ValueError, OverflowError):
        raise invalid("a time is missing") from None


def _time(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _comment(answer: Json) -> Comment:
    return Comment(
        id=f"comment-{number_of(answer.get('id'))}",
        author=login_of(answer.get("user")),
        text=text_of(answer.get("body")),
        at=text_of(answer.get("updated_at")),
    )


def _review(answer: Json) -> Comment:
    return Comment(
        id=f"review-{number_of(answer.get('id'))}",
        author=login_of(answer.get("user")),
        text=text_of(answer.get("body")),
        at=text_of(answer.get("updated_at")),
        official=answer.get("official") is True,
    )


def _line(answer: Json, official: Json) -> Comment:
    """`official`: the user for whom the forge vouches. Anybody may reply to a line, and what he
    says stands in the same review."""
    line, user = answer.get("position"), mapping(answer.get("user"))
    return Comment(
        id=f"line-{number_of(answer.get('id'))}",
        author=login_of(answer.get("user")),
        text=text_of(answer.get("body")),
        at=text_of(answer.get("updated_at")),
        path=text_of(answer.get("path")),
        line=line if isinstance(line, int) else 0,
        official=_is_same(user, official),
    )


def _is_same(one: Json, other: Json) -> bool:
    """Whether both are one user's objects. All who were deleted have one name, and no id of their
    own."""
    number = one.get("id")
    return isinstance(number, int) and 0 < number == other.get("id")
