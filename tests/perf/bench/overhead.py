"""From an agent's end to a Closed Task on a real node, phase by phase, one Task after another.

When statuses and Jobs were written stands in the API server's audit log; when containers ran
containerd tells. Of a node whose containerd cannot be asked the kubelet tells when the agent's
container ended, in whole seconds, so that the first phase and the whole are up to a second too
long, and nothing is known of our programs in pods.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bernstein.api.pod import AGENT, CHECK
from bernstein.core import labels
from tests import stack as stacks
from tests.cluster.control_plane import audit
from tests.cluster.control_plane.audit import Write
from tests.e2e.conftest import EXISTS, World, does, git_server, worlds, writing
from tests.perf.bench import containers
from tests.perf.bench.containers import Run
from tests.perf.bench.goals import OF_IT, OF_OPERATOR, OF_OURS
from tests.perf.bench.table import Table

NODE = "system:node:"
PATIENCE = 170
"""Seconds for one Task."""
OURS = ("until it is Done", "until its checks have Jobs", "until its landing has a Job")
OUR_LAST = "until it is Closed"
PHASES = (
    "until the kubelet tells of the pod's end",
    OURS[0],
    OURS[1],
    "until the checks' pods have ended",
    OURS[2],
    "until the landing's pod has ended",
    OUR_LAST,
)
"""Of one Task, each from the end of the one before; the first from the agent's end."""
PROGRAMS = {
    PHASES[0]: f"{OF_IT}the recorder and the pusher, with git",
    PHASES[3]: f"{OF_IT}our programs in the pod that ends last, with git",
    PHASES[5]: f"{OF_IT}our program, with git",
}
"""By phase the row of what our own containers take of it, and the git that they run."""


@dataclass(frozen=True)
class Size:
    """How many Tasks in each run."""

    tasks: int = 20
    runs: int = 2
    gates: tuple[str, ...] = ()
    """The whole pipeline; none: the default one."""


class NoTrailError(Exception):
    """The audit log lacks a step of a Task."""


@dataclass(frozen=True)
class Trail:
    """The writes of one namespace, in the order in which they finished."""

    writes: Sequence[Write]

    def status(self, resource: str, name: str, state: str) -> datetime:
        """When an object of ours was moved into this state."""
        found = (
            w
            for w in self._done(resource, "status")
            if w.name == name and (w.body or {}).get("status", {}).get("state") == state
        )
        return _first(found, f"{resource} {name} in {state}")

    def jobs(self, pattern: str) -> dict[str, datetime]:
        """When Jobs were made whose whole names match."""
        return {
            w.name: w.at
            for w in self._done("jobs", "")
            if w.verb == "create" and w.at is not None and re.fullmatch(pattern, w.name)
        }

    def end_of_pod(self, job: str, before: datetime) -> datetime:
        """When the kubelet wrote last of the Job's pod, before what followed from it."""
        found = [
            w.at
            for w in self._done("pods", "status")
            if w.user.startswith(NODE) and re.fullmatch(rf"{job}-\w{{5}}", w.name)
            if w.at is not None and w.at <= before
        ]
        if not found:
            raise NoTrailError(f"no kubelet has written of the pod of {job}")
        return max(found)

    def _done(self, resource: str, subresource: str) -> Iterable[Write]:
        return (
            w
            for w in self.writes
            if (w.resource, w.subresource) == (resource, subresource) and 200 <= w.code < 300
        )


def _first(found: Iterable[Write], what: str) -> datetime:
    times = [w.at for w in found if w.at is not None]
    if not times:
        raise NoTrailError(f"nobody has written {what}")
    return min(times)


def phases(trail: Trail, task: str, session: str, agent_end: datetime) -> dict[str, float]:
    """Seconds of each phase of a Task that landed at once."""
    done, closed = trail.status("tasks", task, "Done"), trail.status("tasks", task, "Closed")
    landing = trail.jobs(rf"{session}-land-\d+")
    checks = trail.jobs(rf"{session}-(?!land-).+")
    if not landing or not checks:
        raise NoTrailError(f"{task} has no Job of its checks, or none of its landing")
    lands, job = min((at, name) for name, at in landing.items())
    ends = [
        trail.end_of_pod(session, done),
        done,
        min(checks.values()),
        max(trail.end_of_pod(check, lands) for check in checks),
        lands,
        trail.end_of_pod(job, closed),
        closed,
    ]
    begins = [agent_end, *ends[:-1]]
    return {
        phase: (end - begin).total_seconds()
        for phase, begin, end in zip(PHASES, begins, ends, strict=True)
    }


def programs(trail: Trail, session: str, ran: Mapping[str, Mapping[str, Run]]) -> dict[str, float]:
    """Seconds that our containers take of each phase. `ran`: containers by name, of each Job's pod.
    The rest of these phases is the kubelet's, and the command's that a check runs."""
    checks = trail.jobs(rf"{session}-(?!land-).+")
    _, landing = min((at, name) for name, at in trail.jobs(rf"{session}-land-\d+").items())
    agent, last = ran[session], max((ran[check] for check in checks), key=_last_end)
    ours = (run.seconds for name, run in last.items() if name != CHECK)
    seconds = (
        (_last_end(agent) - agent[AGENT].ended).total_seconds(),
        sum(ours),
        sum(run.seconds for run in ran[landing].values()),
    )
    return dict(zip(PROGRAMS.values(), seconds, strict=True))


def _last_end(ran: Mapping[str, Run]) -> datetime:
    return max(run.ended for run in ran.values())


def table(size: Size, runs: Sequence[Sequence[Mapping[str, float]]]) -> Table:
    """Of each run the median, the longest but one of twenty, and the longest of each phase, of
    ours, and of all."""
    title = f"From the agent's end to Closed, {size.tasks} Tasks one after another"
    if size.gates:
        title = f"{title}, with the gates {', '.join(size.gates)} alone"
    made = Table(title, ["p50", "p95", "most"])
    known = all(found.keys() >= {*PROGRAMS.values()} for run in runs for found in run)
    rows = [row for phase in PHASES for row in (phase, PROGRAMS.get(phase)) if row is not None]
    sums: dict[str, tuple[str, ...]] = {
        **{row: (row,) for row in rows if known or row in PHASES},
        OF_OPERATOR: (*OURS, OUR_LAST),
        **({OF_OURS: (*OURS, OUR_LAST, *PROGRAMS.values())} if known else {}),
        "all": PHASES,
    }
    for what, parts in sums.items():
        seconds = [[sum(found[part] for part in parts) for found in run] for run in runs]
        cells = {
            "p50": tuple(statistics.median(each) for each in seconds),
            "p95": tuple(_p95(each) for each in seconds),
            "most": tuple(max(each) for each in seconds),
        }
        made.add(what, "s", cells)
    return made


def _p95(values: Sequence[float]) -> float:
    """The least of them that 95 % of all are not above."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


# --- the node


def overhead(size: Size, cluster: str | None) -> list[Table]:
    """The product must be there: `python -m tests.stack up`."""
    stack = stacks.running(cluster)
    runs = []

    def change(spec: dict[str, Any]) -> None:
        if size.gates:
            spec["gates"] = {"pipeline": [{"name": name} for name in size.gates]}

    with git_server(stack) as git:
        for _ in range(size.runs):
            names = [f"work-{number}" for number in range(size.tasks)]
            scenes = [does(name, writing(f"{name}.py", "X = 1\n")) for name in names]
            with contextmanager(worlds)(stack, git, "overhead") as make:
                runs.append(_run(make(scenes, change), names))
    return [table(size, runs)]


def _run(here: World, names: Iterable[str]) -> list[dict[str, float]]:
    sessions = {}
    with containers.recorded(here.stack.cluster) as events:
        for name in names:
            here.task(name, completionSignals=[{**EXISTS, "path": f"{name}.py"}])
            closed = ("wait", f"task/{name}", "--for=jsonpath={.status.state}=Closed")
            here.kubectl(*closed, f"--timeout={PATIENCE}s")
            sessions[name] = str(here.get("task", name)["status"]["session"])
        ran = containers.runs(events.read_text().splitlines())
    pods = {pod["metadata"]["labels"][labels.JOB_NAME]: pod for pod in here.all("pods")}
    log = Path(here.stack.cluster.status().audit_log)
    found = [w for w in audit.writes(log, here.started) if w.namespace == here.namespace]
    trail, of_pods = (
        Trail(found),
        {
            job: containers.of_pod(pod, ran)
            for job, pod in pods.items()
            if ran and pod["metadata"]["labels"].get(labels.SESSION) in sessions.values()
        },
    )
    return [
        phases(trail, name, session, _end(pods[session], of_pods.get(session, {})))
        | (programs(trail, session, of_pods) if ran else {})
        for name, session in sessions.items()
    ]


def _end(pod: Mapping[str, Any], ran: Mapping[str, Run]) -> datetime:
    """When the agent of this pod ended."""
    if AGENT in ran:
        return ran[AGENT].ended
    for container in pod["status"]["containerStatuses"]:
        if container["name"] == AGENT:
            return datetime.fromisoformat(container["state"]["terminated"]["finishedAt"])
    raise NoTrailError(f"{json.dumps(pod['metadata']['name'])} has no agent")
