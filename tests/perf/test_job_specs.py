"""What the specs of our Jobs take: paid for at every write of a Job, its pod and its status.

The counts are the same on any machine; they are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.controllers.jobs import built

MOST: dict[str, tuple[int, int, int]] = {
    "agent": (5_900, 221, 31),
    "check": (2_950, 121, 11),
    "compare": (5_350, 211, 26),
    "both": (5_350, 211, 26),
    "inspect": (2_550, 95, 5),
    "begin": (1_750, 71, 4),
    "prepare": (2_500, 71, 4),
    "land": (2_050, 71, 4),
    "probe": (4_100, 167, 12),
}
"""Bytes, fields, and volumes with their mounts, a little above what there is."""
CHAIN = ("agent", "check", "inspect", "land")
"""The Jobs of a Task whose work is checked and lands."""


def counts(name: str) -> tuple[int, int, int]:
    """Bytes as JSON, fields, and volumes with their mounts of a Job's spec.

    The API server keeps a record of every field, for the Job and once more for its pod, and the
    status of a pod tells of every mount.
    """
    spec = built.JOBS[name]["spec"]
    volumes = len(built.pod(name)["volumes"]) + sum(1 for _ in built.mounts(name))
    return len(json.dumps(spec, separators=(",", ":")).encode()), _fields(spec), volumes


def _fields(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_fields, value.values()))
    return sum(map(_fields, value)) if isinstance(value, list) else 0


@pytest.mark.parametrize("name", MOST)
def test_a_spec_stays_as_small_as_it_is(name: str) -> None:
    found = counts(name)
    print(f"{name}: {found[0]} bytes, {found[1]} fields, {found[2]} volumes and mounts")
    assert all(count <= most for count, most in zip(found, MOST[name], strict=True)), found


def test_the_specs_of_a_task_stay_as_small_as_they_are() -> None:
    each = [counts(name) for name in CHAIN]
    size, fields, volumes = map(sum, zip(*each, strict=True))
    print(f"agent, check, inspect, land: {size} bytes, {fields} fields, {volumes} volumes, mounts")
    assert size < 13_300
    assert fields < 505
    assert volumes <= 51
