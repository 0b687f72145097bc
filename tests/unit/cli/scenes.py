"""A Plan in the middle of its run, as the API server would serve it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console

from bernstein.api import plan as plans
from bernstein.api import task as tasks
from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.settings import CliSettings
from bernstein.core.plans import expansion
from bernstein.core.plans import file as plan_file
from bernstein.kube.resource import SELF_SUBJECT_REVIEWS
from tests.unit.core.plans.plan_files import RATE_LIMIT
from tests.unit.kube.apiserver import ApiServer

SHA = "a1b2c3d4" * 5
HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202egnp.exe @everyone"
AT = "\uff20"
"""What becomes of the mention in it."""


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


def known_as(api: ApiServer, user: str) -> None:
    """The API server tells whoever asks that this is his name."""
    told = json.dumps({"status": {"userInfo": {"username": user}}}).encode()
    api.instead = lambda call: told if call.plural == SELF_SUBJECT_REVIEWS.plural else None


def unknown(api: ApiServer) -> None:
    """The API server tells nobody who he is."""
    api.fault = lambda call: 403 if call.plural == SELF_SUBJECT_REVIEWS.plural else None


def condition(kind: str, status: str, reason: str, message: str = "") -> dict[str, Any]:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": ago(1),
    }


def move(to: str, reason: str, *, attempt: int, seconds: float) -> dict[str, Any]:
    return {"toState": to, "reason": reason, "attempt": attempt, "time": ago(seconds)}


def needs(reason: str, message: str, **more: str) -> dict[str, Any]:
    """What a person is waited for."""
    waiting = {"reason": reason, "message": message, "since": "2030-01-01T12:00:00Z"}
    return {"waiting": waiting | more | {"needsPerson": True}, "endedAt": None}


def plan(**status: Any) -> Plan:
    data = plan_file.parse(RATE_LIMIT)
    assert isinstance(data, dict)
    obj = plan_file.plan_object(data, namespace="team")
    obj["metadata"] |= {"uid": "u", "generation": 1, "creationTimestamp": ago(300)}
    running = {
        "observedGeneration": 1,
        "phase": "Running",
        "currentStage": "implement",
        "startedAt": "2030-01-01T00:00:00Z",
        "spendUsd": "0.42",
        "counts": {"total": 7, "closed": 2, "running": 2, "open": 3},
        "conditions": [condition("Reconciling", "True", "Running", "Tasks are running")],
    }
    if any(each["type"] == "Succeeded" for each in status.get("conditions", ())):
        running["endedAt"] = "2030-01-01T00:03:12Z"
    return plans.parse(obj | {"status": running | status})


def task(index: int, **status: Any) -> Task:
    """The Task of the plan's step with that number."""
    obj = expansion.expand(plan(), "default")[index]
    obj["metadata"]["creationTimestamp"] = ago(290)
    return tasks.parse(obj | {"status": {"observedGeneration": 1} | status})


def name(index: int) -> str:
    return task(index).metadata.name


def verification(**fields: Any) -> dict[str, Any]:
    return {"base": SHA, "sha": SHA, "tree": SHA, "ref": "refs/x"} | fields


def failed_task() -> Task:
    """Two sessions that reported success; a signal refused the first, a gate the second."""
    mine = name(4)
    ended = {"counted": True, "reason": "Succeeded", "model": "sonnet", "spendUsd": "0.6"}
    check = {"kind": "gate", "required": True}
    return task(
        4,
        state="Failed",
        attempt=4,
        spendUsd="1.2",
        feedback="GateFailed: lint failed",
        attempts=[
            {"session": f"{mine}-s1", "attempt": 3} | ended,
            {"session": f"{mine}-s2", "attempt": 4} | ended,
        ],
        history=[
            move("Failed", "SignalFailed", attempt=3, seconds=60),
            move("Failed", "GateFailed", attempt=4, seconds=5),
        ],
        conditions=[
            condition(
                "Stalled",
                "True",
                "GateFailed",
                "no retry is left after 4 attempts Remedy: Read the verdict.",
            )
        ],
        verification=verification(
            passed=False,
            checks=[
                check
                | {
                    "name": "lint",
                    "title": "lint",
                    "verdict": "Failed",
                    "excerpt": f"F401 unused {HOSTILE}",
                    "seconds": 3,
                },
                check | {"name": "pii_scan", "verdict": "Passed"},
            ],
        ),
    )


def running_tasks() -> list[Task]:
    """One of every kind; the last step has no Task yet."""
    return [
        task(
            0,
            state="Closed",
            attempt=1,
            spendUsd="0.12",
            delivery={"state": "Merged", "sha": SHA},
        ),
        task(
            1, state="Closed", attempt=2, spendUsd="0.004", delivery={"state": "Merged", "sha": SHA}
        ),
        task(2, state="InProgress", attempt=1, spendUsd="0.3"),
        task(
            3,
            state="Done",
            attempt=1,
            verification=verification(passed=True),
            delivery={"state": "Pending", "step": "Landing"},
        ),
        failed_task(),
        task(5, state="Open", queue={"reason": "DependencyPending", "message": "waits for x"}),
    ]


def terminal(
    width: int = 80, *, tty: bool = False, settings: CliSettings | None = None
) -> tuple[Terminal, Console]:
    """A terminal whose output is recorded."""
    found = Terminal(settings or CliSettings())
    console = Console(
        width=width, record=True, highlight=False, markup=False, emoji=False, force_terminal=tty
    )
    found.out = found.err = console
    return found, console
