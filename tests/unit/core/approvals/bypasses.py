"""A Task whose last attempt a gate has rejected, and what a person says to that."""

from __future__ import annotations

from typing import Any

from bernstein.api.approvals.approval import Approval
from bernstein.api.project import Project
from bernstein.api.task import TaskStatus
from bernstein.core import names
from bernstein.core.actions import TaskDecision
from bernstein.core.jobs import JobView
from tests.unit.core import objects, scheduled
from tests.unit.core.approvals.asked import ANN, decided, known, made
from tests.unit.core.objects import at, checked, done, snapshot, verification

ONE, TWO = ({"name": f"gate_{n}", "command": f"make check-{n}"} for n in "ab")
ATTEMPT = {"session": "work-s1", "attempt": 1, "counted": True, "reason": "Succeeded"}
BECAUSE = "the rule is wrong here"


def allowing(*gates: dict[str, Any], allow: bool = True, **more: Any) -> Project:
    """A Project with these gates that allows a bypass; `more`: its policy, and how gates run."""
    how = {"execution": more.pop("execution")} if "execution" in more else {}
    off = [{"name": name, "enabled": False} for name in ("lint", "pii_scan")]
    said = {"pipeline": [*(gates or (ONE,)), *off], "allowBypass": allow, **how}
    return objects.project(gates=said, approval=more)


def ran(gate: str, code: int, number: int = 0) -> tuple[JobView, ...]:
    """The Job of a gate; where it fails, also that on the base, which passes there."""
    red = (checked(name(names.on_base(gate), number)),) if code else ()
    return (checked(name(gate, number), code, said="F401 in web.py" if code else ""), *red)


def name(check: str, number: int = 0) -> str:
    return names.session_job("work-s1", check, number)


RED = ran("gate_a", 1)


def look(
    status: TaskStatus,
    *approvals: Approval,
    jobs: tuple[JobView, ...] = (),
    of: Project | None = None,
    now: float = 0,
    plan: Any = None,
    **spec: Any,
) -> TaskDecision:
    subject = objects.task(status=status, **({"maxRetries": 0} | spec))
    given = snapshot(
        subject,
        project=of or allowing(),
        approvals=known(*approvals),
        jobs=jobs,
        plan=plan or objects.plan(),
    )
    return scheduled.decide(given, at(now))


def begun(**more: Any) -> TaskStatus:
    return done(attempts=(ATTEMPT,), verification=verification(**more))


def asks(*, jobs: tuple[JobView, ...] = RED, **more: Any) -> TaskStatus:
    """The status of a Task whose last attempt was rejected by these Jobs."""
    return look(begun(), jobs=jobs, **more).status


def yes(status: TaskStatus, by: str = ANN, reason: str | None = BECAUSE, **more: Any) -> Approval:
    """The Approval that is asked for, with a yes."""
    return decided(made(look(status, **more)), "Approve", by, reason)


def bypassed(*, jobs: tuple[JobView, ...] = RED, **more: Any) -> TaskStatus:
    """The status after a person has let it go on."""
    before = asks(jobs=jobs, **more)
    return look(before, yes(before, **more), **more).status
