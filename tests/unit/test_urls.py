"""Users in URLs."""

from __future__ import annotations

import pytest

from bernstein.urls import without_users


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://bot:secret@git.example/a.git", "https://<>git.example/a.git"),
        ("from https://a@x/ to ssh://b@y/", "from https://<>x/ to ssh://<>y/"),
        ("https://git.example/a@b", "https://git.example/a@b"),
        ("mail bot@git.example", "mail bot@git.example"),
        ("https://git.example and bot@host", "https://git.example and bot@host"),
    ],
)
def test_users_go_out_of_urls_and_of_nothing_else(text: str, shown: str) -> None:
    assert without_users(text, "<>") == shown
