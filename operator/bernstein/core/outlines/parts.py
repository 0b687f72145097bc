"""What the Tasks of a Plan were split into, by the rows of its status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.projects.subtasks import MOST_DEPTH

Rows = Mapping[str, tuple[PlanTask, ...]]
"""By name of a Task the rows of its subtasks."""


def by_parent(status: PlanStatus) -> Rows:
    """Those of every Task that was split."""
    found: dict[str, list[PlanTask]] = {}
    for row in status.tasks:
        if row.parent is not None:
            found.setdefault(row.parent, []).append(row)
    return {name: tuple(rows) for name, rows in found.items()}


def below(rows: Rows, name: str, depth: int = 1) -> Iterator[tuple[int, PlanTask]]:
    """The rows of the subtasks of the Task of this name, and of theirs, with how deep each is."""
    for row in rows.get(name, ()) if depth <= MOST_DEPTH else ():
        yield depth, row
        yield from below(rows, row.name, depth + 1)
