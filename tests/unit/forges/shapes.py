"""What we read of the forges' answers, as they publish it: which fields there are in any case, and
of which type each is. Nothing else of their descriptions is here, and none of their files.

GitHub: `descriptions-next/api.github.com/api.github.com.2022-11-28.json` of the repository
github/rest-api-description at 00b7bf624c602a6262287a112d7aa4fb65b5c09e; compared with it were
`pull-request-simple`, `status`, `commit-comparison` and the lines of
`pull-request-review-comment`. GitLab: `doc/api/openapi/openapi_v3.yaml` of gitlabhq/gitlabhq at
045bf8777ea893e770b49d420febaeb7bf89e24a, of which no field is called required, and which calls
`access_level` a string, where its pages have a number; compared with it were merge requests and
members. Of all other answers it is what our code reads, and what both are known to write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WORDS: Schema = {"type": ["string", "null"]}
YES: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "integer", "minimum": 1}
COMMIT: Schema = {"type": "string", "pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$"}
TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"}


def one_of(*words: str) -> Schema:
    return {"enum": [*words]}


def rows(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def maybe(of: Schema) -> Schema:
    return {"anyOf": [{"type": "null"}, of]}


def has(required: dict[str, Schema], **optional: Schema) -> Schema:
    properties = required | optional
    return {"type": "object", "required": [*required], "properties": properties}


def counted(key: str, of: Schema) -> Schema:
    return has({"total_count": COUNT, key: rows(of)})


# --- GitHub -------------------------------------------------------------------------------------

_USER = has({"login": TEXT})
_END = has({"ref": TEXT, "sha": COMMIT, "repo": maybe(has({"id": NUMBER}))})
_PULL = has(
    {
        "number": NUMBER,
        "node_id": TEXT,
        "html_url": TEXT,
        "state": one_of("open", "closed"),
        "title": TEXT,
        "body": WORDS,
        "labels": rows(has({"name": TEXT})),
        "merged_at": maybe(TIME),
        "head": _END,
        "base": _END,
        "user": maybe(_USER),
    },
    draft=YES,
    merged=YES,
    mergeable_state=TEXT,
)
_STATUS = has(
    {"state": one_of("success", "pending", "failure", "error"), "context": TEXT},
    description=WORDS,
    target_url=WORDS,
)
_CHECK_RUN = has(
    {"name": TEXT, "status": TEXT, "conclusion": WORDS},
    html_url=WORDS,
    output=has({}, title=WORDS),
)
_SAID = {"id": NUMBER, "body": WORDS, "user": maybe(_USER)}
_REVIEW = has(_SAID | {"state": TEXT}, submitted_at=TIME)
_LINE = has(_SAID | {"path": TEXT, "updated_at": TIME}, line={"type": ["integer", "null"]})

GITHUB: dict[str, Schema] = {
    "GET /pulls": rows(_PULL),
    "POST /pulls": _PULL,
    "GET /pulls/N": _PULL,
    "PATCH /pulls/N": _PULL,
    "GET /pulls/N/reviews": rows(_REVIEW),
    "GET /pulls/N/comments": rows(_LINE),
    "GET /issues/N/comments": rows(has(_SAID | {"updated_at": TIME})),
    "POST /issues/N/comments": has(_SAID),
    "POST /issues/N/labels": rows(has({"name": TEXT})),
    "GET /commits/SHA/status": counted("statuses", _STATUS),
    "GET /commits/SHA/check-runs": counted("check_runs", _CHECK_RUN),
    "GET /compare/main...SHA": has(
        {
            "status": one_of("diverged", "ahead", "behind", "identical"),
            "ahead_by": COUNT,
            "behind_by": COUNT,
            "total_commits": COUNT,
            "commits": rows({"type": "object"}),
        }
    ),
    "GET /collaborators": rows(_USER),
    "GET /user": _USER,
    "GET /collaborators/NAME/permission": has(
        {"permission": one_of("admin", "write", "read", "none")}
    ),
    "POST /graphql": has({}, data={"type": ["object", "null"]}, errors=rows({"type": "object"})),
}

# --- GitLab -------------------------------------------------------------------------------------

_PERSON = has({"id": NUMBER, "username": TEXT})
_PIPELINE = has({"id": NUMBER, "sha": COMMIT, "ref": TEXT, "status": TEXT, "web_url": TEXT})
_MERGE_REQUEST = has(
    {
        "iid": NUMBER,
        "web_url": TEXT,
        "state": one_of("opened", "closed", "locked", "merged"),
        "title": TEXT,
        "description": WORDS,
        "source_branch": TEXT,
        "target_branch": TEXT,
        "source_project_id": maybe(NUMBER),
        "target_project_id": NUMBER,
        "labels": rows(TEXT),
        "draft": YES,
        "sha": COMMIT,
        "detailed_merge_status": TEXT,
    },
    author=maybe(_PERSON),
    has_conflicts=YES,
    diverged_commits_count=COUNT,
    head_pipeline=maybe(_PIPELINE),
)
_NOTE = has(
    {"id": NUMBER, "body": TEXT, "author": _PERSON, "system": YES, "updated_at": TIME},
    position=maybe(has({}, new_path=WORDS, new_line={"type": ["integer", "null"]})),
)
_MEMBER = has({"id": NUMBER, "username": TEXT, "access_level": COUNT}, state=TEXT)

GITLAB: dict[str, Schema] = {
    "GET /merge_requests": rows(_MERGE_REQUEST),
    "POST /merge_requests": _MERGE_REQUEST,
    "GET /merge_requests/N": _MERGE_REQUEST,
    "PUT /merge_requests/N": _MERGE_REQUEST,
    "GET /merge_requests/N/notes": rows(_NOTE),
    "POST /merge_requests/N/notes": _NOTE,
    "GET /pipelines/N/jobs": rows(has({"name": TEXT, "web_url": TEXT}, failure_reason=WORDS)),
    "GET /repository/commits/SHA": has({"id": COMMIT, "parent_ids": rows(COMMIT)}),
    "GET /user": _PERSON,
    "GET /users": rows(_PERSON),
    "GET /members/all": rows(_MEMBER),
    "GET /members/all/N": _MEMBER,
}

SHAPES = {"github": GITHUB, "gitlab": GITLAB}

_ROOT = r"^https://[^/]+(/api/v4)?(/repos/acme/shop|/projects/acme%2Fteam%2Fshop)?"


def route(method: str, url: str) -> str:
    """How a recorded request is called here."""
    path = re.sub(_ROOT, "", url)
    for what, name in (
        (r"\b[0-9a-f]{40}\b", "SHA"),
        (r"/\d+(?=/|$)", "/N"),
        (r"(?<=/collaborators/)[^/]+(?=/)", "NAME"),
    ):
        path = re.sub(what, name, path)
    return f"{method} {path}"


def unused(name: str, routes: Iterable[str]) -> set[str]:
    """Shapes of which there is no recording."""
    return SHAPES[name].keys() - set(routes)
