"""What an agent or a repository says is safe to show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core import sanitise


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain text, ünïcode ✓", "plain text, ünïcode ✓"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;owned title\x07after", "after"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jcleared", "cleared"),
        ("\x1bP+q544e\x1b\\x", "x"),
        ("\x1bcreset", "reset"),
        ("a\x00b\x08c\x7f", "abc"),
        ("safe\u202egnp.exe", "safegnp.exe"),
        ("\u2066isolate\u2069 zero\u200bwidth \ufeffmark", "isolate zerowidth mark"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("a\n\n\n\n\nb  \n", "a\n\nb"),
        ("\tindented", "    indented"),
        ("thanks @octocat and @org/team", "thanks ＠octocat and ＠org/team"),  # noqa: RUF001
        ("mail ada@example.com", "mail ada@example.com"),
        ("fatal: https://user:secret@host/a.git", "fatal: https://host/a.git"),
        ("lone \ud800 surrogate", "lone  surrogate"),
        ("no\u00a0break", "no break"),
    ],
)
def test_shows(value: str, shown: str) -> None:
    assert sanitise.text(value, 200) == shown


def test_cuts_with_an_ellipsis() -> None:
    assert sanitise.text("abcdef", 4) == "abc…"
    assert sanitise.text("abcd", 4) == "abcd"
    assert sanitise.text("abcd", 0) == ""


def test_one_line() -> None:
    assert sanitise.line("  a\n\tb  c\r\n", 50) == "a b c"


@given(st.text(), st.integers(0, 60))
def test_whatever_comes_is_short_printable_and_stable(value: str, limit: int) -> None:
    shown = sanitise.text(value, limit)
    assert len(shown) <= limit
    assert all(c == "\n" or unicodedata.category(c)[0] != "C" for c in shown)
    assert sanitise.text(shown, limit) == shown


def test_a_huge_text_costs_little() -> None:
    assert sanitise.text("\x1b[" + "1;" * 5_000_000, 100) is not None
