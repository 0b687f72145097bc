"""What models are told that judge a change."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bernstein.checks import prompts
from bernstein.checks.prompts import CURRENT, MARK, prompt
from bernstein.core.judging.answers import MOST_POINTS, WEIGHTS

TEXTS = {
    "cross_model.v1": "83e2e4c2fc42178c5d83be3a78af355b0d4426100faf3f9d818d703882ce269a",
    "intent_verification.v1": "13569b5ff6227745f2bbe27f8f075a89264b0ef117dc518c4c11c27b1a29395b",
    "integration_test_gen.v1": "c33fbacc81d233c6d3725f7f3e68f01318725e808a223c81099f5b09f72be46b",
    "llm_judge.v1": "6951b09f1ba8ca628b73d06fe1607b03f5c688822128264eb1f940325fc761fd",
    "llm_review.v1": "0998316d20a2f7ab7834b0f64e722b1ba5185200d15b5cb1285ce8d6f7b860e0",
    "review_rubric.v1": "fbdd9da6ad98ec8d5efdf0c3d84eb1ae8a3f8a954e82d7c93c1be43eec800dc4",
    "test_expansion.v1": "93d12414b1509eacea9da7cb0a541fe12a5192714da6f35f1067a7e429de8c6b",
}
"""SHA-256 of every version there was. A changed text is a new version, with a new line here."""


def test_a_version_keeps_its_text() -> None:
    files = Path(prompts.__file__).parent.glob("*.md")

    assert {f.stem: hashlib.sha256(f.read_bytes()).hexdigest() for f in files} == TEXTS


def test_whoever_rates_is_told_of_every_side_and_every_point() -> None:
    text = prompt("review_rubric").text

    assert all(f'- "{side}": ' in text for side in WEIGHTS)
    assert f"from 0 to {MOST_POINTS}" in text


@pytest.mark.parametrize("check", CURRENT)
def test_the_mark_stands_in_its_places(check: str) -> None:
    asked = prompt(check)

    assert asked.name == f"{check}.v{CURRENT[check]}"
    assert MARK in asked.text
    assert asked.marked("0123456789abcdef") == asked.text.replace(MARK, "0123456789abcdef")
    assert "{{" not in asked.marked("0123456789abcdef")
