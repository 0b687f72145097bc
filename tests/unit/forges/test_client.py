"""When a request is sent again, when it is not, and what is never sent."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from bernstein.forges.client import Limits
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import Branches, Description, Steps
from bernstein.forges.gitea import GITEA
from bernstein.forges.github import GITHUB
from tests.unit.forges.asked import TOKEN, World

URL = "https://forge.example/acme/shop.git"
AT = GITEA.locate(URL)
BRANCHES = Branches("bernstein/shop-12345678", "main")
PULL: dict[str, Any] = {
    "number": 7,
    "state": "open",
    "title": "Add a shop",
    "head": {"ref": BRANCHES.head, "sha": "a" * 40, "repo_id": 1},
    "base": {"ref": BRANCHES.base, "repo_id": 1},
}


async def asked(world: World, steps: Steps[Any], url: str = URL) -> Any:
    async with world.client(GITEA, url) as client:
        return await client.run(steps)


async def failure(world: World, steps: Steps[Any], url: str = URL) -> ForgeError:
    with pytest.raises(ForgeError) as failed:
        await asked(world, steps, url)
    told = failed.value
    assert TOKEN not in f"{told} {told.message} {told.said}"
    return told


def fine() -> httpx.Response:
    return httpx.Response(200, json=PULL)


@pytest.mark.parametrize(
    "first",
    [
        httpx.Response(502),
        httpx.ConnectError("no"),
        httpx.ReadError("lost"),
        httpx.ReadTimeout("slow"),
    ],
    ids=str,
)
async def test_what_is_only_read_is_asked_for_again(
    world: World, first: httpx.Response | Exception
) -> None:
    world.answers = [first, fine()]

    assert (await asked(world, GITEA.get(AT, 7))).number == 7
    assert world.waits == [1.0]


async def test_it_waits_as_long_as_the_forge_says(world: World) -> None:
    world.answers = [httpx.Response(429, headers={"retry-after": "7"}), fine()]

    await asked(world, GITEA.get(AT, 7))

    assert world.waits == [7.0]


async def test_who_is_limited_without_a_word_waits_a_minute(world: World) -> None:
    world.limits = Limits(seconds=100.0)
    world.answers = [httpx.Response(429), fine()]

    await asked(world, GITEA.get(AT, 7))

    assert world.waits == [60.0]


@pytest.mark.parametrize("said", ["86401", "1e18", "-5", "soon", "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_a_time_that_nobody_means_is_none(world: World, said: str) -> None:
    world.answers = [httpx.Response(429, headers={"retry-after": said})]

    assert (await failure(world, GITEA.get(AT, 7))).retry_after == 60.0


async def test_nothing_is_left_to_ask_once_it_is_limited(world: World) -> None:
    world.answers = [
        httpx.Response(200, json=PULL, headers={"x-ratelimit-remaining": "58"}),
        httpx.Response(403, json={"message": "You have exceeded a secondary rate limit."}),
    ]
    async with world.client(GITEA, URL) as client:
        await client.run(GITEA.get(AT, 7))
        with pytest.raises(ForgeError):
            await client.run(GITEA.get(AT, 7))

    assert client.traffic.remaining == 0


async def test_a_wait_beyond_its_time_is_left_to_who_asked(world: World) -> None:
    world.answers = [httpx.Response(429, headers={"retry-after": "3600"})]

    failed = await failure(world, GITEA.get(AT, 7))

    assert (failed.reason, failed.retry_after, world.waits) == ("ForgeRateLimited", 3600.0, [])


async def test_it_gives_up_after_so_many_times(world: World) -> None:
    world.limits = Limits(attempts=3)
    world.answers = [httpx.Response(503)]

    assert (await failure(world, GITEA.get(AT, 7))).reason == "ForgeUnavailable"
    assert len(world.requests) == 3


@pytest.mark.parametrize("lost", [httpx.ReadError("lost"), httpx.Response(502)], ids=str)
async def test_what_may_have_made_something_is_not_sent_again(
    world: World, lost: httpx.Response | Exception
) -> None:
    world.answers = [lost]
    wanted = Description("Add a shop", "Verified.")

    await failure(world, GITEA.create(AT, BRANCHES, wanted))

    assert [request.method for request in world.requests] == ["POST"]


async def test_what_the_forge_turned_away_is_sent_again(world: World) -> None:
    limited = httpx.Response(429, headers={"retry-after": "1"})
    world.answers = [limited, httpx.Response(201, json=PULL)]

    await asked(world, GITEA.create(AT, BRANCHES, Description("Add a shop", "Verified.")))

    assert len(world.requests) == 2


async def test_what_has_not_changed_is_not_read_again(world: World) -> None:
    world.answers = [
        httpx.Response(200, json=PULL, headers={"etag": '"1"', "x-ratelimit-remaining": "58"}),
        httpx.Response(304, headers={"x-ratelimit-remaining": "58"}),
        httpx.Response(200, json={**PULL, "state": "closed"}, headers={"etag": '"2"'}),
    ]
    async with world.client(GITEA, URL) as client:
        told = [await client.run(GITEA.get(AT, 7)) for _ in range(3)]
        traffic = client.traffic

    assert [pull.state for pull in told] == ["Open", "Open", "Closed"]
    assert [r.headers.get("if-none-match") for r in world.requests] == [None, '"1"', '"1"']
    assert (traffic.requests, traffic.unchanged, traffic.remaining) == (3, 1, 58)


async def test_a_token_that_is_renewed_meanwhile_is_the_one_that_is_sent(world: World) -> None:
    world.answers = [httpx.Response(200, json=PULL)]
    async with world.client(GITEA, URL) as client:
        await client.run(GITEA.get(AT, 7))
        world.token_file.write_text("token-renewed-0123456789")
        await client.run(GITEA.get(AT, 7))

    before, after = (request.headers["authorization"] for request in world.requests)
    assert "renewed" not in before
    assert after.endswith(" token-renewed-0123456789")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed(world: World, status: int) -> None:
    answer = {"message": "Moved Permanently", "url": "https://evil.example/"}
    headers = {"location": "https://evil.example/"}
    world.answers = [httpx.Response(status, headers=headers, json=answer)]

    failed = await failure(world, GITEA.get(AT, 7))

    moved = status not in (302, 303)
    assert failed.reason == ("ForgeAddressInvalid" if moved else "ForgeAnswerInvalid")
    assert ("the repository was renamed or moved" in failed.message) is moved
    assert [request.url.host for request in world.requests] == ["forge.example"]


@pytest.mark.parametrize(
    "answer",
    [b"", b"{", b"[]", b"null", b'{"number": 1e999}', b"[" * 100_000, b'{"number": true}'],
    ids=lambda text: repr(text[:20]),
)
async def test_what_is_no_answer_is_told(world: World, answer: bytes) -> None:
    world.answers = [httpx.Response(200, content=answer)]

    assert (await failure(world, GITEA.get(AT, 7))).reason == "ForgeAnswerInvalid"


async def test_an_answer_without_end_is_left(world: World) -> None:
    world.limits = Limits(answer_bytes=100)
    world.answers = [httpx.Response(200, content=b'"' + b"x" * 200)]

    assert (await failure(world, GITEA.get(AT, 7))).reason == "ForgeAnswerInvalid"


async def test_a_token_that_a_forge_repeats_is_not_shown(world: World) -> None:
    world.answers = [httpx.Response(400, json={"message": f"no such token {TOKEN}"})]

    assert (await failure(world, GITEA.get(AT, 7))).said == "[redacted]"


@pytest.mark.parametrize("token", ["", "two words", "tökn", "x" * 5000])
async def test_what_is_no_token_is_not_sent(world: World, token: str) -> None:
    world.token_file.write_text(token)
    world.answers = [fine()]

    assert (await failure(world, GITEA.get(AT, 7))).reason == "ForgeTokenUnreadable"
    assert world.requests == []


@pytest.mark.parametrize(
    "url",
    ["http://forge.example/acme/shop", "https://ann:pw@forge.example/a/b", "https://forge.example"],
)
def test_a_token_is_sent_to_no_address_that_may_not_have_it(world: World, url: str) -> None:
    with pytest.raises(ForgeError) as failed:
        world.client(GITEA, url)
    assert failed.value.reason == "ForgeAddressInvalid"


@pytest.mark.parametrize(
    ("url", "api", "root"),
    [
        ("https://forge.example/acme/shop.git", None, "https://forge.example/api/v1"),
        ("https://forge.example/git/acme/shop", None, "https://forge.example/git/api/v1"),
        ("https://forge.example/acme/shop", "https://api.example/x", "https://api.example/x"),
    ],
)
async def test_the_api_is_where_the_repository_is_or_where_it_is_said_to_be(
    world: World, url: str, api: str | None, root: str
) -> None:
    world.answers = [fine()]
    async with world.client(GITEA, url, api) as client:
        await client.run(GITEA.get(client.repository, 7))

    assert str(world.requests[0].url) == f"{root}/repos/acme/shop/pulls/7"


def test_an_enterprise_server_of_github_has_both_of_its_apis() -> None:
    at = GITHUB.locate("https://github.example/acme/shop.git")

    assert GITHUB.roots(at, None) == {
        None: "https://github.example/api/v3",
        "graphql": "https://github.example/api",
    }
