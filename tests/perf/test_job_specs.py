"""What the specs of our Jobs take: paid for at every write of a Job, its pod and its status.

The counts are the same on any machine; they are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest

from tests.unit.controllers.jobs import built
from tests.unit.docs.pages import ROOT

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
Path: TypeAlias = tuple[str, ...]
GROUPS: dict[str, frozenset[str]] = {
    "volumes": frozenset({"volumes"}),
    "requests and limits": frozenset({"resources"}),
    "mounts": frozenset({"volumeMounts"}),
    "security contexts": frozenset({"securityContext"}),
    "labels and a finalizer": frozenset({"labels", "finalizers"}),
    "the rule for disrupted pods": frozenset({"podFailurePolicy"}),
    "variables": frozenset({"env"}),
    "how DNS is asked": frozenset({"dnsConfig"}),
    "that what a container printed last tells why it failed": frozenset(
        {"terminationMessagePolicy"}
    ),
    "names, images, commands and folders of containers": frozenset(
        {"name", "image", "command", "workingDir"}
    ),
    "how Jobs, pods and containers end, and what pods are not given": frozenset(
        {
            *("activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "restartPolicy"),
            *("terminationGracePeriodSeconds", "automountServiceAccountToken"),
            "enableServiceLinks",
        }
    ),
    "what all these stand in": frozenset({"template"}),
}
"""What fields are for, in the order in which a field is told apart."""
PAGES = ("reference/performance.md", "decisions/0033-pods-say-nothing-twice.md")


def counts(name: str) -> tuple[int, int, int]:
    """Bytes as JSON, fields, and volumes with their mounts of a Job's spec.

    The API server keeps a record of every field, for the Job and once more for its pod, and the
    status of a pod tells of every mount.
    """
    spec = built.JOBS[name]["spec"]
    volumes = len(built.pod(name)["volumes"]) + sum(1 for _ in built.mounts(name))
    return len(json.dumps(spec, separators=(",", ":")).encode()), _fields(spec), volumes


def _fields(value: Any) -> int:
    return sum(1 for _ in _paths(value))


def _paths(value: Any, above: Path = ()) -> Iterator[Path]:
    """Each field by its names, from the outermost on."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield (*above, name)
            yield from _paths(each, (*above, name))
    elif isinstance(value, list):
        for each in value:
            yield from _paths(each, above)


def group_of(path: Path) -> str:
    """What the field is said for: the first group that has one of its names."""
    return next(group for group, names in GROUPS.items() if names.intersection(path))


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


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_say_what_all_the_fields_are_for(page: str) -> None:
    paths = [path for name in CHAIN for path in _paths(built.JOBS[name]["spec"])]
    found = Counter(map(group_of, paths)).most_common()
    told = ", ".join(f"{number} {group}" for group, number in found)
    told = told.replace(" ", " are ", 1)
    sentence = f"Of the {len(paths)} fields that are left, {told}: each says what nothing else says"
    print(sentence)
    text = " ".join((ROOT / "docs" / page).read_text().split())
    assert sentence in text
