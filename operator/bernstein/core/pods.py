"""What a Job's pod says about itself: facts out of raw status, no opinion about what follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bernstein.api.pod import Failure, load

Object = Mapping[str, Any]

STUCK_SECONDS = 10
"""A pod that waits longer is looked at closely: its events are read."""
UNSCHEDULABLE_SECONDS = 600
FAILED_CREATE_SECONDS = 10


@dataclass(frozen=True)
class Diagnosis:
    """Why something, a pod above all, does not get (or did not get) anywhere."""

    reason: str
    message: str


@dataclass(frozen=True)
class JobView:
    """A Job of ours with its pod, as the caches have them.

    Where somebody deleted the Job and left the pod to end by itself, the view is of that pod: its
    `name` is the Job's, its `uid` the pod's, and `deleting` says that there is no Job to delete.
    """

    name: str
    uid: str
    created: datetime
    deleting: bool = False
    failed: str | None = None
    """Reason of the Job's Failed condition."""
    complete: bool = False
    pod: Object | None = None
    events: tuple[Object, ...] = ()
    """Events of the pod, or of the Job while it has no pod; read only when it is stuck."""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """Nothing more will come of it: act on the pod, the Job's condition comes later."""
        if self.pod is not None:
            return phase(self.pod) in ("Succeeded", "Failed")
        return self.complete or self.failed is not None

    @property
    def goes_on(self) -> bool:
        """Neither ended nor being deleted."""
        return not self.ended and not self.deleting


def phase(pod: Object) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))


def reason(pod: Object) -> str:
    return str(pod.get("status", {}).get("reason", ""))


def is_disrupted(pod: Object) -> bool:
    """Preempted, drained, or its node is gone: not the pod's own doing."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(
        c.get("type") == "DisruptionTarget" and c.get("status") == "True" for c in conditions
    )


def is_deleting(pod: Object) -> bool:
    return bool(pod.get("metadata", {}).get("deletionTimestamp"))


def containers(pod: Object) -> Iterable[Object]:
    status = pod.get("status", {})
    yield from status.get("initContainerStatuses", ())
    yield from status.get("containerStatuses", ())


def container(pod: Object, name: str) -> Object | None:
    """Status of the container of that name, init and sidecar containers included."""
    return next((c for c in containers(pod) if c.get("name") == name), None)


def terminated(pod: Object, name: str) -> Object | None:
    """The container's `terminated` state: exitCode, reason, message."""
    found = container(pod, name)
    state: Object | None = found.get("state", {}).get("terminated") if found else None
    return state


def running_since(pod: Object, name: str) -> datetime | None:
    """When the container that runs now was started."""
    running = (container(pod, name) or {}).get("state", {}).get("running") or {}
    return parse_time(running["startedAt"]) if running.get("startedAt") else None


def ran_out_of_memory(pod: Object, name: str) -> bool:
    """Now, or, where it was started again, the last time."""
    found = container(pod, name) or {}
    ends = (found.get(when, {}).get("terminated") or {} for when in ("state", "lastState"))
    return any(end.get("reason") == "OOMKilled" for end in ends)


def asked_to_end(pod: Object) -> datetime | None:
    """When the pod was told to end by its deadline or a deletion; None: it was not."""
    meta, spec, status = pod.get("metadata", {}), pod.get("spec", {}), pod.get("status", {})
    times = []
    if is_deleting(pod):
        grace = timedelta(seconds=meta.get("deletionGracePeriodSeconds") or 0)
        times.append(parse_time(meta["deletionTimestamp"]) - grace)
    if reason(pod) == "DeadlineExceeded" and status.get("startTime"):
        limit = timedelta(seconds=spec.get("activeDeadlineSeconds") or 0)
        times.append(parse_time(status["startTime"]) + limit)
    return min(times, default=None)


def is_running(pod: Object, name: str) -> bool:
    found = container(pod, name)
    return bool(found and (found.get("state", {}).get("running") or _over(found)))


def _over(status: Object) -> bool:
    ended = status.get("state", {}).get("terminated")
    return bool(ended and ended.get("startedAt") and ended.get("reason") != "StartError")


def failure_of(pod: Object, name: str) -> Diagnosis | None:
    """What a program of ours wrote when it failed; None when it did not fail."""
    ended = terminated(pod, name)
    if ended is None or ended.get("exitCode") == 0:
        return None
    try:
        said = load(Failure, ended.get("message") or "")
    except ValueError:
        text = (ended.get("message") or "").strip()[-500:]
        detail = f"{name} ended with exit code {ended.get('exitCode')}"
        return Diagnosis("InfrastructureError", f"{detail}: {text}" if text else detail)
    if said.reason in ("InternalError", "InvalidConfig"):
        return Diagnosis("InfrastructureError", said.message)
    return Diagnosis(said.reason, said.message)


_PULL = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")
_UNUSABLE = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError")


def diagnose_waiting(job: JobView, now: datetime) -> Diagnosis | None:
    """Why a pod that has not started will not start without help; None = give it more time."""
    if job.pod is None:
        return _without_pod(job, now)
    for status in containers(job.pod):
        waiting = status.get("state", {}).get("waiting") or {}
        why, text = str(waiting.get("reason", "")), str(waiting.get("message", ""))
        if why in _PULL:
            image = status.get("image", "?")
            detail = f": {text}" if text else ""
            return Diagnosis("ImagePullFailed", f"image '{image}' cannot be pulled{detail}")
        if why in _UNUSABLE:
            return Diagnosis(*_unusable(status, text))
    if age(job.pod, now) < STUCK_SECONDS:
        return None
    return _mount_failure(job.pod, job.events) or _unschedulable(job.pod, now)


def _unusable(status: Object, text: str) -> tuple[str, str]:
    lowered = text.lower()
    if "secret" in lowered and ("not found" in lowered or "couldn't find key" in lowered):
        return "SecretNotFound", text
    if "configmap" in lowered and ("not found" in lowered or "couldn't find key" in lowered):
        return "ConfigMapNotFound", text
    return "ImageUnusable", f"container '{status.get('name')}' cannot be made: {text}"


def _without_pod(job: JobView, now: datetime) -> Diagnosis | None:
    if (now - job.created).total_seconds() < FAILED_CREATE_SECONDS:
        return None
    for event in job.events:
        if event.get("reason") == "FailedCreate":
            return Diagnosis("PodRejected", _event_text(event))
    return None


def _event_text(event: Object) -> str:
    return str(event.get("note") or event.get("message") or "")


def _mount_failure(pod: Object, events: Iterable[Object]) -> Diagnosis | None:
    for event in events:
        text = _event_text(event) + _volume_source(pod, _event_text(event))
        lowered = text.lower()
        if event.get("reason") != "FailedMount":
            continue
        missing = "not found" in lowered or "non-existent" in lowered
        if missing and "secret" in lowered:
            return Diagnosis("SecretNotFound", text)
        if missing and "configmap" in lowered:
            return Diagnosis("ConfigMapNotFound", text)
    return None


def _volume_source(pod: Object, text: str) -> str:
    """Of a text that names a volume of the pod: which object it is made of."""
    for volume in pod.get("spec", {}).get("volumes", ()):
        if f'volume "{volume["name"]}"' not in text:
            continue
        kind = "secret" if "secret" in volume else "configMap"
        source = volume.get(kind, {})
        name = source.get("secretName") or source.get("name")
        if name and f'"{name}"' not in text:
            return f' ({kind.lower()} "{name}")'
    return ""


def _unschedulable(pod: Object, now: datetime) -> Diagnosis | None:
    for condition in pod.get("status", {}).get("conditions", ()):
        scheduled = condition.get("type") == "PodScheduled" and condition.get("status") == "True"
        if scheduled:
            return None
        if condition.get("reason") == "Unschedulable" and age(pod, now) > UNSCHEDULABLE_SECONDS:
            return Diagnosis("Unschedulable", str(condition.get("message", "")))
    return None


def parse_time(text: str) -> datetime:
    """A Kubernetes timestamp."""
    return datetime.fromisoformat(text)


def age(pod: Object, now: datetime) -> float:
    """Seconds since it was made."""
    return (now - parse_time(pod["metadata"]["creationTimestamp"])).total_seconds()
