"""What is kept of a log: its end, without secrets, in few bytes."""

from __future__ import annotations

import gzip
import hashlib
import zlib

import pytest

from bernstein.core.logs.packed import LOG_BYTES, LOG_LINES, PACKED_BYTES, is_lost, pack, unpack


def noise(size: int) -> bytes:
    """What cannot be made smaller; the same every time."""
    return hashlib.shake_256(b"noise").digest(size)


def numbered(lines: int) -> bytes:
    digits = noise(30 * lines).hex()
    return "".join(f"{n:06d} {digits[60 * n : 60 * n + 60]}\n" for n in range(lines)).encode()


@pytest.mark.parametrize("log", [b"", b"x", b"no line end", b"\x00\xff\x1b[2J\n" * 9, b"\n" * 999])
def test_a_small_log_is_kept_byte_for_byte(log: bytes) -> None:
    kept = pack(log)

    assert gzip.decompress(kept.packed) == log
    assert unpack(kept.packed) == log
    assert not kept.cut


def test_secrets_that_a_check_printed_are_not_kept() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    log = b"\xff 1\n" + f"token={token}\nexport {token}\n".encode() + numbered(9_000)

    small = unpack(pack(log[:200]).packed)
    large = unpack(pack(log + token.encode()).packed)

    assert small.startswith(b"\xff 1\ntoken=***\nexport ***\n000000 ")
    assert large.endswith(b"\n***")
    assert token.encode() not in small + large


def test_of_a_long_log_the_end_is_kept_from_a_line_on() -> None:
    log = numbered(9_000)

    kept = pack(log)
    shown = unpack(kept.packed)

    assert PACKED_BYTES / 4 < len(kept.packed) <= PACKED_BYTES
    assert kept.cut
    assert log.endswith(b"\n" + shown)
    assert shown.endswith(b"\n")


def test_what_cannot_be_made_smaller_still_fits() -> None:
    log = noise(2 * LOG_BYTES).replace(b"\n", b"")

    kept = pack(log)

    assert len(kept.packed) <= PACKED_BYTES
    assert log.endswith(unpack(kept.packed))


def test_no_more_is_kept_than_is_ever_shown() -> None:
    kept = pack(b"a" * LOG_BYTES + b"\n" + b"b" * (LOG_BYTES - 1))

    assert kept.cut
    assert unpack(kept.packed) == b"b" * (LOG_BYTES - 1)


def test_a_log_of_which_only_the_last_lines_were_read_is_cut() -> None:
    assert pack(b"\n" * LOG_LINES).cut
    assert not pack(b"\n" * (LOG_LINES - 1)).cut


@pytest.mark.parametrize("hidden", ["\x1b[31m", "\u200b", "\0", "\u00ad"])
def test_a_secret_whose_letters_a_colour_or_nothing_visible_parts_is_not_kept(hidden: str) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    printed = f"token: {token[:9]}{hidden}{token[9:]}\n1 failed"

    kept = unpack(pack(printed.encode()).packed)

    assert kept == b"token: ***\n1 failed"


def test_the_same_log_is_the_same_kept() -> None:
    assert pack(b"x" * 99) == pack(b"x" * 99)


def test_a_forged_kept_that_would_fill_the_memory_is_cut_off() -> None:
    bomb = gzip.compress(b"\0" * (100 * LOG_BYTES))
    assert len(bomb) < LOG_BYTES

    assert len(unpack(bomb)) == LOG_BYTES


@pytest.mark.parametrize("packed", [b"plain words", zlib.compress(b"no gzip"), b"\x1f\x8b\xff\xff"])
def test_what_is_no_kept_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpack(packed)


def test_it_is_as_small_as_it_is_to_be() -> None:
    first, small = (len(pack(noise(LOG_BYTES), n).packed) for n in (PACKED_BYTES, 16 * 1024))

    assert PACKED_BYTES / 2 < first <= PACKED_BYTES
    assert 8 * 1024 < small <= 16 * 1024


def test_a_kubelet_that_has_lost_the_container_gives_no_log() -> None:
    assert is_lost(b"unable to retrieve container logs for containerd://0f3c\n")
    assert not is_lost(b"2026-11-26T10:00:00Z unable to retrieve container logs for x")
