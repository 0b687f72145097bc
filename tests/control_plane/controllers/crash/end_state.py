"""What a story led to, without what differs between two tellings: times, uids and SHAs."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from bernstein.kube.resource import JOBS, Object
from tests.control_plane.controllers.world import World, condition
from tests.control_plane.objects import AGENT_SESSIONS, APPROVALS, PLANS, PROJECTS, TASKS

_MOVE = ("toState", "actor", "reason")
"""Of a move nothing differs but its time: no story loses a run for good, so none ends for another
reason because an operator has died."""
_OF_A_PLAN = re.compile(
    r"(refs/bernstein/)[^/]+?(?=/|$)|(refs/heads/bernstein/.+-)[0-9a-f]{8}(?=(-[0-9]+)?$)"
)


async def end_state(world: World) -> dict[str, Any]:
    """Empty as long as something lacks that is there in the end."""
    try:
        return await _state(world)
    except KeyError:
        return {}


async def _state(world: World) -> dict[str, Any]:
    remote = world.kubelet.remote
    return {
        "projects": {n: _project(p) for n, p in (await world.all(PROJECTS)).items()},
        "plans": {n: _plan(p) for n, p in (await world.all(PLANS)).items()},
        "tasks": {n: _task(t) for n, t in (await world.all(TASKS)).items()},
        "approvals": sorted(map(_approval, (await world.all(APPROVALS)).values())),
        "sessions": {n: _session(s) for n, s in (await world.all(AGENT_SESSIONS)).items()},
        "jobs": sorted(await world.all(JOBS)),
        "pods": Counter(world.kubelet.ran),
        "landed": [_named(ref) for ref, _ in remote.landed],
        "refs": {_named(ref): [_named(c) for c in remote.content(ref)] for ref in remote.refs},
    }


def _named(ref: str) -> str:
    """A ref without the uid in it."""
    return _OF_A_PLAN.sub(lambda found: f"{found[1] or found[2]}UID", ref)


def _project(project: Object) -> Object:
    status = project["status"]
    return {"running": status["running"], "conditions": _conditions(project)}


def _plan(plan: Object) -> Object:
    status = plan["status"]
    return _common(plan) | {
        "phase": status.get("phase"),
        "counts": status["counts"],
        "tasks": {row["name"]: _row(row) for row in status["tasks"]},
        "jobs": status.get("jobs"),
    }


def _row(row: Object) -> Object:
    return {field: row.get(field) for field in ("state", "attempts", "sessions", "spendUsd")}


def _task(task: Object) -> Object:
    status = task["status"]
    fields = ("session", "reason", "counted", "spendUsd")
    return _common(task) | {
        "state": status["state"],
        "attempt": status["attempt"],
        "sessions": status["sessions"],
        "attempts": [[a[field] for field in fields] for a in status.get("attempts", [])],
        "moves": [" ".join(move[f] for f in _MOVE) for move in status["history"]],
    }


def _approval(approval: Object) -> list[str]:
    """Without its name: that says when it was asked."""
    spec = approval["spec"]
    about = f"{spec['subject']['name']} {spec['asks'].get('attempt', '-')}"
    return [about, str(spec.get("decision")), approval["status"]["state"]]


def _common(obj: Object) -> Object:
    """What Tasks and Plans have in common."""
    status = obj["status"]
    verification, delivery = status.get("verification") or {}, status.get("delivery") or {}
    return {
        "conditions": _conditions(obj),
        "spend": status["spendUsd"],
        "usage": status.get("usage"),
        "failures": (status["infrastructureFailures"], status["gateErrors"]),
        "answers": [[a["id"], a["answer"], a["reason"]] for a in status.get("requests") or ()],
        "verdicts": [[c["name"], c["verdict"]] for c in verification.get("checks", [])],
        "delivery": {field: delivery.get(field) for field in ("state", "step", "round")},
        "ended": "endedAt" in status,
        "waiting": _waiting(status.get("waiting")),
    }


def _waiting(waiting: Object | None) -> Object | None:
    """But for its times."""
    return waiting and {
        key: value for key, value in waiting.items() if key not in ("since", "until")
    }


def _session(session: Object) -> Object:
    status = session["status"]
    outcome = status["outcome"]
    return {
        "state": status["state"],
        "outcome": (outcome["reason"], outcome["started"]),
        "usage": status.get("usage"),
    }


def _conditions(obj: Object) -> Object:
    found = {c["type"] for c in obj["status"].get("conditions", [])}
    return {kind: _said(obj, kind) for kind in sorted(found)}


def _said(obj: Object, kind: str) -> tuple[str, str]:
    told = condition(obj, kind)
    return told["status"], told["reason"]
