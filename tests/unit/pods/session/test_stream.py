"""Reading what an agent writes while it may do anything with the file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bernstein.pods.session import stream


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stream" / "stdout.log"


@pytest.fixture
def tail(path: Path) -> Iterator[stream.Tail]:
    path.parent.mkdir()
    tail = stream.Tail(str(path), limit=1000, line_limit=100)
    yield tail
    tail.close()


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_each_complete_line_comes_once(tail: stream.Tail, path: Path) -> None:
    assert list(tail.lines()) == []
    append(path, b"one\ntw")
    assert list(tail.lines()) == [b"one"]
    append(path, b"o\n\nthree\n")
    assert list(tail.lines()) == [b"two", b"", b"three"]
    assert tail.seen == 15


def test_the_last_line_needs_no_line_end(tail: stream.Tail, path: Path) -> None:
    append(path, b"one\ntwo")
    assert list(tail.rest()) == [b"one", b"two"]
    assert list(tail.rest()) == []


def test_lines_over_the_limit_are_left_out(tail: stream.Tail, path: Path) -> None:
    append(path, b"a\n" + b"x" * 101 + b"\nb\n" + b"y" * 150)
    assert list(tail.lines()) == [b"a", b"b"]
    append(path, b"y" * 50 + b"\nc\n")
    assert list(tail.rest()) == [b"c"]


def test_over_the_limit_only_the_end_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_FINAL_BYTES", 60)
    path.parent.mkdir()
    tail = stream.Tail(str(path), limit=1000, line_limit=100)
    append(path, b"123456789\n" * 200)
    assert len(list(tail.lines())) == 100
    assert list(tail.lines()) == []
    append(path, b"the final record\n")
    assert list(tail.rest()) == [b"123456789"] * 4 + [b"the final record"]
    tail.close()


def test_many_short_lines_are_read_in_parts(path: Path) -> None:
    path.parent.mkdir()
    append(path, b"".join(b"%d\n" % i for i in range(200_000)))
    tail = stream.Tail(str(path))
    first = list(tail.lines())
    assert 0 < len(first) < 100_000
    assert [*first, *tail.rest()] == [b"%d" % i for i in range(200_000)]
    tail.close()


def test_of_too_many_lines_in_the_rest_only_the_end_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_FINAL_BYTES", 60)
    monkeypatch.setattr(stream, "_BLOCK", 45)
    monkeypatch.setattr(stream, "_REST_LINES", 10)
    path.parent.mkdir()
    append(path, b"123456789\n" * 200 + b"the final record")
    tail = stream.Tail(str(path))
    read = list(tail.rest())
    assert 14 <= len(read) <= 20
    assert set(read) == {b"123456789", b"the final record"}
    assert read[-5:] == [b"123456789"] * 4 + [b"the final record"]
    tail.close()


def test_a_line_across_the_limit_is_whole(path: Path) -> None:
    path.parent.mkdir()
    append(path, b"one\nthe final record\n")
    tail = stream.Tail(str(path), limit=10)
    assert list(tail.lines()) == [b"one"]
    assert list(tail.rest()) == [b"the final record"]
    tail.close()


def test_a_truncated_stream_goes_on_from_its_new_end(tail: stream.Tail, path: Path) -> None:
    append(path, b"one\nunfinished")
    assert list(tail.lines()) == [b"one"]
    os.truncate(path, 0)
    append(path, b"two\n")
    assert list(tail.lines()) == [b"two"]


def test_a_vanished_stream_ends_nothing(tail: stream.Tail, path: Path) -> None:
    append(path, b"one\n")
    assert list(tail.lines()) == [b"one"]
    with path.open("ab") as launchers:
        path.unlink()
        launchers.write(b"two\n")
    assert list(tail.lines()) == [b"two"], "what the launcher writes still counts"


def test_a_symlink_is_not_followed(tail: stream.Tail, path: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret\n")
    path.symlink_to(secret)
    assert path.read_text() == "the secret\n", "an ordinary reader follows it"
    assert list(tail.lines()) == list(tail.rest()) == []
    assert tail.seen == 0


def test_a_folder_swapped_for_a_symlink_is_not_followed(
    tail: stream.Tail, path: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / path.name).write_text("the secret\n")
    append(path, b"ours\n")
    path.parent.rename(tmp_path / "moved")
    path.parent.symlink_to(elsewhere)
    assert list(tail.lines()) == [b"ours"]
    with pytest.raises(OSError, match="stream"):
        stream.Tail(str(path))


def test_a_fifo_neither_blocks_nor_counts(tail: stream.Tail, path: Path) -> None:
    os.mkfifo(path)
    assert list(tail.lines()) == list(tail.rest()) == []
    path.unlink()
    append(path, b"now\n")
    assert list(tail.lines()) == [b"now"]


def test_a_replaced_stream_is_not_read(tail: stream.Tail, path: Path) -> None:
    append(path, b"real\n")
    assert list(tail.lines()) == [b"real"]
    path.unlink()
    append(path, b"forged and longer\n")
    assert list(tail.lines()) == []


def test_a_tail_of_bytes(path: Path) -> None:
    path.parent.mkdir()
    assert stream.tail_bytes(str(path), 4) == b""
    append(path, b"0123456789")
    assert stream.tail_bytes(str(path), 4) == b"6789"
    assert stream.tail_bytes(str(path), 40) == b"0123456789"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ('{"exitCode": 0, "signal": null, "stopped": false}', 0),
        ('{"exitCode": 3}', 3),
        ('{"exitCode": null, "signal": 9}', 137),
        ('{"exitCode": -1}', None),
        ('{"exitCode": 1e400}', None),
        ('{"exitCode": 99999999999999999999}', None),
        ('{"exitCode": "0"}', None),
        ("[0]", None),
        ("[" * 4000, None),
        ("\xff", None),
        ("", None),
        (json.dumps({"exitCode": 0, "x": "x" * 5000}), None),
    ],
)
def test_an_exit_record_is_only_a_hint(path: Path, record: str, expected: int | None) -> None:
    path.parent.mkdir()
    path.write_bytes(record.encode("latin-1"))
    assert stream.exit_code(str(path)) == expected


def test_no_exit_record_is_no_exit_code(path: Path) -> None:
    path.parent.mkdir()
    assert stream.exit_code(str(path)) is None
