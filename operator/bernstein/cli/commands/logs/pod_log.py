"""What the containers of a session's pod logged, as lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bernstein.api.pod import AGENT, CHECKOUT, PUSHER, RECORDER
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.logs import kept_log
from bernstein.cli.errors import explained
from bernstein.cli.output.notes import SHORT_SHA
from bernstein.core.documents import handed
from bernstein.core.logs.packed import is_lost
from bernstein.core.sanitise import line
from bernstein.kube.errors import ApiError, NotFound, Unauthorized

CONTAINERS = (CHECKOUT, RECORDER, PUSHER, AGENT)
"""Containers whose logs are shown. That of the agent holds what the recorder lets through of its
output."""
SAID = "said"
"""The recorder's event that holds a message of the agent, in pods of older releases."""
LONGEST_LOG = 4 * 1024 * 1024
"""Bytes of one log that are read, and characters of it that are shown."""

_LONGEST_LINE = 2000
_NOT_STARTED = 400
"""Status of the answer when a container waits to start."""
_END_OF_TIME = 253402300799.0 - 24 * 3600
"""A datetime can hold no later second, in whichever time zone it is shown."""
_TOLD_OTHERWISE = {"time", "event", "program", "number"}
_EXPLAINING = ("reason", "error", "message", "text")


@dataclass(frozen=True)
class PodLog:
    """What could be read of a pod's logs."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """By container; one that has not started is missing. Lines of the agent's, which have no time
    of their own, begin with the one that the node has noted."""
    missing: str = ""
    """In plain words, why there is nothing or not all."""


@dataclass(frozen=True)
class LogEntry:
    """One line, sanitised. Its time (Unix, in seconds) is the one that the container gave it."""

    time: float | None
    container: str
    words: str

    def __str__(self) -> str:
        shown = "" if self.time is None else f"{_local(self.time):%H:%M:%S}"
        return f"{shown:<8}  {self.container:<8}  {self.words}"


async def read(cluster: Cluster, session: AgentSession) -> PodLog:
    """The logs of a session's pod.

    Raises KubeError when the cluster does not answer, or refuses the credentials.
    """
    pod, over = session.status.pod, session.status.state is SessionState.DEAD
    if pod is None:
        return PodLog(missing="It had no pod." if over else "It has no pod yet.")
    outcome = session.status.outcome
    # Beside an agent that never started nothing happened: why it did not is said with its end.
    never_ran = outcome is not None and not outcome.started
    texts: dict[str, str] = {}
    missing = ""
    for container in (CHECKOUT,) if never_ran else CONTAINERS:
        try:
            log = await cluster.client.logs(
                cluster.namespace,
                pod.name,
                container=container,
                limit_bytes=LONGEST_LOG,
                timestamps=container == AGENT,
            )
        except Unauthorized:
            raise
        except ApiError as error:
            if error.status == _NOT_STARTED:
                continue
            missing = why_unreadable(error, pod.name)
            break
        texts[container] = "" if is_lost(log) else log.decode(errors="replace")
    if never_ran:
        return PodLog(texts)
    kept = await kept_log.of_agent(cluster, session) if over and not texts.get(AGENT) else None
    if kept is not None:
        return PodLog({**texts, AGENT: kept.text}, kept.note)
    nothing = "Its pod logged nothing." if over else "Its pod has logged nothing yet."
    return PodLog(texts, missing or ("" if any(texts.values()) else nothing))


def why_unreadable(error: ApiError, pod: str) -> str:
    """In plain words, why the log of this pod cannot be read."""
    if isinstance(error, NotFound):  # the error names the pod, or the node if that is gone
        lost = "Its pod" if error.details.get("name") == pod else "The node of its pod"
        return f"{lost} '{pod}' is gone, and what it logged with it."
    known = explained(error, "")
    return f"The log of its pod '{pod}' cannot be read: {known.message if known else error}"


def in_order(fresh: Mapping[str, str]) -> list[LogEntry]:
    """The lines of all containers, sorted by time.

    A line without a time stays behind the line before it in its container's log.
    """
    timed: list[tuple[float, LogEntry]] = []
    for container, text in fresh.items():
        latest = 0.0
        for entry in _entries(container, text):
            latest = latest if entry.time is None else entry.time
            timed.append((latest, entry))
    return [entry for _, entry in sorted(timed, key=lambda pair: pair[0])]


def _entries(container: str, text: str) -> Iterator[LogEntry]:
    """The lines of one log; a message of the agent counts as the agent's line."""
    for row in text.splitlines():
        # Lines of the agent's container are never taken for events of our programs.
        event = None if container == AGENT else _event(row)
        speaker, time = container, None
        if container == AGENT:
            time, words = _noted(row)
        elif event is None:
            handed_over = handed.told(row) if container == RECORDER else None
            words = row if handed_over is None else handed_over
        elif event["event"] == SAID:
            speaker, words, time = AGENT, str(event.get("text", "")), _time(event.get("time"))
        else:
            words, time = _sentence(event), _time(event.get("time"))
        if shown := line(words, _LONGEST_LINE):
            yield LogEntry(time, speaker, shown)


def untimed(container: str, text: str) -> str:
    """A log as the container wrote it."""
    if container != AGENT:
        return text
    return "".join(_noted(row)[1] for row in text.splitlines(keepends=True))


def told(row: str) -> str:
    """A line of a check's log; what a program of ours has noted, in words."""
    event = _event(row)
    return row if event is None or _time(event.get("time")) is None else _sentence(event)


def _noted(row: str) -> tuple[float | None, str]:
    """Time (Unix, in seconds) and words of a line that begins with its time."""
    stamp, space, words = row.partition(" ")
    try:
        time = _time(datetime.fromisoformat(stamp).timestamp())
    except (ValueError, OverflowError):
        time = None
    return (None, stamp + space + words) if time is None else (time, words)


def _event(row: str) -> dict[str, Any] | None:
    try:
        record = json.loads(row)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("event"), str) else None


def _sentence(event: dict[str, Any]) -> str:
    """`{"event": "push-failed", "reason": "RefMoved"}` is "push failed: RefMoved"."""
    head = event["event"].replace("-", " ")
    facts = {key: value for key, value in event.items() if key not in _TOLD_OTHERWISE and value}
    why = [str(facts.pop(key)) for key in _EXPLAINING if key in facts]
    told = ", ".join(_fact(key if key != head else "", value) for key, value in facts.items())
    return ": ".join([f"{head} {told}".rstrip(), *why])


def _fact(key: str, value: object) -> str:
    if value is True:
        return key
    if key == "sha":
        return str(value)[:SHORT_SHA]
    return str(value) if key == "ref" else f"{key} {value}".lstrip()


def _time(value: object) -> float | None:
    if not isinstance(value, int | float) or not 0 <= value <= _END_OF_TIME:
        return None
    return float(value)


def _local(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).astimezone()
