"""An agent that lies, from what it writes in its pod to what the operator makes of that.

The recorder is the real one, on files of its own; what it leaves is read as the operator reads it.
"""

from __future__ import annotations

import json
import threading
from datetime import datetime
from typing import Any

from bernstein import agents
from bernstein.api.pod import RecorderResult
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Attempt, Task
from bernstein.core.jobs import JobView
from bernstein.core.sessions import decide as sessions
from bernstein.pods.programs import recorder
from tests.programs.pods.agent_pod import Volumes, write
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import NOW, Object, agent_pod, ended, job


def said(volumes: Volumes, *records: Object, code: int = 0, **places: str) -> RecorderResult:
    """What the recorder makes of an agent's output, of which each line is such a record; `places`:
    files that it is told to be elsewhere."""
    stream = "".join(f"{json.dumps(record)}\n" for record in records)
    exits = {"exitCode": code, "signal": None, "stopped": False}
    write(volumes.stream, {"stdout.log": stream, "exit.json": json.dumps(exits)})
    at_its_end = threading.Event()
    at_its_end.set()
    beside = recorder.Recorder(volumes.recorder_config(**places), agents.get("demo").parser())
    try:
        return beside.run(at_its_end)
    finally:
        beside.close()


def pod_of(result: RecorderResult, task: str = "work", code: int = 0) -> JobView:
    """The Job of a session of that Task, whose pod ended with this result of the recorder."""
    pushed = objects.pushed(base=result.base, sha=result.sha, tree=result.tree)
    kept = {"pusher": ended("pusher", said=pushed), "recorder": ended("recorder", said=result)}
    return job(f"{task}-s1", agent_pod(code, **kept))


def over(its: JobView, task: str = "work", began: datetime = NOW) -> AgentSession:
    """The session of that Task, as it is written at the end of its Job."""
    running: Object = {"job": f"{task}-s1", "started_at": began}
    session = objects.session(task=task, state=SessionState.WORKING, **running)
    decided = sessions.decide(sessions.SessionSnapshot(session, its, True), NOW)
    return session.model_copy(update={"status": decided.status})


def after(
    session: AgentSession, name: str = "work", attempts: tuple[Attempt, ...] = (), **spec: Any
) -> Task:
    """The Task of that session, with the status that follows from its end. `attempts`: what is
    known of those before."""
    before = objects.with_session(TaskState.IN_PROGRESS, attempts=attempts)
    before = before.model_copy(update={"session": f"{name}-s1", "sessions": 1})
    task = objects.task(name, status=before, **spec)
    found = scheduled.decide(objects.snapshot(task, sessions=(session,)), NOW).status
    return task.model_copy(update={"status": found})
