"""What checks printed that did not pass: kept with their verdict, or still in the log of a pod."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass

from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession
from bernstein.api.task import Task
from bernstein.cli import pod_log
from bernstein.cli.cluster import Cluster
from bernstein.cli.errors import explained
from bernstein.core import names, pods, reports
from bernstein.kube.errors import ApiError, Unauthorized
from bernstein.kube.resource import CONFIG_MAPS, PODS, Object, controller_of

JOB_NAME = "batch.kubernetes.io/job-name"
_PAGE = 50
_ONLY_THE_END = "Only the end of it was kept."
_STILL_RUNS = "It still runs."


@dataclass(frozen=True)
class Whose:
    """The Task or the Plan that the checks were made for."""

    label: str
    name: str
    uid: str
    session: str = ""
    """Set: only the checks of what this session left."""

    def has(self, job: str) -> bool:
        return not self.session or job.startswith(f"{self.session}-")


def of_task(task: Task) -> Whose:
    return Whose(names.LABEL_TASK, task.metadata.name, task.metadata.uid)


def of_session(session: AgentSession) -> Whose:
    task = session.spec.task_ref
    return Whose(names.LABEL_TASK, task.name, task.uid, session.metadata.name)


def of_plan(plan: Plan) -> Whose:
    """Of the checks of what it delivers; those of its Tasks are the Tasks'."""
    return Whose(names.LABEL_PLAN, plan.metadata.name, plan.metadata.uid)


@dataclass(frozen=True)
class CheckLog:
    """Of one run of one check. `note` says in plain words why there is nothing or not all."""

    check: str
    job: str
    written: str = ""
    """As the check wrote it: to be sanitised wherever it is shown."""
    note: str = ""


@dataclass(frozen=True)
class CheckLogs:
    """The first one first; `missing` says in plain words what could not be looked for."""

    found: tuple[CheckLog, ...] = ()
    missing: str = ""


async def read(cluster: Cluster, whose: Whose, *, running: bool = True) -> CheckLogs:
    """What is kept and, where nothing is, the logs of pods, of `running` checks, too.

    Raises KubeError when the cluster cannot be asked.
    """
    selector = f"{whose.label}={names.bounded(whose.name)}"
    aged: list[tuple[str, CheckLog]] = []
    try:
        kept = await cluster.client.list(
            CONFIG_MAPS,
            cluster.namespace,
            label_selector=f"{selector},{names.LABEL_REPORT}",
            limit=_PAGE,
        )
        aged += [(_made(obj), _kept(obj)) for obj in _owned(kept.items, whose)]
        live = await cluster.client.list(
            PODS, cluster.namespace, label_selector=f"{selector},{names.LABEL_JOB}=check"
        )
    except Unauthorized:
        raise
    except ApiError as error:
        known = explained(error, "")
        why = known.message if known else str(error)
        return CheckLogs(_in_order(aged, whose), f"Not all that checks printed can be read: {why}")
    known_jobs = {log.job for _, log in aged}
    for pod in live.items:
        if _job_of(pod) not in known_jobs and _tells(pod, whose, running=running):
            aged.append((_made(pod), await _of_pod(cluster, pod)))
    return CheckLogs(_in_order(aged, whose))


def _in_order(aged: Iterable[tuple[str, CheckLog]], whose: Whose) -> tuple[CheckLog, ...]:
    ordered = sorted(aged, key=lambda pair: (pair[0], pair[1].job))
    return tuple(log for _, log in ordered if whose.has(log.job))


def _made(obj: Object) -> str:
    return str(obj["metadata"].get("creationTimestamp", ""))


def _owned(items: Iterable[Object], whose: Whose) -> list[Object]:
    """Not those of another one that had the same name before."""
    return [obj for obj in items if (controller_of(obj) or {}).get("uid") == whose.uid]


def _kept(obj: Object) -> CheckLog:
    meta = obj["metadata"]
    labels = meta.get("labels", {})
    job, check = labels[names.LABEL_REPORT], labels.get(names.LABEL_CHECK, "")
    try:
        packed = base64.b64decode(obj.get("binaryData", {}).get(reports.KEY, ""), validate=True)
        written = reports.unpack(packed).decode(errors="replace")
    except ValueError as error:
        return CheckLog(check, job, note=f"What was kept of it cannot be read: {error}.")
    cut = meta.get("annotations", {}).get(names.REPORT_CUT) == "true"
    return CheckLog(check, job, written, _ONLY_THE_END if cut else "")


def _job_of(pod: Object) -> str:
    return str(pod["metadata"]["labels"].get(JOB_NAME, ""))


def _tells(pod: Object, whose: Whose, *, running: bool) -> bool:
    """Whether its check printed something that is no part of a good end."""
    if pod["metadata"]["labels"].get(names.LABEL_OWNER) != whose.uid:
        return False
    if pods.running_since(pod, reports.CONTAINER) is not None:
        return running
    return pods.is_running(pod, reports.CONTAINER) and pods.phase(pod) != "Succeeded"


async def _of_pod(cluster: Cluster, pod: Object) -> CheckLog:
    name, labels = pod["metadata"]["name"], pod["metadata"]["labels"]
    check, job = labels.get(names.LABEL_CHECK, ""), _job_of(pod)
    try:
        found = await cluster.client.logs(
            cluster.namespace,
            name,
            container=reports.CONTAINER,
            tail_lines=reports.LOG_LINES,
            last_bytes=reports.LOG_BYTES,
        )
    except Unauthorized:
        raise
    except ApiError as error:
        return CheckLog(check, job, note=pod_log.why_unreadable(error, name))
    runs = pods.running_since(pod, reports.CONTAINER) is not None
    return CheckLog(check, job, found.decode(errors="replace"), _STILL_RUNS if runs else "")
