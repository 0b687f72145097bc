"""The whole prompt of one attempt for each role, as its agent reads it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from syrupy.assertion import SnapshotAssertion

from bernstein import roles
from bernstein.agents.adapter import PROMPT_BYTES
from bernstein.api.vocabulary import ROLES
from bernstein.core.prompts import parts
from bernstein.core.prompts.assembly import Assembled, ContextFile, assemble
from bernstein.core.prompts.parts import Part
from bernstein.core.sessions.prompt import prompt
from tests.unit.core import objects
from tests.unit.core.objects import status

MARK = "0123456789abcdef01234567"


def read(role: str, more: Mapping[Part, str] | None = None) -> Assembled:
    """What the agent of a Task reads that was rejected once."""
    task = objects.task(
        title="Add a limiter",
        role=role,
        description="Use Redis.",
        files=["src/a.py"],
        constraints=["No new dependency."],
        completionSignals=[{"type": "test_passes", "command": "pytest -q"}],
        status=status(feedback="Quality gate 'lint' Failed:\nF401"),
    )
    texts = {**prompt(task, 2), parts.CHANGE: "+import os", **(more or {})}
    files = [ContextFile("README.md", "# Web\n")]
    return assemble(texts, files, lambda: MARK, PROMPT_BYTES)


@pytest.mark.parametrize("role", ROLES)
def test_the_prompt_of_a_role_is_exactly_this(role: str, snapshot: SnapshotAssertion) -> None:
    assert read(role).text == snapshot


def test_a_role_that_is_not_built_in_is_told_its_name_alone() -> None:
    made = read("maintainer").text

    assert "\nRole: maintainer\n" in made
    assert "begin: role" not in made


@pytest.mark.parametrize("role", ROLES)
def test_a_built_in_role_is_whole_in_a_prompt_that_is_too_long(role: str) -> None:
    long = "word\n" * 50_000
    of_others = (parts.CHANGE, parts.FINDINGS, parts.DESCRIPTION)

    made = read(role, dict.fromkeys(of_others, long))

    assert str(roles.text(role)) in made.text
    told = ["file README.md", *(part.name for part in of_others)]
    assert [each.partition(":")[0] for each in made.cut] == told
