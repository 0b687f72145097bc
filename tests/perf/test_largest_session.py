"""What the largest AgentSession that the API takes costs the operator's loop at once.

The operator alone makes sessions, but most of what their statuses hold is what an agent has said.
Each step is measured alone, as the largest Plans are; `tests/control_plane` stores the same object.
"""

from __future__ import annotations

from typing import Any

from bernstein.api import session as sessions
from bernstein.api.meta import ConditionType
from bernstein.api.pod import FinalRecord
from bernstein.api.session import AgentSession, AgentSessionStatus
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import MOST_ATTEMPTS
from bernstein.core.sessions import decide as decisions
from bernstein.core.sessions import reading
from bernstein.core.tasks import decide as of_task
from bernstein.kube.patches import json_patch
from tests.perf.pace import allowed
from tests.perf.test_largest_objects import MOST_SECONDS, Longest
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object, agent_pod, ended, job, recorded

WIDE = "\N{VIOLIN}"
"""Of four bytes, and no ASCII: the dearest to look at."""
SHA = "f" * 64
COUNTS = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 10**15)
MONEY = "999999999.999999"


def text(characters: int) -> str:
    return WIDE * characters


def spec() -> Object:
    """Every field as long as it may be."""
    price = {"model": text(300), **dict.fromkeys(("input", "output", "cacheRead"), MONEY)}
    refs = ("agent", "adapter", "model", "baseRef", "workRef", "resumeRef")
    return {
        **{field: text(300) for field in refs},
        "taskRef": {"name": "a" * 40, "uid": "u" * 64},
        "planRef": {"name": "p" * 40, "uid": "u" * 64},
        "project": "d" * 40,
        "attempt": 2**31,
        "number": 2**31,
        "effort": "normal",
        "price": {**price, "cacheWrite": MONEY},
        "resumeSha": SHA,
        "rejected": {"ref": text(300), "sha": SHA},
        "timeoutSeconds": 2**31,
        "stop": {"reason": "R" * 64},
    }


def report() -> Object:
    return {
        "seq": 2**53,
        "heartbeatTime": NOW.isoformat(),
        "lastActivityTime": NOW.isoformat(),
        "usage": COUNTS,
        "model": text(300),
        "progress": text(200),
        "checkpoint": SHA,
        "outcome": "R" * 64,
        "lowConfidence": text(64),
    }


def prompt() -> Object:
    parts = {f"{number:02}{'p' * 62}": 2**31 for number in range(20)}
    told = {"digest": "f" * 64, "bytes": 2**31, "base": SHA, "cut": [text(300)] * 20}
    return told | {"mark": "0" * 64, "parts": parts, "changeMissing": "R" * 64}


def status() -> Object:
    """That of one that has ended, with sixteen conditions."""
    kinds = [*ConditionType][:16]
    kinds += [f"Newer{number}" for number in range(16 - len(kinds))]
    told = {"status": "True", "reason": "R" * 64, "message": text(4096)}
    work = {"base": SHA, "sha": SHA, "tree": "f" * 64, "ref": text(300)}
    outcome = {"reason": "R" * 64, "message": text(2048), "remedy": text(1024)}
    outcome |= {"text": text(2048), "lowConfidence": text(64)}
    return {
        "observedGeneration": 1,
        "state": "Dead",
        "conditions": [
            {"type": str(kind), **told, "lastTransitionTime": NOW.isoformat()} for kind in kinds
        ],
        "job": "j" * 40,
        "pod": {"name": "p" * 40, "uid": "u" * 64, "node": "n" * 253},
        "prompt": prompt(),
        "abandoned": {"reason": "R" * 64, "message": text(2048)},
        "report": report(),
        "work": work | {"protected": text(128), "protectedBy": "f" * 64},
        "usage": COUNTS,
        "outcome": outcome | {"waitsFor": ["w" * 40] * 10},
        "judgement": "J" * 64,
        "reason": "R" * 64,
        "startedAt": NOW.isoformat(),
        "endedAt": NOW.isoformat(),
    }


def follow(longest: Longest) -> None:
    """One from what is read of it to what is written of it, and of its Task."""
    its = objects.session(state=SessionState.WORKING, job="work-s1", started_at=NOW)
    meta = its.metadata.model_dump(mode="json", by_alias=True, exclude_none=True)
    obj: Object = {"metadata": meta, "spec": spec(), "status": status()}
    read = longest.of("parse", lambda: sessions.parse(obj))
    longest.of("dump", lambda: read.status.dump())
    longest.of("patch", lambda: json_patch({}, read.status.dump(), "/status"))
    longest.of("tell what follows", lambda: reading.told(read, read.status, None, NOW))

    working = _at_work(read)
    beats = decisions.SessionSnapshot(working, job("work-s1", _running()), True)
    longest.of("look at its heartbeat", lambda: decisions.decide(beats, NOW))
    over = decisions.SessionSnapshot(working, job("work-s1", _over()), True)
    found = longest.of("read its end", lambda: decisions.decide(over, NOW)).status
    assert found.state is SessionState.DEAD
    assert found.outcome is not None
    assert found.outcome.reason == "AgentFailed"

    before = objects.with_session(
        TaskState.IN_PROGRESS, attempts=[_attempt(n) for n in range(MOST_ATTEMPTS)]
    )
    ends = working.model_copy(update={"status": found})
    subject = objects.snapshot(objects.task(status=before, maxRetries=0), sessions=(ends,))
    after = longest.of("decide its Task", lambda: of_task.decide(subject, NOW)).status
    assert after.state is TaskState.FAILED


def _at_work(read: AgentSession) -> AgentSession:
    fields = read.status.model_dump() | {"state": SessionState.WORKING, "job": "work-s1"}
    fields |= dict.fromkeys(("outcome", "work", "usage", "judgement", "abandoned", "ended_at"))
    its = AgentSessionStatus.model_validate(fields)
    return read.model_copy(
        update={"status": its, "spec": read.spec.model_copy(update={"stop": None})}
    )


def _running() -> Any:
    return objects.pod(objects.running("agent"))


def _over() -> Any:
    final = FinalRecord("AgentFailed", text(500), text(2000), low_confidence=text(64))
    return agent_pod(1, recorder=ended("recorder", said=recorded(final=final)))


def _attempt(number: int) -> Object:
    how = {"session": f"work-s{number}", "attempt": number, "counted": True}
    return how | {"reason": "R" * 64, "message": text(512), "model": text(300)}


def test_no_step_of_the_largest_session_takes_the_loop_200_ms() -> None:
    longest = Longest()
    follow(longest)

    shown = ", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in longest.steps.items())
    print(f"\n{shown}")
    assert max(longest.steps.values()) < allowed(MOST_SECONDS), shown
