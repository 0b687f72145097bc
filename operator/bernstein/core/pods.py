"""Facts about a Job's pod, read from its raw status; what follows is decided elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

Object = Mapping[str, Any]

_IMAGE_DIGEST = re.compile(r"\bsha256:[0-9a-f]{64}\Z")


def phase(pod: Object) -> str:
    """Pending, Running, Succeeded, Failed or Unknown."""
    return str(pod.get("status", {}).get("phase", "Pending"))


def has_ended(pod: Object) -> bool:
    """Whether no container of it runs any more, by the kubelet's word.

    The kubelet reports the phase seconds after the last container's end. Where all went well, the
    containers' own ends say enough; any other end may still be explained by what comes with the
    phase.
    """
    return phase(pod) in ("Succeeded", "Failed") or _all_went_well(pod)


def _all_went_well(pod: Object) -> bool:
    """Whether every container ended with exit code 0, and none because the pod was told to end.

    What a container leaves as its message is not looked at: the kubelet writes that together with
    its end, so that a message which is not there by then does not come with the phase either.
    """
    spec, began = pod.get("spec", {}), pod.get("status", {}).get("startTime")
    if began is None or is_deleting(pod) or is_disrupted(pod):
        return False
    # Each look at each Job asks: a pod has six containers, and most that are looked at run.
    states: dict[str | None, Object] = {}
    for each in containers(pod):
        states.setdefault(each.get("name"), each.get("state", {}))
    ends = []
    for declared in (*spec.get("initContainers", ()), *spec.get("containers", ())):
        end = states.get(declared["name"], {}).get("terminated")
        if end is None or end.get("exitCode"):
            return False
        ends.append(end)
    if not ends:
        return False
    # What the kubelet ends at the deadline may end well; both times are the kubelet's, in seconds.
    last = max(parse_time(end["finishedAt"]) for end in ends)
    limit = spec.get("activeDeadlineSeconds")
    return limit is None or last - parse_time(began) < timedelta(seconds=limit)


def is_scheduled(pod: Object) -> bool:
    """Whether it has a node."""
    return bool(pod.get("spec", {}).get("nodeName"))


def reason(pod: Object) -> str:
    """Why the kubelet ended the pod as a whole, such as Evicted or DeadlineExceeded; else ""."""
    return str(pod.get("status", {}).get("reason", ""))


def is_set_up(pod: Object) -> bool:
    """Whether its node has made its network, and its containers may begin."""
    return any(
        (each.get("type"), each.get("status")) == ("PodReadyToStartContainers", "True")
        for each in pod.get("status", {}).get("conditions", ())
    )


def is_disrupted(pod: Object) -> bool:
    """Whether it was preempted or drained, or its node is gone: not the pod's own doing."""
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition.get("type") == "DisruptionTarget" and condition.get("status") == "True":
            return True
    return False


def is_deleting(pod: Object) -> bool:
    return bool(pod.get("metadata", {}).get("deletionTimestamp"))


def containers(pod: Object) -> Sequence[Object]:
    """Status of every container, init and sidecar containers first."""
    status = pod.get("status", {})
    return (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ()))


def container(pod: Object, name: str) -> Object | None:
    """Status of the container of that name, init and sidecar containers included."""
    for each in containers(pod):
        if each.get("name") == name:
            return each
    return None


def terminated(pod: Object, name: str) -> Object | None:
    """The container's `terminated` state: exitCode, reason, message."""
    status = container(pod, name)
    state: Object | None = status.get("state", {}).get("terminated") if status else None
    return state


def running_since(pod: Object, name: str) -> datetime | None:
    """When the container was started; None: it does not run now."""
    running = (container(pod, name) or {}).get("state", {}).get("running") or {}
    return parse_time(running["startedAt"]) if running.get("startedAt") else None


def seconds(ended: Object) -> float | None:
    """How long a container ran that has `terminated` like this; None: it is not known."""
    begun, end = ended.get("startedAt"), ended.get("finishedAt")
    if not begun or not end:
        return None
    return max(0, (parse_time(end) - parse_time(begun)).total_seconds())


def ended_at(ended: Object) -> datetime | None:
    """When a container ended that has `terminated` like this; None: it is not known."""
    end = ended.get("finishedAt")
    return parse_time(end) if end else None


def seconds_of(pod: Object, name: str) -> float | None:
    """How long the container ran, until its end or the time when its pod was told to end; None: it
    was not started, or it is not known."""
    ended = terminated(pod, name)
    if ended is not None:
        return seconds(ended)
    begun, end = running_since(pod, name), asked_to_end(pod)
    return max(0, (end - begun).total_seconds()) if begun and end else None


def ran_out_of_memory(pod: Object, name: str) -> bool:
    """Whether the container did, now or, where it was started again, the time before."""
    status = container(pod, name) or {}
    ends = (status.get(when, {}).get("terminated") or {} for when in ("state", "lastState"))
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


def has_started(pod: Object, name: str) -> bool:
    """Whether the container runs, or ran and has ended."""
    state = (container(pod, name) or {}).get("state", {})
    ended = state.get("terminated") or {}
    ran = ended.get("startedAt") and ended.get("reason") != "StartError"
    return bool(state.get("running") or ran)


def ran_for(pod: Object, name: str) -> timedelta:
    """For how long the container ran, by its node's clock; nothing while that has not told."""
    ended = terminated(pod, name) or {}
    start, end = ended.get("startedAt"), ended.get("finishedAt")
    if not start or not end:
        return timedelta()
    return max(parse_time(end) - parse_time(start), timedelta())


def has_ever_run(status: Object) -> bool:
    """Whether a container was started, now or before it was started again, by its status."""
    for when in ("state", "lastState"):
        state = status.get(when) or {}
        if state.get("running") or (state.get("terminated") or {}).get("startedAt"):
            return True
    return False


def first_start(status: Object) -> datetime | None:
    """When a container was first started that we know of, by its status; None: it was not."""
    states = [status.get(when) or {} for when in ("state", "lastState")]
    ended = [state.get("terminated") or {} for state in states]
    told = [state.get("running") or {} for state in states]
    told += [end for end in ended if not could_not_start(end)]
    times = (parse_time(each["startedAt"]) for each in told if each.get("startedAt"))
    return min(times, default=None)


def could_not_start(ended: Object) -> bool:
    """Whether the runtime could not start the command of a container that ended like this."""
    return ended.get("reason") in ("StartError", "ContainerCannotRun")


def image_digest(pod: Object, name: str) -> str | None:
    """`sha256:` and the digest of the image that the container was made of, by the kubelet's word.

    Mostly it is behind the image's name and an `@`; where the image was never in a registry, it is
    that of its configuration, alone.
    """
    image = str((container(pod, name) or {}).get("imageID", ""))
    found = _IMAGE_DIGEST.search(image)
    return found[0] if found is not None else None


def images(pod: Object) -> Iterator[tuple[str, str, str | None]]:
    """Of each container its name, the image that it was asked to be made of, and the digest of
    that: by its name, or by the kubelet's word; None: neither tells it."""
    spec = pod.get("spec", {})
    for each in (*spec.get("initContainers", ()), *spec.get("containers", ())):
        name, image = each["name"], str(each.get("image", ""))
        yield name, image, image.partition("@")[2] or image_digest(pod, name)


def parse_time(text: str) -> datetime:
    """A Kubernetes timestamp."""
    return datetime.fromisoformat(text)


def age(pod: Object, now: datetime) -> float:
    """Seconds since it was made."""
    return (now - parse_time(pod["metadata"]["creationTimestamp"])).total_seconds()
