"""All stories, for all who play them."""

from __future__ import annotations

from tests.unit.core.plans.workflows.stories import (
    approvals,
    failures,
    joins,
    loops,
    retries,
    values,
)

STORIES = (
    *joins.STORIES,
    *failures.STORIES,
    *retries.STORIES,
    *values.STORIES,
    *loops.STORIES,
    *approvals.STORIES,
)
