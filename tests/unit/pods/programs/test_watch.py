"""What the watch of pull requests does where the forge limits it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from bernstein.api.programs.forge import (
    AskedForge,
    ForgeAddress,
    SeenPullRequest,
    WatchConfig,
    WatchResult,
)
from bernstein.pods.errors import PodError
from bernstein.pods.programs import watch

SHA = "a" * 40
LIMITED = httpx.Response(429, headers={"retry-after": "3600"})


def pull(number: int, state: str = "open") -> httpx.Response:
    head, base = {"ref": "b", "sha": SHA, "repo_id": 1}, {"ref": "main", "repo_id": 1}
    told: dict[str, Any] = {"number": number, "state": state, "head": head, "base": base}
    return httpx.Response(200, json=told)


def watched(
    tmp_path: Path, answers: list[httpx.Response], *numbers: int, unread: str = ""
) -> tuple[WatchResult | PodError, list[str]]:
    """What comes of it, and which paths were asked for."""
    token, asked = tmp_path / "token", list[str]()
    token.write_text("token-0123456789")

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path.rpartition("/")[2])
        told = answers[min(len(asked), len(answers)) - 1]
        return httpx.Response(
            told.status_code, headers=told.headers, stream=httpx.ByteStream(told.content)
        )

    config = WatchConfig(
        ForgeAddress("gitea", "https://forge.example/acme/shop.git", str(token)),
        tuple(SeenPullRequest(n, "Open", SHA, "main", unread=unread) for n in numbers),
        look_seconds=30,
        seconds=0,
    )
    try:
        return watch.run(config, httpx.MockTransport(answer)), asked
    except PodError as error:
        return error, asked


def test_once_the_forge_limits_it_no_other_one_is_asked_about(tmp_path: Path) -> None:
    told, asked = watched(tmp_path, [LIMITED], 7, 8, 9)

    assert isinstance(told, PodError)
    assert (told.reason, told.asked) == ("ForgeRateLimited", AskedForge(3600, requests=1))
    assert asked == ["7"]


def test_what_has_changed_is_told_with_the_time_that_the_forge_asks_for(tmp_path: Path) -> None:
    told, asked = watched(tmp_path, [pull(7, "closed"), LIMITED], 7, 8, 9)

    assert isinstance(told, WatchResult), told
    assert [each.number for each in told.changed] == [7]
    assert (told.retry_after, told.remaining) == (3600, 0)
    assert asked == ["7", "8"]


@pytest.mark.parametrize("answer", [httpx.Response(500, json={}), httpx.Response(403, json={})])
def test_one_that_cannot_be_read_for_another_reason_hides_no_other_one(
    tmp_path: Path, answer: httpx.Response, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bernstein.web.retry_after.pause", lambda *_: 0.0)
    told, asked = watched(
        tmp_path, [*[answer] * (4 if answer.status_code == 500 else 1), pull(8, "closed")], 7, 8
    )

    assert isinstance(told, WatchResult), told
    why = "ForgeUnavailable" if answer.status_code == 500 else "ForgeRightsMissing"
    rows = [(each.number, each.state, each.unread) for each in told.changed]
    assert rows == [(8, "Closed", ""), (7, "Open", why)]
    assert asked[-1] == "8"


FORBIDDEN = httpx.Response(403, json={})


def test_one_that_alone_cannot_be_read_is_told_once(tmp_path: Path) -> None:
    answers = [FORBIDDEN, pull(8)]
    told, _ = watched(tmp_path, answers, 7, 8)
    assert isinstance(told, WatchResult), told
    assert [(each.number, each.unread) for each in told.changed] == [(7, "ForgeRightsMissing")]

    told, _ = watched(tmp_path, answers, 7, 8, unread="ForgeRightsMissing")
    assert isinstance(told, WatchResult), told
    assert [(each.number, each.unread) for each in told.changed] == [(8, "")], "it can be read now"


@pytest.mark.parametrize("status", [401, 403])
def test_where_none_can_be_read_that_is_said_of_all(tmp_path: Path, status: int) -> None:
    told, asked = watched(tmp_path, [httpx.Response(status, json={})], 7, 8)

    assert isinstance(told, PodError)
    assert asked == (["7"] if status == 401 else ["7", "8"]), "a token is refused for all"
