"""Traces in the model: whatever happens, they change nothing that the operator does, and a Plan
that has ended is one whole trace."""

from __future__ import annotations

import functools
from collections import defaultdict
from datetime import datetime
from typing import Any

import pytest

from bernstein.api.task import parse as task_of
from bernstein.core.owners import plan_uid
from bernstein.core.tasks.retention import ended_at
from bernstein.core.traces.span import Span, span_id
from bernstein.kube.resource import Object, uid_of
from bernstein.resources import PLANS, SESSIONS, TASKS
from tests.model.cluster.store import Store
from tests.model.scenario import generate
from tests.model.traces.collected import Collected
from tests.model.world import World, lived

SEEDS = (9, 12, 13, 29, 31, 44)
"""Of lives in which Plans end: well, badly, in part, with one replica and with two."""
WITHOUT_REQUESTS = (15, 20)
"""Ids of people's requests count on through a process: two such lives would differ in them."""


def written(store: Store) -> list[Any]:
    """Every state that any object of ours was in, in order."""
    return [
        (change.type, change.object)
        for kind in (PLANS, TASKS, SESSIONS)
        for change in store.log[kind]
    ]


@functools.cache
def played(seed: int) -> tuple[World, Collected]:
    collected = Collected()
    world, outcome = lived(generate(seed), collected)
    assert outcome.what is None
    return world, collected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_that_has_ended_is_one_trace_in_which_no_parent_is_missing(seed: int) -> None:
    world, collected = played(seed)
    sessions = defaultdict(list)
    for session in world.store.all(SESSIONS):
        sessions[session["spec"].get("planRef", {}).get("uid")].append(session)

    ended = [p for p in world.store.all(PLANS) if p["status"].get("endedAt") is not None]
    assert ended
    for plan in ended:
        trace = collected.of(uid_of(plan))
        assert [span.name for span in trace.values() if span.parent_id is None] == ["plan"]
        assert trace[span_id(uid_of(plan))].end.isoformat()[:19] == plan["status"]["endedAt"][:19]
        assert {span.parent_id for span in trace.values()} - {None} <= trace.keys()
        assert all(span.start <= span.end for span in trace.values())
        dead = [s for s in sessions[uid_of(plan)] if s["status"].get("state") == "Dead"]
        assert {
            span_id(uid_of(each)) for each in [*dead, *tasks_of(world.store, plan)]
        } <= trace.keys()


def tasks_of(store: Store, plan: Object) -> list[Object]:
    """Those of the Plan that have ended."""
    owners = (task["metadata"].get("ownerReferences", ()) for task in store.all(TASKS))
    of_it = (any(o["uid"] == uid_of(plan) for o in each) for each in owners)
    found = [task for task, is_its in zip(store.all(TASKS), of_it, strict=True) if is_its]
    return [task for task in found if ended_at(task_of(task)) is not None]


@pytest.mark.parametrize("seed", WITHOUT_REQUESTS)
def test_with_traces_the_operator_writes_what_it_writes_without(seed: int) -> None:
    world, collected = played(seed)

    assert collected.spans
    assert written(world.store) == written(lived(generate(seed))[0].store)


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_sent_twice_is_the_same_span_but_for_a_whole_that_went_on(seed: int) -> None:
    world, collected = played(seed)
    sent: defaultdict[bytes, set[Span]] = defaultdict(set)
    for span in collected.spans:
        sent[span.span_id].add(span)

    ends = ends_of(world.store)
    for of, spans in sent.items():
        if len(spans) > 1:
            assert len({span.end for span in spans}) == len(spans) <= len(ends[of])
            assert {span.end for span in spans} <= ends[of]


def ends_of(store: Store) -> dict[bytes, set[datetime]]:
    """When each Plan and each Task ended, every time; with a Plan a Task ends that has not. By the
    ids of their spans."""
    found: defaultdict[bytes, set[datetime]] = defaultdict(set)
    for change in store.log[PLANS]:
        end = change.object["status"].get("endedAt") if "status" in change.object else None
        if end is not None:
            found[span_id(uid_of(change.object))].add(datetime.fromisoformat(end))
    plans = {of: set(ends) for of, ends in found.items()}
    for change in store.log[TASKS]:
        task = task_of(change.object)
        of, end, plan = span_id(task.metadata.uid), ended_at(task), plan_uid(task)
        found[of] |= {end} if end is not None else set()
        found[of] |= plans.get(span_id(plan), set()) if plan is not None else set()
    return found
