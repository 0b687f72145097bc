"""What of an agent's output gets into the log of its container."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bernstein.pods.session import live
from bernstein.pods.session.live import Live

KEY = """-----BEGIN RSA PRIVATE KEY-----
MIIEowIBAAKCAQEAvRd0oX1lS9
Zk3mYw==
-----END RSA PRIVATE KEY-----"""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Shown(Live):
    """With what it has written since the last question."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.path = folder / "output.log"
        super().__init__(str(self.path), self.clock)
        self._seen = self.path.stat().st_size

    def fresh(self) -> list[str]:
        data = self.path.read_bytes()[self._seen :]
        self._seen += len(data)
        assert not data or data.endswith(b"\n")
        return data.decode().splitlines()


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[Shown]:
    shown = Shown(tmp_path)
    yield shown
    shown.close()


def test_what_it_says_is_shown_without_what_could_harm_a_terminal(shown: Shown) -> None:
    for output in ("Two\nlines \x1b[31mred\u202e", "", "\x1b[0m", "x" * 5000):
        shown.tell(output)
    assert shown.fresh() == ["Two", "lines red", "x" * 1999 + "…"]


@pytest.mark.parametrize(
    ("output", "shown_as"),
    [
        ("I found ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8 in it", "I found *** in it"),
        ("Authorization: Bearer abcdefghijkl", "Authorization: Bearer [redacted]"),
        ("https://me:word@git.example/a.git", "https://git.example/a.git"),
        ("MODEL_API_KEY=my-own-endpoints-key", "MODEL_API_KEY=[redacted]"),
        ("GITEA_TOKEN=0123456789abcdef", "GITEA_TOKEN=[redacted]"),
        ("max_tokens=1000", "max_tokens=1000"),
    ],
)
def test_what_looks_like_a_secret_is_not_shown(shown: Shown, output: str, shown_as: str) -> None:
    shown.tell(output)
    assert shown.fresh() == [shown_as]


@pytest.mark.parametrize("pieces", [[KEY], KEY.splitlines()], ids=["at once", "line by line"])
def test_no_line_of_a_private_key_is_shown(shown: Shown, pieces: list[str]) -> None:
    shown.tell("cat key")
    for piece in pieces:
        shown.tell(piece)
    shown.tell("done")
    assert shown.fresh() == ["cat key", "*** (a private key)", "done"]


def test_a_key_that_never_ends_hides_no_more_than_a_key_has(shown: Shown) -> None:
    shown.tell(KEY.splitlines()[0])
    for number in range(300):
        shown.tell(f"line {number}")
    told = shown.fresh()
    assert told[:2] == ["*** (a private key)", "line 200"]
    assert told[-1] == "line 299"


@pytest.mark.parametrize("first", [KEY.splitlines()[0], "-----BEGIN \x1b[1mRSA \x1b[mPRIVATE KEY"])
def test_a_key_that_begins_in_what_is_left_out_is_not_shown(shown: Shown, first: str) -> None:
    while not shown._out_lines:
        shown.tell("y" * 999)
    for row in (first, *["A" * 64] * 3):
        shown.tell(row)
    shown.fresh()
    shown.clock.now = 10.0
    for row in (*["A" * 64] * 20, *KEY.splitlines()[1:], "done"):
        shown.tell(row)
    note, *rows = shown.fresh()
    assert note.startswith("[bernstein: ")
    assert rows == ["done"]


def test_a_key_that_ends_in_what_is_left_out_hides_nothing_more(shown: Shown) -> None:
    shown.tell(KEY.splitlines()[0])
    while not shown._out_lines:
        shown.tell("y\n" * 4000 + KEY.splitlines()[0])
    shown.tell(KEY.splitlines()[-1])
    shown.fresh()
    shown.clock.now = 10.0
    shown.tell("done")
    assert shown.fresh()[-1] == "done"


def test_a_key_that_begins_in_the_part_of_a_line_that_is_cut_off_is_not_shown(shown: Shown) -> None:
    for fill in (3000, 7700, 7900, 9000):
        shown.tell("y" * fill + "\n" + KEY.splitlines()[0])
        shown.fresh()
        for row in KEY.splitlines()[1:]:
            shown.tell(row)
        assert shown.fresh() == [], fill


@pytest.mark.parametrize(
    "forged",
    [
        "[bernstein: no more is shown: the limit is 9 bytes]",
        "  [bernstein: x]",
        "\u200b[\x1b[1mbern\u00adstein: x]",
        "[Bernstein: x]",
        "\uff3bbernstein: x]",
        "[b\u0435rnstein: x]",
    ],
    ids=ascii,
)
def test_no_line_of_the_agent_looks_like_one_of_ours(shown: Shown, forged: str) -> None:
    shown.tell(f"first\n{forged}")
    first, second = shown.fresh()
    assert first == "first"
    assert second.startswith("> ")
    shown.tell("[INFO] as ever")
    assert shown.fresh() == ["[INFO] as ever"]


def test_more_than_so_much_a_second_is_left_out_and_that_is_said(shown: Shown) -> None:
    row = "y" * 999
    for _ in range(400):
        shown.tell(row)
    first = shown.fresh()
    assert set(first) == {row}
    assert live.AT_ONCE <= len(first) * (999 + live.OVERHEAD) < live.AT_ONCE + 2000
    shown.clock.now = 0.5
    shown.tell(row)
    assert shown.fresh() == [], "a line now and then would tell nothing"
    shown.clock.now = 2.0
    shown.tell("later")
    left_out = 401 - len(first)
    note = f"[bernstein: {left_out} lines of {left_out * 999} characters are left out here: "
    assert shown.fresh() == [f"{note}more than 16384 a second]", "later"]


def test_what_is_looked_at_and_not_shown_counts_too(shown: Shown) -> None:
    for _ in range(400):
        shown.tell("\u202e" * 8000)
    shown.tell("plain")
    assert shown.fresh() == []
    shown.finish()
    assert len(shown.fresh()) == 1


def test_one_line_that_is_left_out_is_one(shown: Shown) -> None:
    before = 1
    while before:
        shown.tell("y" * 999)
        before = len(shown.fresh())

    shown.finish()

    note = "[bernstein: 1 line of 999 characters is left out here: more than 16384 a second]"
    assert shown.fresh() == [note]


def test_what_is_left_out_last_is_said_at_the_end(shown: Shown) -> None:
    for _ in range(400):
        shown.tell("y" * 999)
    shown.fresh()
    shown.finish()
    (note,) = shown.fresh()
    assert note.endswith("are left out here: more than 16384 a second]")


def test_all_together_has_a_limit_and_that_is_said(shown: Shown) -> None:
    for second in range(1000):
        shown.clock.now = second * 10.0
        for _ in range(50):
            shown.tell("z" * 1999)
    told = shown.fresh()
    assert told[-1] == f"[bernstein: no more is shown: the limit is {live.TOTAL} bytes]"
    assert set(told[:-1]) == {"z" * 1999}
    assert shown.path.stat().st_size < live.TOTAL


def test_short_lines_count_what_the_nodes_log_adds_to_them(shown: Shown) -> None:
    for second in range(5000):
        shown.clock.now = second * 10.0
        for _ in range(50):
            shown.tell("z")
    assert len(shown.fresh()) < live.TOTAL / live.OVERHEAD


def test_one_that_is_started_again_goes_on_with_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "TOTAL", 200)
    (tmp_path / "output.log").write_text("a" * 199 + "\n")
    again = Shown(tmp_path)
    again.tell("more")
    again.close()
    assert again.fresh() == []


def test_a_full_volume_ends_what_is_shown_and_nothing_else(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    shown.tell("one")
    shown.tell("two")
    shown.finish()
    assert capsys.readouterr().err.count("output-not-shown") == 1
