"""What of an agent's words gets into its log, its progress and the end of its run: one table for
all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bernstein import agents
from bernstein.agents.adapter import MESSAGE_LIMIT, PROGRESS_LIMIT, TEXT_LIMIT
from bernstein.pods.session.live import Live
from bernstein.pods.session.messages import harmless, harmless_line

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
MODEL_TOKEN = "sk-ant-api03-" + "a1B2c3D4e5" * 4
WEB_TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
COLOURED = f"\x1b[01;31m\x1b[K{TOKEN[:4]}\x1b[m\x1b[K{TOKEN[4:]}"
"""As `grep --color ghp_` prints it."""
BODY = "MIIEowIBAAKCAQEAvRd0oX1lS9Zk3mYw"

LEAKS = {
    "plain": (f"use {TOKEN} now", TOKEN),
    "coloured": (f"use {COLOURED} now", TOKEN[4:]),
    "coloured throughout": ("use " + "\x1b[1m".join(TOKEN), TOKEN),
    "with characters of no width": ("use " + "\u200b".join(TOKEN), TOKEN),
    "with soft hyphens": (f"use {TOKEN[:9]}\u00ad{TOKEN[9:]}", TOKEN[9:]),
    "joined to a word by what is not seen": (f"x\u200b{MODEL_TOKEN}", MODEL_TOKEN[13:]),
    "a variable joined to a word": ("x\u200bDB_PASSWORD=hunter2hunter2", "hunter2"),
    "a variable": ("DB_PASSWORD=hunter2hunter2", "hunter2"),
    "a coloured variable": ("DB_\x1b[1mPASSWORD\x1b[m=hunter2hunter2", "hunter2"),
    "a header": ("Authorization: Bearer abcdefghijkl", "abcdefghijkl"),
    "a coloured header": ("Authorization: Bea\x1b[1mrer abcdefghijkl", "abcdefghijkl"),
    "a web token": (f"got {WEB_TOKEN}", "c2lnbmF0dXJl"),
    "a web token, coloured at its end": (
        f"got {WEB_TOKEN[:-6]}\x1b[1m{WEB_TOKEN[-6:]}",
        WEB_TOKEN[-6:],
    ),
    "a user in an address": ("https://me:word-of-mine@git.example/a.git", "word-of-mine"),
    "a key on one line": (
        f"-----BEGIN PRIVATE KEY----- {BODY} -----END PRIVATE KEY-----",
        BODY,
    ),
    "a key": (f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----", BODY),
    "a coloured key": (
        f"-----BEGIN \x1b[1mPRIVATE\x1b[m KEY-----\n{BODY}\n-----END PRIVATE KEY-----",
        BODY,
    ),
    "a key after a key": (
        "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----"
        f"-----BEGIN PRIVATE KEY-----\n{BODY}",
        BODY,
    ),
    "the end of a key": (f"{BODY}\n{BODY}\nZk3m==\n-----END PRIVATE KEY-----", BODY),
}


def log(words: str, folder: Path) -> str:
    live = Live(str(folder / "output.log"))
    live.tell(words)
    live.close()
    return (folder / "output.log").read_text()


SHOWN: dict[str, Callable[[str, Path], str]] = {
    "log": log,
    "progress": lambda words, _: harmless_line(words, PROGRESS_LIMIT),
    "message": lambda words, _: harmless_line(words, MESSAGE_LIMIT),
    "text": lambda words, _: harmless(words, TEXT_LIMIT),
}


@pytest.mark.parametrize("where", SHOWN)
@pytest.mark.parametrize("leak", LEAKS)
def test_no_secret_is_shown_anywhere(leak: str, where: str, tmp_path: Path) -> None:
    words, secret = LEAKS[leak]
    shown = SHOWN[where](words, tmp_path)
    assert secret not in shown
    assert "***" in shown or "[redacted]" in shown or "git.example" in shown


@pytest.mark.parametrize("where", SHOWN)
def test_what_is_no_secret_is_shown(where: str, tmp_path: Path) -> None:
    words = "the max_tokens=1000 of \x1b[1mthe\x1b[m tests, and [a note: é]"
    shown = SHOWN[where](words, tmp_path)
    assert shown.strip() == "the max_tokens=1000 of the tests, and [a note: é]"


def test_a_secret_that_a_cut_goes_through_is_not_shown() -> None:
    unseen = "\x1b[1m" * 100
    shown = harmless(f"{unseen}see {TOKEN} here", (len(unseen) + 30) // 4)
    assert "ghp_" not in shown
    assert harmless(f"…{'b' * 30} and more", 20).startswith("… and")


@pytest.mark.parametrize("before", [1, 170, 190, 490])
def test_a_secret_at_the_end_of_what_is_shown_is_not_shown_in_part(before: int) -> None:
    parser = agents.get("generic").parser()
    parser.feed(f"{'x' * before} {TOKEN} {'y' * 900}".encode())
    assert "ghp_" not in harmless_line(parser.progress, PROGRESS_LIMIT)
    message = parser.finish(1, f"{'x' * before} {TOKEN} {'y' * 900}".encode()).message
    assert "ghp_" not in harmless_line(message, MESSAGE_LIMIT)


def test_a_short_text_keeps_its_first_word() -> None:
    assert harmless("…and so on", 20) == "…and so on"
