"""Our requests are as the forges publish them, and what they answer is understood.

In `recordings` each forge that cannot run here has a folder with a file for each operation: the
requests that it makes, the answers to them, and what is read of these. They were written by hand,
and none was taken from a forge: GitHub's after the OpenAPI description of its REST API, version
2022-11-28, which our requests ask for by `x-github-api-version`; GitLab's after that of its REST
API v4. `shapes.py` says with which commits of those descriptions they were compared, and in what;
no release of GitHub Enterprise Server was. They have no words of limits and refusals: these are as
both are known to write them. Gitea is asked itself, in tests/programs/forges, in the release that
tests/cluster/binaries/programs.py names.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import (
    Branches,
    Description,
    Forge,
    PullRequest,
    RepositoryPath,
    Steps,
)
from bernstein.forges.operations import close, ensure, said
from bernstein.forges.registry import BY_NAME, FORGES
from tests.unit.forges.asked import TOKEN, World

FOLDER = Path(__file__).with_name("recordings")
URLS = {
    "github": "https://github.com/acme/shop.git",
    "gitlab": "https://gitlab.example/acme/team/shop.git",
}
BRANCHES = Branches("bernstein/shop-12345678", "main")
WANTED = Description("Add a shop", "Verified.", labels=("bernstein",))
OPERATIONS = (
    *("ensure", "close", "get", "checks", "comments"),
    *("may_write", "likely_writers", "said"),
)
SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
CASES = [
    pytest.param(forge, operation, case, id=f"{forge}-{operation}-{case['name']}")
    for forge in URLS
    for operation in OPERATIONS
    for case in json.loads((FOLDER / forge / f"{operation}.json").read_text())
]


def steps(forge: Forge, at: RepositoryPath, operation: str) -> Steps[Any]:
    pull = PullRequest(7, "", "Open", BRANCHES, SHA, WANTED, own_branch=True)
    match operation:
        case "ensure":
            return ensure(forge, at, BRANCHES, WANTED)
        case "close":
            return close(forge, at, BRANCHES, 7, "Cancelled.")
        case "get":
            return forge.get(at, 7)
        case "checks":
            return forge.checks(at, pull)
        case "comments":
            return forge.comments(at, pull)
        case "said":
            return said(forge, at, replace(pull, author="acme-bot"), {})
        case "likely_writers":
            return forge.likely_writers(at)
        case _:
            return forge.may_write(at, "ann")


def facts(result: Any) -> Any:
    """Of a result, what a recording says of it."""
    if isinstance(result, PullRequest):
        told = {name: getattr(result, name) for name in ("number", "url", "state", "sha", "author")}
        told |= {"draft": result.description.draft, "title": result.description.title}
        return told | {"behind": result.behind}
    if isinstance(result, frozenset):
        return sorted(result)
    if isinstance(result, tuple):
        return [{k: v for k, v in asdict(each).items() if k != "official"} for each in result]
    return result if result is None or isinstance(result, bool) else _plain(asdict(result))


def _plain(value: dict[str, Any]) -> Any:
    return json.loads(json.dumps(value))


def test_every_forge_is_recorded_or_runs_here() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {forge.name for forge in FORGES} - {"gitea"}
    for forge in URLS:
        assert {path.stem for path in (FOLDER / forge).iterdir()} == set(OPERATIONS)


@pytest.mark.parametrize(("name", "operation", "case"), CASES)
async def test_requests_and_answers_are_the_recorded_ones(
    world: World, name: str, operation: str, case: dict[str, Any]
) -> None:
    forge, exchanges = BY_NAME[name], case["exchanges"]
    world.answers = [_response(each["response"]) for each in exchanges]
    async with world.client(forge, URLS[name]) as client:
        asked = client.run(steps(forge, client.repository, operation))
        if "error" in case:
            with pytest.raises(ForgeError) as failed:
                await asked
            for attribute, value in case["error"].items():
                assert getattr(failed.value, attribute) == value
        else:
            found, expected = facts(await asked), case["result"]
            if isinstance(found, dict) and "behind" in found:
                expected = {"behind": found["behind"], **expected}  # where it is recorded
            assert found == expected

    assert [_sent(request) for request in world.requests] == [
        {"query": {}, "body": None, **each["request"]} for each in exchanges
    ]
    assert all(TOKEN in request.headers["authorization"] for request in world.requests)


def _response(recorded: dict[str, Any]) -> httpx.Response:
    headers, body = recorded.get("headers", {}), recorded["body"]
    if isinstance(body, str):
        return httpx.Response(recorded["status"], headers=headers, text=body)
    return httpx.Response(recorded["status"], headers=headers, json=body)


def _sent(request: httpx.Request) -> dict[str, Any]:
    url = str(request.url.copy_with(query=None))
    query = dict(request.url.params.multi_items())
    body = json.loads(request.content) if request.content else None
    return {"method": request.method, "url": url, "query": query, "body": body}
