"""GitLab: REST API v4. Its pull requests are merge requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from bernstein.forges.forge import (
    PAGE,
    Branches,
    Call,
    Comment,
    CommitChecks,
    Description,
    FailedCheck,
    PullRequest,
    RepositoryPath,
    Steps,
    both_ends,
    invalid,
    known,
    listed,
    located,
    login_of,
    newest,
    number_of,
    retitles,
    sha_of,
    told,
)
from bernstein.web.json_values import Json, items, mapping, text_of

DRAFT = "Draft: "
_AS_DRAFT = re.compile(r"(?i)^(?:\s*(?:\[draft\]|\(draft\)|draft:)\s*)+")
"""What it knows a draft by, however people write it."""
_STATES: Mapping[str, str] = {"opened": "Open", "locked": "Open", "merged": "Merged"}
_BEHIND = {"need_rebase", "conflict"}
"""Its fast-forward merges need a rebase where the branch has moved."""
_UNTOLD = {"", "unchecked", "checking", "preparing", "approvals_syncing"}
_WHOLE = {"include_diverged_commits_count": "true"}
_OF_BOTH = re.compile(r"refs/merge-requests/[0-9]+/(merge|train)")
"""Where a pipeline runs for what the merge would give: on a commit that is none of either."""
_FINE = {"success", "skipped"}
_FAILED = {"failed", "canceled"}
_DEVELOPER = 30
"""Least level of access that may push."""
_PAGE = {"per_page": str(PAGE)}


class GitLab:
    name: Final = "gitlab"

    def locate(self, url: str) -> RepositoryPath:
        return located(url, groups=True)

    def roots(self, repository: RepositoryPath, api: str | None) -> Mapping[str | None, str]:
        return {None: api or f"{repository.server}/api/v4"}

    def headers(self, token: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {token}"}

    def find(self, repository: RepositoryPath, branches: Branches) -> Steps[PullRequest | None]:
        query = {"source_branch": branches.head, "target_branch": branches.base, "state": "all"}
        query |= {"order_by": "created_at", "sort": "desc", **_PAGE}
        path = f"{_project(repository)}/merge_requests"
        rows = listed((yield Call("GET", path, query)))
        found = newest(map(_pull, rows), branches)
        if found is not None or len(rows) < PAGE:
            return found
        # Forks may have as many of a branch of this name as they like.
        own = {"source_project_id": str(number_of(rows[0].get("target_project_id")))}
        return newest(map(_pull, listed((yield Call("GET", path, query | own)))), branches)

    def get(self, repository: RepositoryPath, number: int) -> Steps[PullRequest]:
        answer = yield Call("GET", f"{_project(repository)}/merge_requests/{number}", _WHOLE)
        return _pull(mapping(answer))

    def is_ours(self, repository: RepositoryPath, pull: PullRequest) -> Steps[bool]:  # noqa: ARG002
        answer = yield from told(Call("GET", "/user"))
        return bool(answer) and pull.author in {login_of(answer, "username")} - {""}

    def create(
        self, repository: RepositoryPath, branches: Branches, wanted: Description
    ) -> Steps[PullRequest]:
        body = {"source_branch": branches.head, "target_branch": branches.base, **_texts(wanted)}
        if wanted.labels:
            body["labels"] = ",".join(wanted.labels)
        answer = yield Call("POST", f"{_project(repository)}/merge_requests", body=body)
        return _pull(mapping(answer))

    def update(
        self, repository: RepositoryPath, pull: PullRequest, wanted: Description
    ) -> Steps[PullRequest]:
        body = _texts(wanted)
        if not retitles(pull, wanted):
            del body["title"]
        if wanted.labels:
            body["add_labels"] = ",".join(wanted.labels)
        path = f"{_project(repository)}/merge_requests/{pull.number}"
        answer = yield Call("PUT", path, body=body)
        return _pull(mapping(answer))

    def close(self, repository: RepositoryPath, pull: PullRequest) -> Steps[PullRequest]:
        path = f"{_project(repository)}/merge_requests/{pull.number}"
        answer = yield Call("PUT", path, body={"state_event": "close"})
        return _pull(mapping(answer))

    def comment(self, repository: RepositoryPath, pull: PullRequest, text: str) -> Steps[None]:
        path = f"{_project(repository)}/merge_requests/{pull.number}/notes"
        yield Call("POST", path, body={"body": text})

    def checks(self, repository: RepositoryPath, pull: PullRequest) -> Steps[CommitChecks]:
        """What the newest pipeline of the head says, or of what its merge would give."""
        project = _project(repository)
        call = Call("GET", f"{project}/merge_requests/{pull.number}", _WHOLE)
        newest = mapping(mapping((yield call)).get("head_pipeline"))
        if not newest or not (yield from self._is_of(project, newest, pull)):
            return CommitChecks("None")
        status = text_of(newest.get("status"))
        if status in _FINE:
            return CommitChecks("Passed")
        if status not in _FAILED:
            return CommitChecks("Pending")
        number = number_of(newest.get("id"))
        jobs = Call("GET", f"{project}/pipelines/{number}/jobs", {"scope[]": "failed", **_PAGE})
        failed = tuple(_job(mapping(each)) for each in items((yield jobs)))
        whole = FailedCheck("pipeline", status, text_of(newest.get("web_url")))
        return CommitChecks("Failed", failed or (whole,))

    def _is_of(self, project: str, pipeline: Json, pull: PullRequest) -> Steps[bool]:
        """Whether it ran for this head: the merge request may name that of an older one."""
        sha = text_of(pipeline.get("sha"))
        if sha == pull.sha or not _OF_BOTH.fullmatch(text_of(pipeline.get("ref"))):
            return sha == pull.sha
        path = f"{project}/repository/commits/{sha_of(sha)}"
        commit = mapping((yield from told(Call("GET", path))))
        return pull.sha in items(commit.get("parent_ids"))

    def comments(self, repository: RepositoryPath, pull: PullRequest) -> Steps[tuple[Comment, ...]]:
        path = f"{_project(repository)}/merge_requests/{pull.number}/notes"
        rows = yield from both_ends(Call("GET", path, {"sort": "asc", **_PAGE}))
        return tuple(_comment(row) for row in rows if row.get("system") is not True)

    def may_write(self, repository: RepositoryPath, user: str) -> Steps[bool | None]:
        query = {"username": user}
        users = items((yield Call("GET", "/users", query)))
        known = [mapping(each) for each in users if mapping(each).get("username") == user]
        if not known:
            return False
        number = number_of(known[0].get("id"))
        path = f"{_project(repository)}/members/all/{number}"
        answer = yield from told(Call("GET", path))
        if answer is None:
            return None
        return _writes(mapping(answer))

    def likely_writers(self, repository: RepositoryPath) -> Steps[frozenset[str]]:
        path = f"{_project(repository)}/members/all"
        rows = yield from known(Call("GET", path, _PAGE), "username")
        return frozenset(login_of(row, "username") for row in rows if _writes(row))


GITLAB: Final = GitLab()


def _writes(member: Json) -> bool:
    level, active = member.get("access_level"), member.get("state", "active") == "active"
    return active and isinstance(level, int) and level >= _DEVELOPER


def _project(repository: RepositoryPath) -> str:
    return f"/projects/{quote(repository.whole, safe='')}"


def _texts(wanted: Description) -> Json:
    title = f"{DRAFT}{wanted.title}" if wanted.draft else wanted.title
    return {"title": title, "description": wanted.body}


def _pull(answer: Json) -> PullRequest:
    state = text_of(answer.get("state"))
    if state not in {*_STATES, "closed"}:
        raise invalid("the state of a merge request is missing")
    title, draft = text_of(answer.get("title")), answer.get("draft") is True
    source = answer.get("source_project_id")
    return PullRequest(
        number=number_of(answer.get("iid")),
        url=text_of(answer.get("web_url")),
        state="Closed" if state == "closed" else "Merged" if state == "merged" else "Open",
        branches=Branches(
            text_of(answer.get("source_branch")), text_of(answer.get("target_branch"))
        ),
        sha=sha_of(answer.get("sha")),
        description=Description(
            title=_AS_DRAFT.sub("", title) if draft else title,
            body=text_of(answer.get("description")),
            draft=draft,
            labels=tuple(map(text_of, items(answer.get("labels")))),
        ),
        own_branch=source is not None and source == answer.get("target_project_id"),
        author=login_of(answer.get("author"), "username"),
        behind=_is_behind(answer),
    )


def _is_behind(answer: Json) -> bool | None:
    """It names one thing that is in the way: where that is another one, such as an approval that
    is missing, what its base has that it lacks is counted."""
    told, lacks = text_of(answer.get("detailed_merge_status")), answer.get("diverged_commits_count")
    if told in _UNTOLD:
        return None
    if told in _BEHIND or answer.get("has_conflicts") is True:
        return True
    if told == "mergeable":
        return False
    return lacks > 0 if isinstance(lacks, int) and not isinstance(lacks, bool) else None


def _job(answer: Json) -> FailedCheck:
    return FailedCheck(
        text_of(answer.get("name")),
        text_of(answer.get("failure_reason")),
        text_of(answer.get("web_url")),
    )


def _comment(answer: Json) -> Comment:
    position = mapping(answer.get("position"))
    line = position.get("new_line")
    return Comment(
        id=f"note-{number_of(answer.get('id'))}",
        author=login_of(answer.get("author"), "username"),
        text=text_of(answer.get("body")),
        at=text_of(answer.get("updated_at")),
        path=text_of(position.get("new_path")),
        line=line if isinstance(line, int) else 0,
    )
