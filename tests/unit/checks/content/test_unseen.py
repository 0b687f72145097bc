"""What a reader does not see parts no word."""

from __future__ import annotations

from bernstein.checks.content import unseen
from tests.unit.core.test_sanitise import DEFAULT_IGNORABLE


def test_nothing_that_a_reader_does_not_see_stays_in_a_line() -> None:
    """A secret that one of these is in is the same secret for who copies it."""
    seen = {c: [*unseen.without([(1, f"a{chr(c)}b".encode())])] for c in DEFAULT_IGNORABLE}

    assert [hex(c) for c, lines in seen.items() if lines != [(1, "ab")]] == []


def test_what_is_seen_is_no_other_line() -> None:
    lines = [(1, "plain, ünïcode ✓ \U0001f468 \U0001d172\U0001d17b \ufff9 \t".encode())]

    assert not unseen.is_in(lines[0][1])
    assert [*unseen.without(lines)] == []
