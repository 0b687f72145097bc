"""Whom Gitea vouches for in a review, and what a crowd of reviews and comments costs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from bernstein.api.programs.forge import ForgeAddress, ListenConfig, ListenResult
from bernstein.forges.gitea import MOST_PARTS, MOST_REVIEWS
from bernstein.pods.programs import listen

SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
OWNER, STRANGER = {"id": 1, "login": "ann"}, {"id": 2, "login": "sam"}
BEGIN = 1_700_000_000
GONE = {"id": -1, "login": "Ghost"}


def review(number: int, user: Any, *, official: bool = False, lines: int = 1) -> dict[str, Any]:
    told = {"id": number, "state": "COMMENT", "body": "", "user": user, "comments_count": lines}
    return {**told, "official": official}


def line(number: int, user: Any) -> dict[str, Any]:
    return {"id": number, "body": f"line {number}", "user": user, "path": "shop.py", "position": 1}


def iso(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Gitea:
    """One pull request of the account `bot`; the token may ask about nobody."""

    token: Path
    reviews: list[dict[str, Any]] = field(default_factory=list)
    lines: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    """Of each review."""
    said: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """Comments, and when they were written."""
    writers: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.token.write_text("token-0123456789")

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1/repos/acme/shop/")
        self.asked.append(path)
        code, body = self._answer(path, request.url.params)
        # As the network gives it: not read yet.
        return httpx.Response(code, stream=httpx.ByteStream(json.dumps(body).encode()))

    def _answer(self, path: str, query: httpx.QueryParams) -> tuple[int, Any]:
        match path.split("/"):
            case ["pulls", "7"]:
                ends = {"head": {"ref": "b", "sha": SHA}, "base": {"ref": "main"}}
                return 200, {"number": 7, "state": "open", "user": {"login": "bot"}, **ends}
            case ["pulls", "7", "reviews"]:
                begin = (int(query["page"]) - 1) * int(query["limit"])
                return 200, self.reviews[begin : begin + int(query["limit"])]
            case ["pulls", "7", "reviews", number, "comments"]:
                return 200, self.lines.get(int(number), [])
            case ["collaborators", *_]:
                if self.writers:
                    may = any(path.split("/")[1] == each["login"] for each in self.writers)
                    return 200, {"permission": "write" if may else "read"}
                return 403, {"message": "Only admins can query all permissions"}
            case ["issues", "7"]:
                times = [moment for moment, _ in self.said]
                return 200, {"created_at": iso(BEGIN), "updated_at": iso(max(times))}
            case ["issues", "7", "comments"]:
                since, before = query.get("since", iso(0)), query.get("before", iso(1 << 32))
                return 200, [each for at, each in self.said if since <= iso(at) <= before]
            case ["assignees"]:
                return 200, self.writers
        return 200, []

    def address(self) -> ForgeAddress:
        return ForgeAddress("gitea", "https://forge.example/acme/shop.git", str(self.token))

    def heard(self) -> ListenResult:
        config = ListenConfig(self.address(), 7, comments=True)
        return listen.run(config, httpx.MockTransport(self.answer))


@pytest.fixture
def forge(tmp_path: Path) -> Gitea:
    return Gitea(tmp_path / "token")


def test_who_replies_to_a_line_of_an_official_review_is_vouched_for_by_nobody(forge: Gitea) -> None:
    forge.reviews = [review(1, OWNER, official=True)]
    forge.lines[1] = [line(11, OWNER), line(12, STRANGER), line(13, None)]

    assert forge.heard().comments == ("line-11",)
    assert "collaborators/sam/permission" in forge.asked, "he counts where he may write"


def test_nor_are_others_that_are_gone_where_its_author_is_gone(forge: Gitea) -> None:
    forge.reviews = [review(1, GONE, official=True)]
    forge.lines[1] = [line(11, GONE)]

    assert forge.heard().comments == ()


@pytest.mark.parametrize("place", [0, 140, 280])
def test_a_crowd_of_reviews_costs_few_requests_and_hides_nobody_who_may_write(
    forge: Gitea, place: int
) -> None:
    forge.writers = [OWNER]
    forge.reviews = [review(number, STRANGER) for number in range(1, 281)]
    forge.reviews.insert(place, review(999 if place else 1000, OWNER))
    forge.lines = {each["id"]: [line(each["id"], each["user"])] for each in forge.reviews}

    told = forge.heard()
    assert told.text.startswith("ann says, of shop.py")
    assert told.requests < MOST_REVIEWS + 20


@pytest.mark.parametrize("place", [0, 75, 150])
def test_comments_that_are_too_much_for_one_answer_are_read_in_parts(
    forge: Gitea, place: int
) -> None:
    forge.writers = [OWNER]
    told = [{"id": n, "body": "x" * 60_000, "user": STRANGER} for n in range(1, 151)]
    told.insert(place, {"id": 999, "body": "Please change it.", "user": OWNER})
    forge.said = [(BEGIN + 60 * n, each) for n, each in enumerate(told)]

    heard = forge.heard()
    assert heard.text == "ann says:\n> Please change it."
    assert heard.requests < 20


def test_and_no_more_of_them_than_so_many(forge: Gitea) -> None:
    forge.writers = [OWNER]
    long = {"body": "x" * 9_000_000, "user": STRANGER}
    forge.said = [(BEGIN + 60 * n, {"id": n + 1, **long}) for n in range(9)]
    forge.said.append((BEGIN + 1000, {"id": 10, "body": "Please.", "user": OWNER}))

    assert forge.heard().text == "ann says:\n> Please."
    assert forge.asked.count("issues/7/comments") <= MOST_PARTS + 1
