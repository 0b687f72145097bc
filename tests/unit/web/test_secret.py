"""A key or token of ours in somebody else's words."""

from __future__ import annotations

import pytest

from bernstein.web.secret import Secret, UnreadableSecretError

KEY = "sk-the-key-0123456789"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("slow down,\n  please", "slow down, please"),
        (f"bad key {KEY}!", "[redacted]"),
        ("bad key ...the-key-01234567...", "[redacted]"),
        ("bad key " + "\u200b".join(KEY), "[redacted]"),
        ("bad key sk-the-key-***", "bad key sk-the-key-***"),
        ("see https://me:pw@host/", "see https://host/"),
        ("\x1b[31mred\x1b[0m", "red"),
    ],
)
def test_a_text_of_somebody_else_is_made_safe(text: str, shown: str) -> None:
    assert Secret(KEY).shown(text) == shown


def test_a_long_text_is_cut() -> None:
    assert len(Secret(KEY).shown("x" * 10**6)) == 300


def test_one_of_a_few_characters_is_found_whole() -> None:
    assert Secret("sk-1").shown("no sk-1") == "[redacted]"
    assert Secret("sk-1").shown("no sk-2") == "no sk-2"


def test_one_is_taken_from_a_variable_as_from_a_file() -> None:
    assert Secret.of(f" {KEY}\n".encode()).reveal() == KEY
    for wrong in (b"", b" \n", b"a b", b"k" * 5000, b"sk-\xff"):
        with pytest.raises(UnreadableSecretError):
            Secret.of(wrong)
