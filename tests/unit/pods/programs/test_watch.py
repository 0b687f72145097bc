"""What the watch of pull requests does where the forge limits it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from bernstein.api.programs.forge import (
    UNREAD,
    ForgeAddress,
    SeenPullRequest,
    WatchConfig,
    WatchResult,
)
from bernstein.api.programs.forge_jobs import AskedForge
from bernstein.pods import termination
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


def renamed(number: int, base: str) -> httpx.Response:
    head = {"ref": "b", "sha": SHA, "repo_id": 1}
    told = {"number": number, "state": "closed", "head": head, "base": {"ref": base, "repo_id": 1}}
    return httpx.Response(200, json=told)


@pytest.mark.parametrize(
    "base", ["b" * 64, "b" * 200, "\N{SNOWMAN}" * 85, "\U0001f600" * 64, "\U0001f600" * 9999]
)
def test_as_many_are_told_as_the_message_holds_however_long_branches_names_are(
    tmp_path: Path, base: str
) -> None:
    many, left = 25, list(range(1, 26))
    for _ in range(many):
        told, _ = watched(tmp_path, [renamed(number, base) for number in left], *left)
        assert isinstance(told, WatchResult)
        assert termination.fits(told, "watch")
        assert len(told.known) == len(told.changed) > 0
        left = [each for each in left if each not in {now.number for now in told.changed}]
        if not left:
            return
    raise AssertionError(f"{left} are never told")


def test_an_answer_about_another_one_is_an_odd_answer(tmp_path: Path) -> None:
    told, _ = watched(tmp_path, [pull(9, "closed")], 7)

    assert isinstance(told, PodError)
    assert told.reason == "ForgeAnswerInvalid"


def test_comments_that_take_too_long_keep_nothing_else_from_being_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bernstein.web.retry_after.pause", lambda *_: 0.0)
    token = tmp_path / "token"
    token.write_text("token-0123456789")

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path.rpartition("/")[2]
        if path == "comments":
            raise httpx.ReadTimeout("slow")
        told = pull(7) if path == "7" else httpx.Response(200, json={"statuses": []})
        return httpx.Response(told.status_code, stream=httpx.ByteStream(told.content))

    known = SeenPullRequest(7, "Open", "b" * 40, "main")
    address = ForgeAddress("gitea", "https://forge.example/acme/shop.git", str(token))
    config = WatchConfig(address, (known,), look_seconds=30, seconds=0, comments=True)
    (now,) = watch.run(config, httpx.MockTransport(answer)).changed

    assert (now.sha, now.said, now.unread) == (SHA, UNREAD, "")
