"""What a person has to approve the change of: what steers the agents of a Project."""

from __future__ import annotations

from bernstein.api.approvals.policy import PROTECTED_PATHS
from bernstein.core.projects import guarded
from tests.unit.core import objects

KNOWLEDGE = [
    {"name": "rules", "path": "docs/rules.md"},
    {"name": "terms", "configMap": {"name": "terms", "key": "terms.md"}},
]


def test_files_that_all_agents_are_told_are_guarded_as_protected_paths_are() -> None:
    spec = objects.project(knowledge=KNOWLEDGE).spec

    assert guarded.paths(spec) == (*PROTECTED_PATHS, "docs/rules.md")


def test_they_are_guarded_where_nothing_else_is() -> None:
    spec = objects.project(knowledge=KNOWLEDGE, protectedPaths=[]).spec

    assert guarded.paths(spec) == ("docs/rules.md",)
