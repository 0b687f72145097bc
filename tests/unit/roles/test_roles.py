"""What is told of each built-in role: a text for each word of the vocabulary, and for no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein import roles
from bernstein.agents.adapter import PROMPT_BYTES
from bernstein.api.vocabulary import ROLES
from bernstein.core.prompts import parts
from bernstein.core.sanitise import visible

FOLDER = Path(roles.__file__).parent


def test_every_role_has_its_text_and_no_other_has() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == sorted(ROLES)


@pytest.mark.parametrize("name", ["maintainer", "", "../roles/qa", "qa.md", "QA", "__init__"])
def test_a_name_of_no_built_in_role_has_no_text(name: str) -> None:
    assert roles.text(name) is None


@pytest.mark.parametrize("name", ROLES)
def test_a_text_says_what_the_role_is_how_it_works_when_it_is_done_and_what_it_leaves(
    name: str,
) -> None:
    text = roles.text(name) or ""
    role, how, done, leaves = text.split("\n\n")

    assert role.startswith(("You are a ", "You are an "))
    assert how.startswith("How you work:\n- ")
    assert done.startswith("You are done when ")
    assert leaves.startswith("Leave alone: ")


@pytest.mark.parametrize("name", ROLES)
def test_a_text_has_room_whatever_else_is_in_a_prompt_and_nothing_in_it_is_hidden(
    name: str,
) -> None:
    text = roles.text(name) or ""

    assert len(text.encode()) <= roles.LONGEST <= parts.ROLE.share * PROMPT_BYTES // 100
    assert text == visible(text).strip()


def test_no_two_roles_are_told_the_same() -> None:
    lines = [line for name in ROLES for line in (roles.text(name) or "").splitlines() if line]

    assert {line for line in lines if lines.count(line) > 1} == {"How you work:"}
