"""When the recorder tells the server again: as often as it should, later when nobody hears it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bernstein.pods import log
from bernstein.pods.session.callback import Beat, CallbackError, Heart

SECONDS = 30.0
UNKNOWN = CallbackError("the server answered 403", 403, soon=True)
"""The operator has not written down yet which pod it is."""
DOWN = CallbackError("ConnectionRefusedError")


class _Ended:
    """Notes how long somebody waits, and says that it is over after so many times."""

    def __init__(self, most: int) -> None:
        self.waits: list[float] = []
        self._most = most

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return len(self.waits) >= self._most


class _Server:
    """Answers each heartbeat with the next of these; after them, well."""

    def __init__(self, *answers: CallbackError | None) -> None:
        self._answers: Iterator[CallbackError | None] = iter(answers)

    def heartbeat(self, _: Beat) -> None:
        error = next(self._answers, None)
        if error is not None:
            raise error


@pytest.mark.parametrize(
    ("answers", "waits"),
    [
        ((), [30, 30, 30]),
        ((UNKNOWN,), [5, 30, 30]),
        ((UNKNOWN, UNKNOWN, None, UNKNOWN), [5, 5, 30, 5]),
        ((UNKNOWN,) * 6, [5, 5, 5, 60, 60]),
        ((DOWN, DOWN), [60, 60, 30]),
        ((UNKNOWN, DOWN, UNKNOWN), [5, 60, 5]),
    ],
)
def test_it_comes_again_soon_while_the_server_asks_for_it_and_later_when_nobody_hears(
    answers: tuple[CallbackError | None, ...], waits: list[float]
) -> None:
    client: Any = _Server(*answers)
    heart = Heart(client, SECONDS, Beat, lambda _: None)
    ended: Any = _Ended(len(waits))
    heart._ended = ended

    heart.run()

    assert ended.waits == waits


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ((UNKNOWN,), []),
        ((UNKNOWN,) * 3, []),
        ((UNKNOWN,) * 5, [403]),
        ((UNKNOWN, DOWN, DOWN), [None]),
        ((DOWN, DOWN, UNKNOWN), [None]),
        ((DOWN, None, DOWN), [None, None]),
    ],
)
def test_a_session_that_the_server_does_not_know_yet_looks_like_no_failure(
    answers: tuple[CallbackError | None, ...],
    told: list[int | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each failure is told once, until a heartbeat is heard."""
    events: list[int | None] = []
    monkeypatch.setattr(log, "event", lambda _, *, status, **__: events.append(status))
    client: Any = _Server(*answers)
    heart = Heart(client, SECONDS, Beat, lambda _: None)
    ended: Any = _Ended(len(answers))
    heart._ended = ended

    heart.run()

    assert events == told
