"""A newer version of an object is parsed with what the one before has said already."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from bernstein.api import plan as plans
from bernstein.api import task as tasks
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.controllers.caches.reuse import reusing
from bernstein.kube.resource import Object
from tests.unit.core import objects

ROWS = tuple(PlanTask(name=name, stage="build", step=n) for n, name in enumerate("abc"))
OLD: Object = objects.plan(status=PlanStatus(tasks=ROWS, expanded=True)).dump()


def changed(**status: Any) -> Object:
    new = deepcopy(OLD)
    new["status"] |= status
    return new


def with_row(number: int, **said: Any) -> Object:
    new = deepcopy(OLD)
    new["status"]["tasks"][number] |= said
    return new


NEWER: dict[str, Object] = {
    "the same": deepcopy(OLD),
    "a row says something else": with_row(1, state="Closed", spendUsd="2"),
    "rows are more": changed(tasks=[*OLD["status"]["tasks"], {"name": "d", "stage": "build"}]),
    "rows are fewer": changed(tasks=OLD["status"]["tasks"][:1]),
    "rows have changed places": changed(tasks=OLD["status"]["tasks"][::-1]),
    "there are none": changed(tasks=[]),
    "there is no status": {**OLD, "status": {}},
    "what an older release wrote": changed(hold=None, queue={"reason": "X"}),
    "another spec": {**deepcopy(OLD), "spec": OLD["spec"] | {"suspend": True}},
}


@pytest.mark.parametrize("what", NEWER)
def test_it_says_what_it_says_when_it_is_parsed_anew(what: str) -> None:
    new = NEWER[what]
    found = plans.parse(reusing(new, OLD, plans.parse(OLD)))
    assert found == plans.parse(new)
    assert found.dump() == plans.parse(new).dump()


def test_what_says_the_same_is_the_same_object() -> None:
    before = plans.parse(OLD)
    found = plans.parse(reusing(with_row(1, state="Closed"), OLD, before))
    assert found.spec is before.spec
    same = [new is old for new, old in zip(found.status.tasks, before.status.tasks, strict=True)]
    assert same == [True, False, True]


def test_what_is_no_plan_keeps_its_spec() -> None:
    old = objects.task().dump()
    before = tasks.parse(old)
    new = {**deepcopy(old), "status": objects.status().dump()}
    found = tasks.parse(reusing(new, old, before))
    assert found == tasks.parse(new)
    assert found.spec is before.spec
