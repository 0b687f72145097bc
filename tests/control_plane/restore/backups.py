"""A namespace as a backup has it, and how Velero makes it anew.

Labels, annotations and finalizers stay; uids, owners and statuses do not.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import (
    CONFIG_MAPS,
    JOBS,
    NETWORK_POLICIES,
    PODS,
    SECRETS,
    Object,
    Resource,
    uid_of,
)
from tests.control_plane.controllers.world import World
from tests.control_plane.objects import AGENT_SESSIONS, APPROVALS, PLANS, PROJECTS, TASKS
from tests.unit.docs.pages import ROOT, blocks

PAGE = ROOT / "docs/how-to/back-up-and-restore.md"
MADE_BY_US = (TASKS, AGENT_SESSIONS, APPROVALS, JOBS, PODS, CONFIG_MAPS, NETWORK_POLICIES)
BACKED_UP = (PROJECTS, SECRETS, PLANS, *MADE_BY_US)
_OF_THE_CLUSTER = "kube-root-ca.crt"
"""A ConfigMap that every namespace has."""
_LOST = (
    *("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"),
    *("deletionGracePeriodSeconds", "ownerReferences", "managedFields"),
)
Rules = dict[str, Object]
"""What is merged into a `spec`, by `plural.group`; None takes a field out."""


@dataclass(frozen=True)
class Backup:
    objects: tuple[tuple[Resource, Object], ...]

    def of(self, *resources: Resource) -> Backup:
        return Backup(tuple(each for each in self.objects if each[0] in resources))

    def get(self, resource: Resource, name: str) -> Object:
        found = (o for r, o in self.objects if (r, o["metadata"]["name"]) == (resource, name))
        return next(found)

    def names(self, *resources: Resource) -> set[str]:
        return {named(*each) for each in self.of(*resources).objects}

    def uids(self) -> set[str]:
        return {uid_of(obj) for _, obj in self.objects}


@dataclass(frozen=True)
class Restored:
    """Which objects were made and which were refused, as Kind/name."""

    made: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)


def named(resource: Resource, obj: Object) -> str:
    return f"{resource.kind}/{obj['metadata']['name']}"


async def back_up(world: World) -> Backup:
    found: list[tuple[Resource, Object]] = []
    for resource in BACKED_UP:
        objects = (await world.all(resource)).values()
        found += [(resource, o) for o in objects if o["metadata"]["name"] != _OF_THE_CLUSTER]
    return Backup(tuple(found))


async def restore(backup: Backup, by: Client, namespace: str, rules: Rules) -> Restored:
    """`by`: whose account makes them."""
    told = Restored()
    for resource, obj in backup.objects:
        made = _anew(obj, namespace)
        if "spec" in made:
            made["spec"] = _merged(made["spec"], rules.get(f"{resource.plural}.{resource.group}"))
        try:
            await by.create(resource, made)
        except Forbidden:
            told.refused.add(named(resource, obj))
        else:
            told.made.add(named(resource, obj))
    return told


def _anew(obj: Object, namespace: str) -> Object:
    made = copy.deepcopy(obj)
    made.pop("status", None)
    meta = {key: value for key, value in made["metadata"].items() if key not in _LOST}
    labels = {**meta.get("labels", {}), "velero.io/restore-name": "one"}
    if "selector" in made.get("spec", {}) and "template" in made["spec"]:  # as Velero does of Jobs
        made["spec"].pop("selector")
        inside = made["spec"]["template"]["metadata"]["labels"]
        for label in [each for each in inside if each.endswith("controller-uid")]:
            del inside[label]
    return {**made, "metadata": {**meta, "namespace": namespace, "labels": labels}}


def _merged(spec: Object, patch: Any) -> Object:
    """A JSON Merge Patch (RFC 7386) of an object."""
    merged = dict(spec)
    for key, value in (patch or {}).items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            before = merged.get(key)
            merged[key] = _merged(before if isinstance(before, dict) else {}, value)
        else:
            merged[key] = value
    return merged


def rules_of_the_page() -> Rules:
    (block,) = (block for block in blocks("yaml") if block.page == PAGE)
    rules: Iterable[Any] = yaml.safe_load(block.text)["resourceModifierRules"]
    return {
        rule["conditions"]["groupResource"]: json.loads(patch["patchData"])["spec"]
        for rule in rules
        for patch in rule["mergePatches"]
    }
