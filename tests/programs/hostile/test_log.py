"""An agent that prints so that its container's log shows what it should not, or in our name.

Each is first seen to work where the protection is taken off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

import pytest

from bernstein.checks.content import secrets
from bernstein.checks.content.private_keys import PrivateKeys
from bernstein.core import sanitise
from bernstein.pods.session import live, messages
from bernstein.pods.session.live import Live
from bernstein.pods.session.messages import harmless, harmless_line

pytestmark = pytest.mark.verification

TOKEN = "AKIA" + "Q3EGRIHBAJ6XVK2P"
HIDDEN = {
    "colours": f"{TOKEN[:9]}\x1b[1m{TOKEN[9:]}",
    "characters without width": f"{TOKEN[:9]}\u200b{TOKEN[9:]}",
}
KEY = ["-----BEGIN " + "RSA PRIVATE KEY-----", *["A" * 64] * 20, "-----END RSA PRIVATE KEY-----"]


@dataclass
class Log:
    """What the recorder shows of an agent's output, by a clock that stands still."""

    path: Path
    now: float = 0.0
    shows: Live = field(init=False)

    def __post_init__(self) -> None:
        self.path.unlink(missing_ok=True)
        self.shows = Live(str(self.path), lambda: self.now)

    def read(self) -> str:
        return self.path.read_text()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "output.log"


def masked_as_it_came(message: str, limit: int, _keys: PrivateKeys | None = None) -> str:
    return sanitise.text(secrets.mask(message), limit)


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
def test_nothing_that_a_reader_does_not_see_hides_a_secret_from_the_mask(
    path: Path, monkeypatch: pytest.MonkeyPatch, hidden: str
) -> None:
    with monkeypatch.context() as taken:
        taken.setattr(live, "harmless", masked_as_it_came)
        log = Log(path)
        log.shows.tell(f"key: {hidden}")
        assert TOKEN in log.read(), "what parts it is dropped, and it is whole again"

    log = Log(path)
    log.shows.tell(f"key: {hidden}")
    assert "key: " in log.read()
    assert TOKEN not in log.read()


@pytest.mark.parametrize("hidden", [TOKEN, *HIDDEN.values()], ids=["plain", *HIDDEN])
@pytest.mark.parametrize("shows", [harmless, harmless_line], ids=["last words", "progress"])
def test_progress_and_last_words_hide_a_secret_as_the_log_does(
    monkeypatch: pytest.MonkeyPatch, shows: Callable[[str, int], str], hidden: str
) -> None:
    with monkeypatch.context() as taken:
        taken.setattr(messages, "_masked", lambda _raw, seen: seen)
        assert TOKEN in shows(f"key: {hidden}", 300), "where nothing is masked"

    assert shows(f"key: {hidden}", 300) == "key: ***"


def printed_around_a_gap(path: Path) -> str:
    """A key of which the first line is in what is left out for its mere amount."""
    log = Log(path)
    while not log.shows._out_lines:
        log.shows.tell("y" * 999)
    log.shows.tell(KEY[0])
    log.now = 10.0
    for row in (*KEY[1:], "done"):
        log.shows.tell(row)
    return log.read()


def test_a_gap_before_a_private_key_does_not_show_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as taken:
        taken.setattr(PrivateKeys, "pass_over", lambda _self, _piece: None)
        assert KEY[1] in printed_around_a_gap(path), "nobody has seen that it is a key"

    told = printed_around_a_gap(path)
    assert KEY[1] not in told
    assert told.endswith("done\n")


def test_an_agent_says_nothing_in_our_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "[bernstein: no more is shown: the limit is 2097152 bytes]"

    with monkeypatch.context() as taken:
        taken.setattr(live, "_as_its_own", lambda row: row)
        log = Log(path)
        log.shows.tell(said)
        assert log.read() == f"{said}\n"

    log = Log(path)
    log.shows.tell(said)
    assert log.read() == f"> {said}\n"


def flooded(path: Path, pause: float) -> int:
    """Bytes of the log after seven million characters, with so many seconds after each 100,000."""
    log = Log(path)
    for _ in range(70):
        for _ in range(50):
            log.shows.tell("z" * 1999)
        log.now += pause
    return path.stat().st_size


@pytest.mark.parametrize(("limit", "pause"), [("TOTAL", 10.0), ("AT_ONCE", 0.0)])
def test_output_without_end_fills_no_log(
    path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, pause: float
) -> None:
    most = getattr(live, limit)

    with monkeypatch.context() as taken:
        taken.setattr(live, limit, 10**9)
        assert flooded(path, pause) > 3 * most, "where nothing ends it"

    assert flooded(path, pause) < most + live.LINE_CHARACTERS


SHORT, TIMES = 4_000, 8
"""Characters of one text, and how many times as many the other has."""


def growth(hostile: str) -> float:
    """How many times as long the recorder looks at a text that is TIMES as long."""
    seconds = []
    for size in (SHORT, TIMES * SHORT):
        text = hostile * (size // len(hostile))
        looks = []
        for _ in range(3):
            begin = process_time()
            harmless(text, size // 4)
            looks.append(process_time() - begin)
        seconds.append(min(looks))
    return seconds[1] / seconds[0]


@pytest.mark.parametrize("hostile", ["://", "sk-"])
def test_no_output_takes_the_recorder_longer_than_its_length(
    hostile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as taken:
        taken.setattr(secrets, "WINDOW", 10**9)
        taken.setattr(secrets, "_first_in_run", lambda forms, *_: secrets._finder(forms))
        secrets.rules.cache_clear()
        assert growth(hostile) > 3 * TIMES, "where all of it is looked through from each letter"

    secrets.rules.cache_clear()
    assert growth(hostile) < 3 * TIMES
