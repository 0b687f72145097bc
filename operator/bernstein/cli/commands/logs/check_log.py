"""Logs of checks that did not pass: kept in a ConfigMap with the verdict, or still in a pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bernstein.api.encoding import load
from bernstein.api.plan import Plan
from bernstein.api.pod import CHECK, CheckVerdict
from bernstein.api.session import AgentSession
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.logs import kept_log, pod_log
from bernstein.cli.errors import explained
from bernstein.core import labels, names, pods
from bernstein.core.logs import packed
from bernstein.kube.errors import ApiError, Unauthorized
from bernstein.kube.resource import CONFIG_MAPS, PODS, Object, controller_of

_PAGE = 50
_STILL_RUNS = "It still runs."
_IS_COMPARED = "It is being compared with the commit before the work."


@dataclass(frozen=True)
class Whose:
    """The Task or the Plan that checks were made for; `label` is the one that holds its name."""

    label: str
    name: str
    uid: str
    session: str = ""
    """If set, only the checks of this session's work."""

    def has(self, job: str) -> bool:
        """Whether the check of this Job is one of them."""
        return not self.session or job.startswith(f"{self.session}-")


def of_task(task: Task) -> Whose:
    return Whose(labels.TASK, task.metadata.name, task.metadata.uid)


def of_session(session: AgentSession) -> Whose:
    task = session.spec.task_ref
    return Whose(labels.TASK, task.name, task.uid, session.metadata.name)


def of_plan(plan: Plan) -> Whose:
    """The checks of what the Plan delivers as a whole; those of its Tasks belong to the Tasks."""
    return Whose(labels.PLAN, plan.metadata.name, plan.metadata.uid)


@dataclass(frozen=True)
class CheckLog:
    """The log of one run of one check."""

    check: str
    job: str
    text: str = ""
    """As the check wrote it: to be sanitised wherever it is shown."""
    note: str = ""
    """In plain words, why there is no text or not all of it."""
    repository: str = ""
    """By its name, in a Project with several; "": there is one, or nobody has said so."""


@dataclass(frozen=True)
class CheckLogs:
    """What could be read, the oldest first."""

    logs: tuple[CheckLog, ...] = ()
    missing: str = ""
    """In plain words, why some of them could not be read."""


async def read(cluster: Cluster, whose: Whose, *, running: bool = True) -> CheckLogs:
    """The logs that are kept, and those of pods whose logs are not: also of checks that still run,
    if `running`.

    Raises KubeError when the cluster does not answer, or refuses the credentials.
    """
    selector = f"{whose.label}={names.bounded(whose.name)}"
    aged: list[tuple[str, CheckLog]] = []
    try:
        kept = await cluster.client.list(
            CONFIG_MAPS,
            cluster.namespace,
            label_selector=f"{selector},{labels.CHECK_LOG}",
            limit=_PAGE,
        )
        aged += [(_made(obj), _kept(obj)) for obj in _owned(kept.items, whose)]
        live = await cluster.client.list(
            PODS, cluster.namespace, label_selector=f"{selector},{labels.JOB}={CHECK}"
        )
    except Unauthorized:
        raise
    except ApiError as error:
        known = explained(error, "")
        why = known.message if known else str(error)
        return CheckLogs(_in_order(aged, whose), f"Not all that checks printed can be read: {why}")
    jobs_with_log = {log.job for _, log in aged}
    mine = [pod for pod in live.items if _labels_of(pod).get(labels.OWNER_UID) == whose.uid]
    by_job = {_job_of(pod): pod for pod in mine}
    for job, pod in by_job.items():
        on_base = by_job.get(names.job_on_base(job))
        if job not in jobs_with_log and _tells(pod, on_base, running=running):
            aged.append((_made(pod), await _of_pod(cluster, pod, on_base)))
    return CheckLogs(_in_order(aged, whose))


def _in_order(aged: Iterable[tuple[str, CheckLog]], whose: Whose) -> tuple[CheckLog, ...]:
    ordered = sorted(aged, key=lambda pair: (pair[0], pair[1].job))
    return tuple(log for _, log in ordered if whose.has(log.job))


def _made(obj: Object) -> str:
    return str(obj["metadata"].get("creationTimestamp", ""))


def _owned(items: Iterable[Object], whose: Whose) -> list[Object]:
    """Those of this very Task or Plan, not of an older one of the same name."""
    return [obj for obj in items if (controller_of(obj) or {}).get("uid") == whose.uid]


def _kept(obj: Object) -> CheckLog:
    """The log that a ConfigMap holds."""
    meta = obj["metadata"]
    values = meta.get("labels", {})
    job, check = values[labels.CHECK_LOG], values.get(labels.CHECK, "")
    log = kept_log.of(obj)
    return CheckLog(check, job, log.text, log.note, values.get(labels.REPOSITORY, ""))


def _labels_of(pod: Object) -> Mapping[str, str]:
    found: Mapping[str, str] = pod["metadata"]["labels"]
    return found


def _job_of(pod: Object) -> str:
    return str(_labels_of(pod).get(labels.JOB_NAME, ""))


def _tells(pod: Object, on_base: Object | None, *, running: bool) -> bool:
    """Whether the pod's log is worth showing: its check runs and is wanted, or did not pass.

    `on_base`: the pod of the same check on the commit before the work, if there is one.
    """
    if pods.running_since(pod, CHECK) is not None:
        return running
    if not pods.has_started(pod, CHECK) or pods.phase(pod) == "Succeeded":
        return False
    if on_base is None:
        return True
    return not _has_passed(on_base) if pods.has_ended(on_base) else running


def _has_passed(on_base: Object) -> bool:
    """Whether this comparison has found that all that the check told was there before the work."""
    told = (pods.terminated(on_base, CHECK) or {}).get("message") or ""
    try:
        return load(CheckVerdict, told).verdict == "Passed"
    except ValueError:
        return False  # it ran the check once more, and compared nothing


async def _of_pod(cluster: Cluster, pod: Object, on_base: Object | None) -> CheckLog:
    """The log that a pod holds, or why it cannot be read."""
    name = pod["metadata"]["name"]
    values, job = _labels_of(pod), _job_of(pod)
    check, where = values.get(labels.CHECK, ""), values.get(labels.REPOSITORY, "")
    try:
        log = await cluster.client.logs(
            cluster.namespace,
            name,
            container=CHECK,
            tail_lines=packed.LOG_LINES,
            last_bytes=packed.LOG_BYTES,
        )
    except Unauthorized:
        raise
    except ApiError as error:
        return CheckLog(check, job, note=pod_log.why_unreadable(error, name), repository=where)
    note = ""
    if pods.running_since(pod, CHECK) is not None:
        note = _STILL_RUNS
    elif on_base is not None and not pods.has_ended(on_base):
        note = _IS_COMPARED
    return CheckLog(check, job, log.decode(errors="replace"), note, where)
