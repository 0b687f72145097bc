"""Owner references: they say what belongs to what, so that the API server deletes it, too.

Labels say nothing of that: anybody who may edit an object may change those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bernstein.api.meta import API_VERSION, PLAN_KIND, OwnerReference
from bernstein.api.task import Task


def owner_reference(kind: str, name: str, uid: str) -> dict[str, Any]:
    """A reference to the controller of an object, of one of our kinds.

    Deleted in the foreground, the owner waits until the object is gone.
    """
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def unblocking(owner: Mapping[str, Any]) -> dict[str, Any]:
    """The reference of what its owner does not wait for: to block the deletion of a Project would
    take a right on its finalizers, which the operator has not."""
    return {**owner, "blockOwnerDeletion": False}


def plan_of(task: Task) -> OwnerReference | None:
    """The Plan that the Task belongs to; None: it was applied alone."""
    for owner in task.metadata.owner_references:
        if owner.controller and is_plan(owner.api_version, owner.kind):
            return owner
    return None


def is_plan(api_version: str, kind: str) -> bool:
    """Whether a reference of these is to a Plan of ours."""
    return (api_version, kind) == (API_VERSION, PLAN_KIND)


def plan_uid(task: Task) -> str | None:
    """The uid of that Plan."""
    plan = plan_of(task)
    return None if plan is None else plan.uid
