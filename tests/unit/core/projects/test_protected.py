"""What a person has to approve the change of: what steers the agents of a Project."""

from __future__ import annotations

from bernstein.api.approvals.policy import PROTECTED_PATHS
from bernstein.core.projects.protected import protected_paths
from tests.unit.core import objects

KNOWLEDGE = [
    {"name": "rules", "path": "docs/rules.md"},
    {"name": "start", "path": "README.md"},
    {"name": "terms", "configMap": {"name": "terms", "key": "terms.md"}},
]


def test_files_that_all_agents_are_told_are_protected() -> None:
    spec = objects.project(knowledge=KNOWLEDGE).spec

    assert protected_paths(spec) == (*PROTECTED_PATHS, "docs/rules.md", "/README.md")


def test_they_are_protected_where_nothing_else_is() -> None:
    spec = objects.project(knowledge=KNOWLEDGE, protectedPaths=[]).spec

    assert protected_paths(spec) == ("docs/rules.md", "/README.md")
