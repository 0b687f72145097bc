"""A Plan as large as one may be, in a real store: what it takes there, and what a move costs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Conflict
from bernstein.kube.patches import json_patch
from tests.control_plane.objects import PLANS, valid
from tests.perf.test_plan_status import plan


def _bytes(obj: Any) -> int:
    return len(json.dumps(obj, separators=(",", ":")).encode())


async def test_the_largest_plan_is_stored_and_a_move_of_one_task_names_what_it_read(
    operator: Client, admin: Client, namespace: str
) -> None:
    full = plan()
    spec, status = full.spec.dump(), full.status.dump()
    made = await admin.create(PLANS, valid("Plan", namespace, "large", **spec))
    stored = await operator.patch(
        PLANS, "large", namespace, {"status": status}, subresource="status"
    )
    sizes = {name: _bytes(stored[name]) for name in ("spec", "status")}
    sizes |= {"managedFields": _bytes(stored["metadata"]["managedFields"])}
    moved = json.loads(json.dumps(stored["status"]))
    moved["tasks"][999]["state"] = "Done"

    def patch(revision: str) -> list[dict[str, Any]]:
        lock = {"op": "replace", "path": "/metadata/resourceVersion", "value": revision}
        return [lock, *json_patch(stored["status"], moved, "/status")]

    old = patch(made["metadata"]["resourceVersion"])
    with pytest.raises(Conflict):
        await operator.patch(PLANS, "large", namespace, old, subresource="status")
    now = patch(stored["metadata"]["resourceVersion"])
    after = await operator.patch(PLANS, "large", namespace, now, subresource="status")

    print(f"stored {_bytes(after)}: {sizes}; a move sends {_bytes(now)}")
    assert after["status"]["tasks"] == moved["tasks"]
    assert sizes["spec"] + sizes["status"] <= 1_000_000
    assert sizes["managedFields"] < 10_000
    assert _bytes(now) < 300
