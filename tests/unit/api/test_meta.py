"""What all models share."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from pydantic import ValidationError

from bernstein.api import session, task
from bernstein.api.meta import LINE_PATTERN, PATH_PATTERN, is_line
from tests.patterns import in_python
from tests.unit.core.test_sanitise import DEFAULT_IGNORABLE


def test_the_error_of_an_object_that_cannot_be_read_quotes_nothing_of_it() -> None:
    """It is logged, and an agent's words are in reports and prompts."""
    bad = {
        "metadata": {"name": "t"},
        "spec": {"title": ["a secret"]},
        "status": {"report": "a secret"},
    }

    for parse in (task.parse, session.parse):
        with pytest.raises(ValidationError) as error:
            parse(bad)
        assert "secret" not in str(error.value)


def test_a_title_that_an_older_release_took_is_read() -> None:
    title = "Write it\nCo-authored-by: me\u202e"

    assert task.parse({"metadata": {"name": "t"}, "spec": {"title": title}}).spec.title == title


@pytest.mark.parametrize("value", ["", "two  spaces", "thanks @ann", "ünïcode ✓", "x" * 5000])
def test_a_line_may_be_anything_that_is_seen(value: str) -> None:
    assert is_line(value)


@pytest.mark.parametrize("value", ["a\nb", "a\tb", "\x1b[2J", "a\u202eb", "a\u200bb", "a\u2028b"])
def test_what_ends_a_line_or_is_not_seen_makes_it_none(value: str) -> None:
    assert not is_line(value)


SPELLED_WITH = {*range(0x180B, 0x180E), 0x180F, 0x200C, 0x200D, *range(0xFE00, 0xFE10)}
"""Joiners and variation selectors: scripts and emoji need them."""


def test_a_line_holds_nothing_unseen_but_what_words_are_spelled_with() -> None:
    taken = {code for code in DEFAULT_IGNORABLE if is_line(f"a{chr(code)}b")}

    assert taken == SPELLED_WITH


ALL = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
ENDS_OR_TURNS = {"B", "LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}


def taken_by(pattern: str) -> set[str]:
    """The characters of Unicode that this pattern, written for the API server, takes."""
    return set(filter(re.compile(in_python(pattern)).fullmatch, ALL))


def test_the_api_server_takes_the_same_for_a_line() -> None:
    assert taken_by(LINE_PATTERN) == set(filter(is_line, ALL))


def test_a_path_may_be_all_but_what_ends_a_line_or_turns_it() -> None:
    refused = set(ALL) - taken_by(PATH_PATTERN)

    assert refused == {
        each
        for each in ALL
        if unicodedata.category(each) == "Cc"
        or unicodedata.bidirectional(each) in ENDS_OR_TURNS
        or each in "\u061c\u200e\u200f\u2028"
    }
