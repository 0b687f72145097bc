"""What models are told that judge a change."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bernstein.checks import prompts
from bernstein.checks.prompts import CURRENT, MARK, prompt

TEXTS = {
    "llm_judge.v1": "6951b09f1ba8ca628b73d06fe1607b03f5c688822128264eb1f940325fc761fd",
    "llm_review.v1": "0998316d20a2f7ab7834b0f64e722b1ba5185200d15b5cb1285ce8d6f7b860e0",
}
"""SHA-256 of every version there was. A changed text is a new version, with a new line here."""


def test_a_version_keeps_its_text() -> None:
    files = Path(prompts.__file__).parent.glob("*.md")

    assert {f.stem: hashlib.sha256(f.read_bytes()).hexdigest() for f in files} == TEXTS


@pytest.mark.parametrize("check", CURRENT)
def test_the_mark_stands_in_its_places(check: str) -> None:
    asked = prompt(check)

    assert asked.name == f"{check}.v{CURRENT[check]}"
    assert MARK in asked.text
    assert asked.marked("0123456789abcdef") == asked.text.replace(MARK, "0123456789abcdef")
    assert "{{" not in asked.marked("0123456789abcdef")
