"""However many strangers comment, and however often, who may write is heard, for few requests."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from bernstein.api.programs.forge import ForgeAddress, ListenConfig, ListenResult, WatchConfig
from bernstein.api.programs.forge import SeenPullRequest as Seen
from bernstein.forges import forge as forges
from bernstein.forges.operations import MOST_AUTHORS, MOST_KNOWN
from bernstein.pods.programs import listen, watch

SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
REVIEWER = "ann"


@dataclass
class GitHub:
    """One pull request of its own account's; it vouches for nobody."""

    token: Path
    authors: list[str]
    """Of its comments, in the order in which they were written."""
    longest: int = 0
    """Characters that each comment of the first stranger has, of four bytes each."""
    lists: bool = True
    """The token may ask who works on the repository."""
    asked: list[str] = field(default_factory=list)
    """About whom."""

    def __post_init__(self) -> None:
        self.token.write_text("token-0123456789")

    def answer(self, request: httpx.Request) -> httpx.Response:
        code, body = self._answer(request.url.path, request.url.params)
        # As the network gives it: not read yet.
        return httpx.Response(code, stream=httpx.ByteStream(json.dumps(body).encode()))

    def _answer(self, path: str, query: httpx.QueryParams) -> tuple[int, Any]:
        match path.removeprefix("/repos/acme/shop/").split("/"):
            case ["pulls", "7"]:
                ends = {"head": {"ref": "b", "sha": SHA}, "base": {"ref": "main"}}
                return 200, {"number": 7, "state": "open", "user": {"login": "bot"}, **ends}
            case ["issues", "7", "comments"]:
                every = [*enumerate(self.authors, 1)]
                begin = (int(query["page"]) - 1) * int(query["per_page"])
                return 200, [
                    {"id": n, "body": self._says(who, n), "user": {"login": who}}
                    for n, who in every[begin : begin + int(query["per_page"])]
                ]
            case ["collaborators"] if self.lists:
                return 200, [{"login": REVIEWER}, {"login": "bob"}]
            case ["collaborators", who, "permission"]:
                self.asked.append(who)
                return 200, {"permission": "write" if who == REVIEWER else "read"}
            case ["collaborators"]:
                return 403, {"message": "Must have push access"}
            case ["commits", *_]:
                return 200, {"statuses": [], "check_runs": []}
        return 200, []

    def _says(self, who: str, number: int) -> str:
        return f"{who} says {number}{'x' * (4 * self.longest if who == 's0' else 0)}"

    def address(self) -> ForgeAddress:
        return ForgeAddress("github", "https://github.com/acme/shop.git", str(self.token))

    def heard(self) -> ListenResult:
        config = ListenConfig(self.address(), 7, comments=True)
        return listen.run(config, httpx.MockTransport(self.answer))

    def is_seen(self) -> bool:
        """Whether one look notices that somebody has said something who may."""
        config = WatchConfig(self.address(), (Seen(7, "Open", SHA, "main"),), 1, 0, comments=True)
        return bool(watch.run(config, httpx.MockTransport(self.answer)).changed)


def strangers(many: int) -> list[str]:
    return [f"s{number}" for number in range(many)]


@pytest.fixture
def token(tmp_path: Path) -> Path:
    return tmp_path / "token"


@pytest.mark.parametrize("before", [0, 29, 30, 31, 200])
@pytest.mark.parametrize("after", [0, 31, 200])
def test_no_crowd_hides_who_may_write(token: Path, before: int, after: int) -> None:
    crowd = strangers(before + after)
    forge = GitHub(token, [*crowd[:before], REVIEWER, *crowd[before:]])

    assert forge.is_seen()
    assert len(forge.asked) <= MOST_AUTHORS
    told = forge.heard()
    assert told.text == f"{REVIEWER} says:\n> {REVIEWER} says {before + 1}"


@pytest.mark.parametrize("where", ["first", "last"])
@pytest.mark.parametrize("pages", [forges.MOST_PAGES, forges.MOST_PAGES + 1, 137, 1000])
def test_who_says_a_lot_hides_nobody_that_speaks_before_or_after_him(
    token: Path, pages: int, where: str
) -> None:
    loud = ["s0"] * (pages * forges.PAGE)
    forge = GitHub(token, [REVIEWER, *loud] if where == "first" else [*loud, REVIEWER])

    assert forge.is_seen()
    told = forge.heard()
    assert len(told.comments) == 1
    assert told.requests < 60


@pytest.mark.parametrize("many", [MOST_AUTHORS, MOST_KNOWN - 1])
def test_where_nobody_says_who_is_no_stranger_all_are_asked_about_in_turn(
    token: Path, many: int
) -> None:
    forge = GitHub(token, [*strangers(many), REVIEWER], lists=False)

    assert forge.heard().text.startswith(f"{REVIEWER} says")
    assert len(forge.asked) == many + 1


def test_and_no_more_than_so_many(token: Path) -> None:
    forge = GitHub(token, [*strangers(2 * MOST_KNOWN), REVIEWER], lists=False)

    assert forge.heard().text == ""
    assert len(forge.asked) == MOST_KNOWN


def test_what_both_programs_have_asked_is_told(token: Path) -> None:
    forge = GitHub(token, [REVIEWER])

    assert forge.heard().requests == 5


def test_whoever_says_more_than_can_be_read_hides_what_is_on_that_page_alone(
    tmp_path: Path,
) -> None:
    long = ["s0"] * 50
    github = GitHub(tmp_path / "token", [*long, REVIEWER], longest=65_536)

    assert f"{REVIEWER} says 51" in github.heard().text
    assert github.is_seen()


def test_where_no_comment_can_be_read_a_new_commit_is_seen(tmp_path: Path) -> None:
    github = GitHub(tmp_path / "token", ["s0"] * 40, longest=65_536)
    config = WatchConfig(
        github.address(), (Seen(7, "Open", "0" * 40, "main"),), 1, 0, comments=True
    )

    (now,) = watch.run(config, httpx.MockTransport(github.answer)).changed

    assert (now.sha, now.state) == (SHA, "Open")
