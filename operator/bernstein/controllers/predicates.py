"""Which changes of an object matter to other objects, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bernstein.api.meta import ConditionType
from bernstein.api.project import Project
from bernstein.api.states import SessionState
from bernstein.controllers.caches import Caches
from bernstein.controllers.job_views import OWNER
from bernstein.core import labels, pods
from bernstein.core.projects.readiness import not_ready
from bernstein.core.waiting import missed_by_probe
from bernstein.kube.reconcile import Predicate
from bernstein.kube.resource import Object, controller_of, is_deleting


def same_spec(old: Object | None, new: Object | None) -> bool:
    """Nothing but the status has changed."""
    if old is None or new is None or is_deleting(old) != is_deleting(new):
        return False
    return bool(old["metadata"].get("generation") == new["metadata"].get("generation"))


def spec_changed(old: Object | None, new: Object | None) -> bool:
    return not same_spec(old, new)


def gone(_: object, new: object) -> bool:
    return new is None


def readiness_changed(old: Project | None, new: Project | None) -> bool:
    """A Project may be used again, or may not."""
    return _may_be_used(old) != _may_be_used(new)


def secrets_turned_up(old: Project | None, new: Project | None) -> bool:
    """The pod of its probe waits for other Secrets than before."""
    return missed_by_probe(old) != missed_by_probe(new)


def watch_changed(old: Project | None, new: Project | None) -> bool:
    """Something else is known of pull requests, or why it is not."""
    return _watched(old) != _watched(new)


def _watched(project: Project | None) -> object:
    if project is None:
        return None
    watches = (*project.status.watches, *filter(None, [project.status.watch]))
    return [(watch.pull_requests, watch.reason, watch.message) for watch in watches]


def _may_be_used(project: Project | None) -> bool:
    return project is not None and not_ready(project) is None


def of_jobs(caches: Caches) -> Predicate:
    """A Job came or went, was told to go, or has ended. What it counts of its pods, they say, and
    they say how it ended, where the cache has them."""

    def matters(old: Object | None, new: Object | None) -> bool:
        if old is None or new is None or _as_job(old) != _as_job(new):
            return True
        return _ends(old) != _ends(new) and not _is_told(caches, new)

    return matters


def _as_job(job: Object) -> tuple[Any, ...]:
    meta = job["metadata"]
    told = (meta.get("deletionTimestamp"), meta.get("finalizers"))
    return meta["uid"], meta.get("labels"), *told


def _ends(job: Object) -> list[tuple[Any, ...]]:
    conditions = job.get("status", {}).get("conditions", ())
    return [(c["type"], c.get("status"), c.get("reason")) for c in conditions if c["type"] in _ENDS]


def _is_told(caches: Caches, job: Object) -> bool:
    """Whether the end of its pod was seen, which tells more."""
    owner, uid = controller_of(job) or {}, job["metadata"]["uid"]
    beside = caches.pods.by_index(OWNER, owner.get("uid", ""))
    own = [pod for pod in beside if pod["metadata"]["labels"].get(labels.JOB_UID) == uid]
    return bool(own) and all(map(pods.has_ended, own))


_ENDS = ("Complete", "Failed")


def pod_matters(old: Object | None, new: Object | None) -> bool:
    """Something has changed of a pod that a decision reads.

    On its way to its main container's start and end a pod changes more often than anybody has to
    look: it gets a node, addresses and volumes, its first containers come and go well, finalizers
    are taken off, and the kubelet calls it ended seconds after its containers have said so.
    """
    return old is None or new is None or _as_pod(old) != _as_pod(new)


def _as_pod(pod: Object) -> tuple[Any, ...]:
    meta, status = pod["metadata"], pod.get("status", {})
    main = meta.get("labels", {}).get(labels.JOB)
    return (
        *(meta["uid"], meta.get("labels"), meta.get("ownerReferences")),
        *(meta.get("deletionTimestamp"), meta.get("deletionGracePeriodSeconds")),
        pod.get("spec", {}).get("activeDeadlineSeconds"),
        pods.has_ended(pod),
        *(status.get("reason"), status.get("message")),
        [c for c in status.get("conditions", ()) if _tells_why(c)],
        [fact for each in pods.containers(pod) if (fact := _as_container(each, main)) is not None],
    )


_ON_ITS_WAY = ("ContainerCreating", "PodInitializing")


def _tells_why(condition: Object) -> bool:
    """Why the pod finds no node, or is told to end."""
    kind, true = condition.get("type"), condition.get("status") == "True"
    return (kind == "PodScheduled" and not true) or (kind == "DisruptionTarget" and true)


def _as_container(status: Mapping[str, Any], main: str | None) -> tuple[Any, ...] | None:
    """What a decision reads of a container before all have ended; None: all is as expected."""
    state, before = status.get("state") or {}, status.get("lastState") or None
    waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
    if status.get("name") == main:
        waits = waiting and waiting.get("reason") not in _ON_ITS_WAY
        said = waiting if waits else ended or bool(state.get("running"))
    else:
        said = ended if ended.get("exitCode") else waiting
        said = said if said and said.get("reason") not in _ON_ITS_WAY else None
    return (status.get("name"), said, before) if said or before else None


def session_matters(old: Object | None, new: Object | None) -> bool:
    """More than its report has changed; where it was not heard of, a report ends that. Of one that
    is over, nothing more is decided but that it goes."""
    if old is None or new is None or not same_spec(old, new):
        return True
    before, after = old.get("status", {}), new.get("status", {})
    if before.get("state") == after.get("state") == SessionState.DEAD:
        return False
    stale = any(c["type"] == ConditionType.STALE for c in after.get("conditions", ()))
    return stale or _without(before, "report") != _without(after, "report")


def project_matters(old: Object | None, new: Object | None) -> bool:
    """More than the number of its agents at work has changed."""
    if old is None or new is None or not same_spec(old, new):
        return True
    before, after = old.get("status", {}), new.get("status", {})
    return _without(before, "running") != _without(after, "running")


def _without(status: Object, field: str) -> Object:
    return {name: value for name, value in status.items() if name != field}
