"""Objects as the operator leaves them, for the command line to look at."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bernstein.kube.client import Client
from bernstein.kube.errors import NotFound
from bernstein.kube.resource import Object, Resource
from tests.control_plane.conftest import eventually
from tests.control_plane.objects import AGENT_SESSIONS, OURS, PLANS, TASKS, valid

PLAN = """\
name: Small plan
budget: "$5"
stages:
  - name: build
    steps:
      - title: Write the limiter
        role: backend
      - title: Document it
        role: docs
"""
SHA = "a1b2c3d4" * 5
PODS = Resource("", "v1", "pods", "Pod")


def write(path: str, text: str) -> None:
    Path(path).write_text(text)


def condition(kind: str, status: str, reason: str, message: str = "") -> Object:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": now(),
    }


def now() -> str:
    return datetime.now(UTC).isoformat()


async def plan_exists(admin: Client, namespace: str, name: str = "small-plan") -> Object:
    async def found() -> bool:
        try:
            return bool(await admin.get(PLANS, name, namespace))
        except NotFound:
            return False

    await eventually(found)
    return await admin.get(PLANS, name, namespace)


async def set_status(operator: Client, obj: Object, **status: Any) -> Object:
    resource = {r.kind: r for r in (PLANS, TASKS, AGENT_SESSIONS)}[obj["kind"]]
    metadata = obj["metadata"]
    body = {"status": {"observedGeneration": metadata["generation"]} | status}
    return await operator.patch(
        resource, metadata["name"], metadata["namespace"], body, subresource="status"
    )


async def make_task(operator: Client, plan: Object, name: str, title: str, **spec: Any) -> Object:
    namespace = plan["metadata"]["namespace"]
    obj = valid("Task", namespace, name, title=title, stage="build", **spec)
    obj["metadata"] |= {
        "labels": {**OURS, "bernstein.dev/plan": plan["metadata"]["name"]},
        "ownerReferences": [
            {
                "apiVersion": "bernstein.dev/v1alpha1",
                "kind": "Plan",
                "name": plan["metadata"]["name"],
                "uid": plan["metadata"]["uid"],
                "controller": True,
            }
        ],
    }
    return await operator.create(TASKS, obj)


def moves(*pairs: tuple[str, str]) -> list[Object]:
    return [
        {"toState": state, "reason": reason, "attempt": 1, "time": now()} for state, reason in pairs
    ]


async def close(operator: Client, task: Object) -> None:
    for state in ("Open", "Claimed", "InProgress", "Done", "Closed"):
        task = await set_status(
            operator,
            task,
            state=state,
            history=moves((state, "Test")),
            spendUsd="0.25",
            attempt=1,
            delivery={"state": "Merged", "sha": SHA, "onto": "refs/heads/main"},
        )


async def make_session(
    operator: Client, task: Object, name: str, pod: str | None, number: int = 1
) -> Object:
    """A session of this Task, at work in this pod; without one it is about to start."""
    session = valid("AgentSession", task["metadata"]["namespace"], name, number=number)
    session["spec"]["taskRef"] = {key: task["metadata"][key] for key in ("name", "uid")}
    session["metadata"]["labels"]["bernstein.dev/task"] = task["metadata"]["name"]
    session = await operator.create(AGENT_SESSIONS, session)
    session = await set_status(operator, session, state="Starting")
    if pod is None:
        return session
    return await set_status(operator, session, state="Working", pod={"name": pod, "uid": "u"})
