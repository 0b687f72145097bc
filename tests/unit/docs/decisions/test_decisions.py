"""Decisions are numbered, listed under their titles, and say why, what and what follows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.docs.pages import ROOT

FOLDER = ROOT / "docs/decisions"
PAGES = sorted(FOLDER.glob("[0-9]*.md"))


def title(page: Path) -> str:
    return page.read_text().splitlines()[0]


def test_every_decision_is_listed_under_its_number_and_title() -> None:
    listed = re.findall(
        r"^(\d+\. )\[(.*)\]\((.*)\)$", (FOLDER / "README.md").read_text(), re.MULTILINE
    )

    assert [(f"# {number}{text}", name) for number, text, name in listed] == [
        (title(page), page.name) for page in PAGES
    ]


def test_the_numbers_have_no_gaps() -> None:
    assert [int(page.name[:4]) for page in PAGES] == list(range(1, len(PAGES) + 1))
    assert [title(page).split(".")[0] for page in PAGES] == [
        f"# {number}" for number in range(1, len(PAGES) + 1)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_decision_says_why_what_and_what_follows(page: Path) -> None:
    headings = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)

    assert headings == ["Context", "Decision", "Consequence"]
