"""What all models share."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bernstein.api import session, task
from bernstein.api.meta import is_line


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
