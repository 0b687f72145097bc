"""A pull request whose number is known is asked for by that, whatever a crowd has opened beside it;
and one that is not known is found in a crowd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import PAGE, Branches, Description, PullRequest
from bernstein.forges.operations import ensure
from bernstein.forges.registry import BY_NAME
from tests.unit.forges.asked import World

BRANCHES = Branches("bernstein/shop-12345678", "main")
WANTED = Description("Add a shop", "Verified.", labels=("bernstein",))
URL = "https://forge.example/acme/shop.git"
LIST = {
    "gitea": "/api/v1/repos/acme/shop/pulls",
    "github": "/api/v3/repos/acme/shop/pulls",
    "gitlab": "/api/v4/projects/acme%2Fshop/merge_requests",
}
EVERY = pytest.mark.parametrize("forge", LIST)
Json = dict[str, Any]
BOT = "acme-bot"
ME = {"login": BOT, "username": BOT}
"""As forges tell whose the token is."""
USER = {
    forge: path.partition("/repos")[0].partition("/projects")[0] for forge, path in LIST.items()
}


def pull(
    forge: str,
    number: int,
    *,
    state: str = "open",
    head: str = BRANCHES.head,
    base: str = BRANCHES.base,
    fork: bool = False,
) -> Json:
    """As the forge tells of one that reads as wanted."""
    texts = {"title": WANTED.title, "body": WANTED.body, "description": WANTED.body}
    of_repository = 2 if fork else 1
    if forge == "gitlab":
        return {
            "iid": number,
            "state": "opened" if state == "open" else state,
            "sha": "a" * 40,
            "source_branch": head,
            "target_branch": base,
            "labels": ["bernstein"],
            "author": {"username": BOT},
            "source_project_id": of_repository,
            "target_project_id": 1,
            **texts,
        }
    repository = {"id": of_repository, "full_name": "eve/shop" if fork else "acme/shop"}
    ends = {
        "head": {"ref": head, "sha": "a" * 40, "repo_id": of_repository, "repo": repository},
        "base": {"ref": base, "repo_id": 1, "repo": {"id": 1, "full_name": "acme/shop"}},
    }
    row = {"number": number, "state": state, "labels": [{"name": "bernstein"}], **ends, **texts}
    return {"user": {"login": BOT}, **row}


async def ensured(world: World, forge: str, number: int) -> tuple[PullRequest, list[str]]:
    """The pull request, and what was asked."""
    async with world.client(BY_NAME[forge], URL) as client:
        steps = ensure(client.forge, client.repository, BRANCHES, WANTED, number)
        found = await client.run(steps)
    return found, [
        f"{r.method} {r.url.raw_path.decode().partition('?')[0]}" for r in world.requests
    ]


def answers(*bodies: Any) -> list[httpx.Response | Exception]:
    return [
        httpx.Response(404, json={"message": "no"})
        if body is None
        else httpx.Response(200, json=body)
        for body in bodies
    ]


@EVERY
@pytest.mark.parametrize("base", ["main", "release"])
async def test_one_that_is_open_is_asked_for_alone(world: World, forge: str, base: str) -> None:
    """Also where people have it merged elsewhere: another one would be a second."""
    world.answers = answers(pull(forge, 7, base=base))

    found, asked = await ensured(world, forge, 7)

    assert (found.number, found.branches.base) == (7, base)
    assert asked == [f"GET {LIST[forge]}/7"]


@EVERY
@pytest.mark.parametrize(
    "is_there",
    [None, {"head": "another"}, {"fork": True}],
    ids=["gone", "another branch's", "a fork's"],
)
async def test_a_number_that_is_not_that_of_the_branch_counts_for_nothing(
    world: World, forge: str, is_there: Json | None
) -> None:
    told = None if is_there is None else pull(forge, 7, **is_there)
    world.answers = answers(told, [pull(forge, 8)], ME)

    found, asked = await ensured(world, forge, 7)

    assert found.number == 8
    assert asked == [f"GET {LIST[forge]}/7", f"GET {LIST[forge]}", f"GET {USER[forge]}/user"]


@EVERY
@pytest.mark.parametrize("other", [True, False], ids=["another is open", "it is not listed"])
async def test_one_that_is_closed_stays_so_unless_another_is_open(
    world: World, forge: str, other: bool
) -> None:
    world.answers = answers(
        pull(forge, 7, state="closed"),
        [pull(forge, 8)] if other else [pull(forge, 9, fork=True)],
        ME,
    )

    found, asked = await ensured(world, forge, 7)

    assert found.number == (8 if other else 7)
    assert not [each for each in asked if not each.startswith("GET ")]


@EVERY
async def test_what_cannot_be_asked_makes_no_second_one(world: World, forge: str) -> None:
    world.answers = [httpx.Response(403, json={"message": "no"})]

    with pytest.raises(ForgeError):
        await ensured(world, forge, 7)

    assert len(world.requests) == 1


async def test_forks_that_fill_a_page_of_gitlab_hide_ours_not(world: World) -> None:
    crowd = [pull("gitlab", 100 - number, fork=True) for number in range(PAGE)]
    world.answers = answers(crowd, [pull("gitlab", 7)], ME)

    found, _ = await ensured(world, "gitlab", 0)

    assert found.number == 7
    first, second = (dict(request.url.params) for request in world.requests[:2])
    assert second == {**first, "source_project_id": "1"}


async def test_a_crowd_on_gitea_hides_ours_not(world: World) -> None:
    crowd = [[pull("gitea", 9, head="another")] * PAGE] * 10
    world.answers = answers(*crowd, pull("gitea", 7), ME)

    found, asked = await ensured(world, "gitea", 0)

    assert found.number == 7
    assert asked[10:] == [f"GET {LIST['gitea']}/main/bernstein%2Fshop-12345678", "GET /api/v1/user"]


async def test_a_forge_that_gives_short_pages_is_asked_on(world: World) -> None:
    other = [[pull("gitea", number, head="another")] for number in (9, 8)]
    world.answers = answers(*other, [pull("gitea", 7)], ME)
    for answer in world.answers[:3]:
        assert isinstance(answer, httpx.Response)
        answer.headers["x-total-count"] = "3"

    found, asked = await ensured(world, "gitea", 0)

    assert found.number == 7
    assert len(asked) == 4


async def test_a_list_that_never_ends_is_asked_so_often_alone(world: World, tmp_path: Path) -> None:
    never = httpx.Response(200, content=json.dumps([pull("gitea", 9, head="another")]))
    never.headers["link"] = '<https://evil.example/?page=2>; rel="next"'
    made = httpx.Response(201, json=pull("gitea", 10))
    world.answers = [*[never] * 50, made]

    found, asked = await ensured(world, "gitea", 0)

    assert (found.number, len(asked)) == (10, 51)
    assert {request.url.host for request in world.requests} == {"forge.example"}
