"""The simulated cluster at one moment as JSON, and how its story ends from there.

What decisions lead to, one after the other, no single one of them shows: objects that an older
release made must come to the end that it would have brought them to.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from bernstein.api import plan, session
from bernstein.api.session import AgentSession
from bernstein.core.waiting import is_stalled
from tests.unit.core.simulation.remote import Commit
from tests.unit.core.simulation.state import TARGET, Job
from tests.unit.upgrade.cluster import Cluster
from tests.unit.upgrade.decisions import Object, action, job_action, project_then, task_then

NAME = "moments.gz"


def write(path: Path, moments: Iterable[Object]) -> None:
    lines = (json.dumps(moment, sort_keys=True, separators=(",", ":")) for moment in moments)
    path.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


def read(path: Path) -> list[Object]:
    return [orjson.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def as_json(world: Cluster) -> Object:
    """All that a world goes on from."""
    remote = world.remote
    told = {
        "now": world.now.isoformat(),
        "project": world.project.dump(),
        "plan": None if world.plan is None else world.plan.dump(),
        "tasks": [each.dump() for each in world.tasks.values()],
        "sessions": [each.dump() for each in world.sessions.values()],
        "jobs": [_job(job) | {"labels": world.labels_of(job)} for job in world.jobs.values()],
        "commits": {sha: [made.parents, made.files] for sha, made in remote.commits.items()},
        "refs": remote.refs,
        "landed": sorted(world.seen.landed),
        "logs": sorted(world.reports),
        "made": world._made,
    }
    found: Object = json.loads(json.dumps(told))
    return found


def _job(job: Job) -> Object:
    wants = job.wants
    return {
        "name": job.name,
        "uid": job.uid,
        "owner": job.owner,
        "wants": wants.dump() if isinstance(wants, AgentSession) else action(wants),
        "created": job.created.isoformat(),
        "pod": job.pod,
        "base": job.base,
        "deleting": job.deleting,
        "held": job.held,
    }


def world_of(moment: Object) -> Cluster:
    """The world as it was, with today's operator in it."""
    found = Cluster(
        project_then(moment["project"]),
        None if moment["plan"] is None else plan.parse(moment["plan"]),
        [task_then(obj) for obj in moment["tasks"]],
    )
    found.now = datetime.fromisoformat(moment["now"])
    found.sessions = {obj["metadata"]["name"]: session.parse(obj) for obj in moment["sessions"]}
    for obj in moment["jobs"]:
        found.add_job(_job_of(obj), obj["labels"])
    found.remote.refs = dict(moment["refs"])
    found.remote.commits = {
        sha: Commit(tuple(parents), tuple((path, text) for path, text in files))
        for sha, (parents, files) in moment["commits"].items()
    }
    found.seen.landed = {(ref, sha) for ref, sha in moment["landed"]}
    found.reports = set(moment["logs"])
    found._made = moment["made"]
    return found


def _job_of(obj: Object) -> Job:
    wants = obj["wants"]
    return Job(
        name=obj["name"],
        uid=obj["uid"],
        owner=obj["owner"],
        wants=job_action(wants) if "action" in wants else session.parse(wants),
        created=datetime.fromisoformat(obj["created"]),
        pod=obj["pod"],
        base=obj["base"],
        deleting=obj["deleting"],
        held=obj["held"],
    )


def end(world: Cluster) -> Object:
    """Where everything comes to when all goes well from now on."""
    world.run_on()
    plan = world.plan
    target = world.remote.refs[TARGET]
    return {
        "plan": [] if plan is None else [plan.status.phase, plan.status.spend_usd],
        "tasks": {
            name: [
                str(each.status.state),
                getattr(each.status.delivery, "state", None),
                each.status.attempt,
                each.status.spend_usd,
            ]
            for name, each in sorted(world.tasks.items())
        },
        "files": sorted(world.remote.files(target)),
        "sessions": sorted(world.sessions),
    }


def kinds(world: Cluster) -> list[Any]:
    """What each object of a moment is in the midst of."""
    plans = [] if world.plan is None else [("Plan", world.plan.status)]
    tasks = [(task.metadata.uid, task.status) for task in world.tasks.values()]
    return [
        [owner == "Plan", _standing(status), _at_work(world, owner)]
        for owner, status in plans + tasks
    ]


def _at_work(world: Cluster, owner: str) -> list[Any]:
    """Its Jobs, and those of its sessions."""
    mine = (job for job in world.jobs.values() if owner in (job.owner, _task_of(job)))
    return sorted({job.role for job in mine if not job.ended})


def _task_of(job: Job) -> str | None:
    return job.task if job.role == "agent" else None


def _standing(status: Any) -> list[Any]:
    delivery, waiting, judged = status.delivery, status.waiting, status.verification
    return [
        getattr(status, "state", None) or status.phase,
        getattr(delivery, "state", None),
        getattr(delivery, "step", None),
        getattr(judged, "passed", None),
        getattr(waiting, "reason", None),
        is_stalled(status),
    ]
