"""Plans, Tasks and sessions that have ended in one way or another, as their statuses tell it."""

from __future__ import annotations

from typing import Any

from bernstein.api.meta import UsageCounts
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import Move, Task
from bernstein.api.verification import CheckResult, VerdictWord
from bernstein.core.traces.span import Span
from tests.unit.core import objects
from tests.unit.core.objects import at, verification

STATES = TaskState
USAGE = UsageCounts(input=100, output=20, cache_read=1000, cache_write=10)


def moves(*states: TaskState, attempts: tuple[int, ...] = ()) -> tuple[Move, ...]:
    """From Open through these states, one each ten seconds from NOW on."""
    before = (STATES.OPEN, *states)
    counted = attempts or (0,) * len(states)
    return tuple(
        Move(from_state=left, to_state=state, reason="Because", attempt=count, time=at(10 * number))
        for number, (left, state, count) in enumerate(zip(before, states, counted, strict=False))
    )


ONCE = (STATES.CLAIMED, STATES.IN_PROGRESS, STATES.DONE, STATES.CLOSED)
"""At 0, 10, 20 and 30 seconds."""
TWICE = (
    *(STATES.CLAIMED, STATES.IN_PROGRESS, STATES.DONE, STATES.FAILED),
    *(STATES.OPEN, STATES.CLAIMED, STATES.IN_PROGRESS, STATES.DONE, STATES.CLOSED),
)


def check(name: str, verdict: VerdictWord = "Passed", **more: Any) -> CheckResult:
    return CheckResult.model_validate({"name": name, "kind": "gate", "verdict": verdict} | more)


def closed_task(*states: TaskState, **more: Any) -> Task:
    """One that was verified and landed five seconds before it was Closed."""
    history = moves(*(states or ONCE))
    end = history[-1].time
    judged = verification(
        passed=True,
        verified_at=at((end - at(0)).total_seconds() - 5),
        checks=[
            check("lint", seconds=3, ended_at=at(24)),
            check("dlp_scan", ended_at=at(22)),
        ],
    )
    status = objects.closed(
        1, landed_at=end, history=history, ended_at=end, sessions=1, session="work-s1"
    )
    told = status.model_copy(update={"verification": judged, "spend_usd": "0.25"})
    return objects.task(status=told, **more)


def ended_plan(phase: str | None = "Succeeded", **status: Any) -> Plan:
    """One that ended a minute after NOW."""
    fields: dict[str, Any] = {"observed_generation": 1, "phase": phase, "ended_at": at(60)}
    fields |= {"project": "default", "spend_usd": "1.5"}
    return objects.plan(status=PlanStatus.model_validate(fields | status))


def run(number: int = 1, reason: str = "Succeeded") -> AgentSession:
    """A session that ended 20 seconds after NOW."""
    found = objects.dead(reason, number=number, usage=USAGE)
    times = {"started_at": at(5), "ended_at": at(20)}
    return found.model_copy(update={"status": found.status.model_copy(update=times)})


def named(spans: list[Span]) -> list[str]:
    return [span.name for span in spans]


def one(spans: list[Span], name: str) -> Span:
    """The only one of that name."""
    (found,) = [span for span in spans if span.name == name]
    return found


def told(span: Span) -> dict[str, Any]:
    return dict(span.attributes)
