"""All rows: of each field, as `Model.field`, the test that shows its effect."""

from __future__ import annotations

from collections.abc import Mapping

from tests.unit.crds.exercised import (
    approvals,
    delivery,
    gates,
    network,
    parts,
    plans,
    pods,
    projects,
    repositories,
    roles,
    sessions,
    tasks,
    workflows,
)

TABLES: tuple[Mapping[str, str], ...] = (
    approvals.TESTS,
    delivery.TESTS,
    gates.TESTS,
    network.TESTS,
    parts.TESTS,
    plans.TESTS,
    pods.TESTS,
    projects.TESTS,
    repositories.TESTS,
    roles.TESTS,
    sessions.TESTS,
    tasks.TESTS,
    workflows.TESTS,
)

ROWS: Mapping[str, str] = {field: test for table in TABLES for field, test in table.items()}
