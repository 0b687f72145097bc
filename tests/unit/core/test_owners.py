"""Whom a Task belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.task import Task
from bernstein.core import owners
from tests.unit.core import objects
from tests.unit.core.objects import PLAN_UID


def owned_by(*references: dict[str, Any], **metadata: Any) -> Task:
    made = objects.task(plan=None).dump()
    meta = made["metadata"] | {"ownerReferences": list(references)} | metadata
    return Task.model_validate(made | {"metadata": meta})


PLAN = owners.owner_reference("Plan", "web", PLAN_UID)


def test_a_task_belongs_to_the_plan_that_is_its_controller() -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "web", "uid": "other"}

    assert owners.plan_uid(owned_by(other, PLAN)) == PLAN_UID


@pytest.mark.parametrize(
    "reference",
    [
        PLAN | {"controller": False},
        {key: value for key, value in PLAN.items() if key != "controller"},
        PLAN | {"kind": "Task"},
        PLAN | {"apiVersion": "other.dev/v1alpha1"},
    ],
)
def test_nothing_else_makes_it_a_plans(reference: dict[str, Any]) -> None:
    assert owners.plan_of(owned_by(reference)) is None


def test_no_label_makes_it_a_plans() -> None:
    assert owners.plan_of(owned_by(labels={"bernstein.dev/plan": "web"})) is None


def test_what_an_owner_does_not_wait_for_is_its_own_all_the_same() -> None:
    unblocking = owners.unblocking(PLAN)

    assert unblocking == {**PLAN, "blockOwnerDeletion": False}
    assert PLAN["blockOwnerDeletion"] is True
