"""The pages of the kinds list every field of `spec`, exactly as the CRDs have it, and no other."""

from __future__ import annotations

import pytest

from bernstein import crds
from tests.unit.docs.pages import REFERENCE, Schema, fields, rows, without_links

KINDS = {kind.name: kind for kind in crds.KINDS}
PAGES = {
    "Project": "project.md",
    "Plan": "plan.md",
    "Task": "task.md",
    "Approval": "approval.md",
    "AgentRole": "agentrole.md",
}
OURS = {"AgentSession"}
"""Nobody but the operator writes their specs."""


def spec_of(kind: str) -> Schema:
    schema: Schema = crds.object_schema(KINDS[kind].model)["properties"]["spec"]
    return schema


def test_every_kind_that_people_write_has_a_page() -> None:
    assert set(PAGES) == set(KINDS) - OURS


@pytest.mark.parametrize("kind", PAGES)
def test_every_field_is_on_the_page_with_its_type_and_default(kind: str) -> None:
    described = [cells for cells in rows(REFERENCE / PAGES[kind]) if len(cells) == 4]
    told = [[name, without_links(type_), default] for name, type_, default, _ in described]
    assert sorted(told) == sorted(fields(spec_of(kind)))
    assert [cells[0] for cells in described if not cells[3]] == []
