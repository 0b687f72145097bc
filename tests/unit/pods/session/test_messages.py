"""What of an agent's words gets into the log."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.pods.session import messages
from bernstein.pods.session.messages import Speech


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Events since the last question, without their times."""
    events = [json.loads(row) for row in capsys.readouterr().err.splitlines()]
    return [{key: value for key, value in event.items() if key != "time"} for event in events]


def test_a_message_is_one_harmless_line(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    told = Speech(clock)
    for message in ("Two\nlines \x1b[31mred\u202e", "", "\x1b[0m", "x" * 5000):
        told.tell(message)
    assert logged(capsys) == [
        {"event": "said", "text": "Two\nlines red"},
        {"event": "said", "text": "x" * 1999 + "…"},
    ]


def test_what_looks_like_a_secret_is_masked(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    Speech(clock).tell(f"I found {token} in the environment")
    assert logged(capsys) == [{"event": "said", "text": "I found *** in the environment"}]


def test_a_minute_has_room_for_so_many(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    told = Speech(clock)
    for number in range(65):
        told.tell(f"{number}")
    assert [event["text"] for event in logged(capsys)] == [f"{i}" for i in range(60)]
    clock.now = 59.9
    told.tell("too early")
    clock.now = 60.0
    told.tell("later")
    told.tell("and later")
    assert logged(capsys) == [
        {"event": "said", "text": "later", "left_out": 6},
        {"event": "said", "text": "and later"},
    ]


def test_all_messages_together_have_a_limit(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "_BYTES", 10)
    told = Speech(clock)
    for message in ("ü" * 3, "four", "x", "y"):
        told.tell(message)
    assert logged(capsys) == [
        {"event": "said", "text": "üüü"},
        {"event": "said", "text": "four"},
        {"event": "says-too-much", "limit": 10},
    ]
