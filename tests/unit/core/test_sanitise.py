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
        ("@@ada, \u00e9@bob", "@\uff20ada, \u00e9\uff20bob"),
        ("fatal: https://user:secret@host/a.git", "fatal: https://host/a.git"),
        ("lone \ud800 surrogate", "lone  surrogate"),
        ("no\u00a0break", "no break"),
        ("soft\u00adly \u034fjoined \u115f\u1160\u3164\uffa0filled", "softly joined filled"),
        ("\u2764\ufe0f \U0001f468\u200d\U0001f469", "\u2764 \U0001f468\U0001f469"),
        ("a" + "".join(chr(0xE0000 + ord(c)) for c in "hidden") + "b\U000e0100", "ab"),
    ],
)
def test_shows(value: str, shown: str) -> None:
    assert sanitise.text(value, 200) == shown


DEFAULT_IGNORABLE = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0xFFF0, 0xFFF9),
    *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE1000),
)
"""Unicode's property Default_Ignorable_Code_Point."""


def test_nothing_that_a_reader_does_not_see_is_kept() -> None:
    """A text hidden in it would reach whoever copies it, or a model that reads it."""
    kept = [hex(c) for c in DEFAULT_IGNORABLE if sanitise.text(f"a{chr(c)}b", 9) != "ab"]

    assert kept == []


def test_cuts_with_an_ellipsis() -> None:
    assert sanitise.text("abcdef", 4) == "abc…"
    assert sanitise.text("abcd", 4) == "abcd"
    assert sanitise.text("abcd", 0) == ""


def test_the_middle_is_left_out_where_the_end_tells_the_cause() -> None:
    printed = "\n".join(["exit code 1", *(f"line {n}" for n in range(50)), "E  assert 1 == 2"])

    assert sanitise.without_middle(printed, 50) == (
        "exit code 1\n…\nline 48\nline 49\nE  assert 1 == 2"
    )
    assert sanitise.without_middle(printed, 5000) == printed
    assert sanitise.without_middle("one line alone, " * 9, 20) == "one line alone, one…"
    assert sanitise.without_middle(f"first\n{'x' * 99}", 20) == f"first\n…{'x' * 10}"


@pytest.mark.parametrize("limit", range(10, 60))
def test_what_is_left_of_a_quote_is_one(limit: int) -> None:
    """Else an agent's words would be taken for ours."""
    value = sanitise.quoting("ours", f"{'theirs ' * 9}\n{'theirs ' * 3}\nend", 200)

    shown = sanitise.without_middle(value, limit)

    assert len(shown) <= limit
    assert sanitise.without_quotes(shown) in ("ours", shown)
    assert "theirs" not in sanitise.without_quotes(shown)


@given(st.text(alphabet="ab \n>", max_size=80), st.integers(0, 60))
def test_without_its_middle_a_text_is_short(value: str, limit: int) -> None:
    assert len(sanitise.without_middle(value, limit)) <= limit


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


def test_what_nobody_sees_is_spelled_out_for_who_judges_a_change() -> None:
    row = "\tx = 1 \u202e\x1b[0m\r \U000e0041 @decorator https://a:b@host é \u00a0"

    spelled = sanitise.spelled(row)

    assert spelled == (
        "\tx = 1 <U+202E><U+001B>[0m<U+000D> <U+E0041> @decorator https://a:b@host é <U+00A0>"
    )
    assert sanitise.spelled(spelled) == spelled
    assert sanitise.spelled("+plain = 'row'") == "+plain = 'row'"
