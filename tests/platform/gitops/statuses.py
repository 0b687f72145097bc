"""Objects as the operator has written them: each that differs, of lives that the model plays."""

from __future__ import annotations

import functools
import itertools
from datetime import UTC, datetime
from typing import Any

from bernstein.api.meta import API_VERSION, ROLE_KIND
from bernstein.api.roles.role import AgentRole
from bernstein.core.roles.judged import status_of
from bernstein.kube.resource import Object, is_deleting
from bernstein.resources import APPROVALS, PLANS, PROJECTS, SESSIONS, TASKS
from tests.model import stories
from tests.model.approvals.test_decisions import WORK
from tests.model.approvals.test_decisions import played as asked
from tests.model.cluster.store import Store
from tests.model.scenario import generate
from tests.model.world import lived

OURS = (PROJECTS, PLANS, TASKS, SESSIONS, APPROVALS)
LIVES = (
    "a-plan-asks-for-more-than-its-project",
    "a-cancel-while-the-job-is-on-its-way",
    "a-land-job-says-nothing-after-its-project-went",
    "a-plan-is-cancelled-while-it-begins",
    "a-claim-is-written-and-not-answered",
    "a-claim-is-given-back-while-its-session-is-made",
    "work-that-was-let-go-on-without-a-gate-is-sent-back",
    "an-agent-leaves-the-same-tree-again",
    "a-job-is-deleted-before-its-pod-is-seen",
    *(2, 6, 15, 20, 31, 32, 33, 34, 35, 39, 49, 53),
)
"""Stories and seeds of the model in which every phase is seen, with every condition."""


@functools.cache
def _stores() -> tuple[Store, ...]:
    """What each life has left, with all that was written before."""
    played = (stories.story(life) if isinstance(life, str) else generate(life) for life in LIVES)
    nobody_decides, _ = asked(*WORK, expiresAfterSeconds=300)
    return (*(lived(scenario)[0].store for scenario in played), nobody_decides.store)


@functools.cache
def objects() -> tuple[Object, ...]:
    """One of each kind, state and conditions, in the order in which they were seen.

    None that is being deleted: Argo CD and kstatus say so of any object, whatever its status is.
    """
    seen: dict[Any, Object] = {}
    for store, resource in itertools.product(_stores(), OURS):
        for change in store.log[resource]:
            if change.type != "DELETED" and not is_deleting(change.object):
                seen.setdefault(_shape(change.object), change.object)
    return (*seen.values(), *_roles())


def _roles() -> tuple[Object, ...]:
    """AgentRoles, which no life has: one that can be used, one that cannot, and each with what it
    said before."""
    looked: list[Object] = []
    for prompt in ("You test.", "You {{TEST}}."):
        meta = {"name": "tester", "generation": 2, "uid": "uid-tester"}
        role = AgentRole.model_validate({"metadata": meta, "spec": {"prompt": prompt}})
        told = status_of(role, datetime(2026, 1, 1, tzinfo=UTC))
        statuses = (
            told.dump(),
            {**told.dump(), "observedGeneration": 1},
            {"observedGeneration": -1},
        )
        api = {"apiVersion": API_VERSION, "kind": ROLE_KIND}
        looked += [
            {**api, "metadata": meta, "spec": {"prompt": prompt}, "status": status}
            for status in statuses
        ]
    return tuple(looked)


def at_the_end() -> list[Object]:
    """What stands still when the last has ended or says why not."""
    every = (store.all(kind) for store, kind in itertools.product(_stores(), OURS))
    return [obj for obj in itertools.chain.from_iterable(every) if not is_deleting(obj)]


def phase_of(obj: Object) -> str | None:
    """In the word of its kind; None: nobody has looked at it yet."""
    status = obj.get("status", {})
    found: str | None = status.get("phase") or status.get("state")
    return found


def is_current(obj: Object) -> bool:
    """Whether the status is about the spec as it is."""
    seen: int = obj.get("status", {}).get("observedGeneration", -1)
    return seen == int(obj["metadata"]["generation"])


def conditions_of(obj: Object) -> dict[str, Object]:
    return {found["type"]: found for found in obj.get("status", {}).get("conditions", [])}


def _shape(obj: Object) -> Any:
    told = sorted((c["type"], c["status"], c["reason"]) for c in conditions_of(obj).values())
    asked = tuple(sorted(obj["spec"].keys() & {"suspend", "cancel", "requests", "decision"}))
    about = obj["spec"].get("subject", {}).get("kind")
    return obj["kind"], about, phase_of(obj), tuple(told), is_current(obj), asked
