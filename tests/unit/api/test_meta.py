"""What all models share."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bernstein.api import session, task


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
