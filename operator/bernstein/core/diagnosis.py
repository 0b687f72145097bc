"""Why a pod does not start, failed, or is lost: a reason and words, from its status and Events."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bernstein.api.encoding import load
from bernstein.api.pod import BEGIN, CHECKOUT, LAND, PREPARE, PRUNE, Failure
from bernstein.api.programs.cached import CACHE
from bernstein.api.programs.forge_jobs import AskedForge
from bernstein.api.reasons import CANNOT_SET_UP, Reason
from bernstein.core import labels, pods, runs, sanitise
from bernstein.core.jobs import JobView
from bernstein.core.pods import Object
from bernstein.core.reasons.waits import MAX_RETRY_AFTER_SECONDS

STUCK_SECONDS = 10
"""A pod that waits longer is looked at closely: its events are read."""
UNSCHEDULABLE_SECONDS = 600
"""How long a pod may wait for a node with room."""
CLAIM_SECONDS = 60
"""How long a pod may wait for a node that reaches the volume of a claim."""
MOUNT_SECONDS = 300
"""How long it may be on a node without a container that was begun, where it names a claim."""
CLAIM_NOT_FOUND, CLAIM_NOT_BOUND = "ClaimNotFound", "ClaimNotBound"
CLAIM_NOT_MOUNTED = "ClaimNotMounted"
_NO_NODE = ("Unschedulable", "SchedulerError")
"""Why a pod has no node: none fits, or something that it needs of one failed, such as a volume."""
_SCHEDULERS_WORDS = 500
"""Characters: on a large cluster the scheduler has something to say of many nodes."""
HELD_SECONDS = 60
"""A Job without a pod is gone seconds after it was deleted, unless something keeps it."""
_HOLDERS_WORDS = 500
"""Characters: who may write Jobs may give one many finalizers."""
_LAST_WORDS = 500
"""Characters of what a program that broke has printed last."""
_WAIT_FOR_GIT = (CHECKOUT, BEGIN, PREPARE, LAND, PRUNE, CACHE)
"""Programs that take long only where the git server does, or has very much for them."""
MOST_REQUESTS = 10_000
"""Of one Job: more is no word of a program that has so little time."""
FAILED_CREATE_SECONDS = 5
"""How long a Job may be without a pod; after that its events are read."""
SANDBOX_SECONDS = 60
"""How long its node may need to set a pod up before that is told."""
_FAILED_CREATE, _FAILED_MOUNT = "FailedCreate", "FailedMount"
_FAILED_SANDBOX = "FailedCreatePodSandBox"
EVENTS_THAT_TELL = (_FAILED_CREATE, _FAILED_MOUNT, _FAILED_SANDBOX)
"""Reasons of the Events that are read: of a Job that gets no pod, of a pod's volumes, and of a pod
that its node cannot set up."""


@dataclass(frozen=True)
class Diagnosis:
    """Why something, mostly a pod, does not start or failed."""

    reason: str
    message: str
    """In our words; what somebody else says of it stands below, marked as a quote."""
    asked: AskedForge | None = None
    """Where a program failed that asks a forge."""

    @property
    def retry_after(self) -> int | None:
        """Seconds after which the forge takes requests again; None: it does not say."""
        return self.asked.retry_after if self.asked is not None else None


def failure_of(pod: Object, name: str) -> Diagnosis | None:
    """Why the container `name`, a program of ours, failed; None when it did not.

    Such programs write reason and message as their termination message.
    """
    ended = pods.terminated(pod, name)
    if ended is None or ended.get("exitCode") == 0:
        return None
    try:
        failure = load(Failure, ended.get("message") or "")
    except ValueError:
        text = (ended.get("message") or "").strip()[-_LAST_WORDS:]
        detail = f"{name} ended with exit code {ended.get('exitCode')}"
        message = sanitise.quoting(detail, text, _LAST_WORDS)
        return Diagnosis(Reason.INFRASTRUCTURE_ERROR, message)
    if failure.reason in ("InternalError", "InvalidConfig"):
        return Diagnosis(Reason.INFRASTRUCTURE_ERROR, failure.message)
    if failure.reason == Reason.TERMINATED and _waited_for_git(pod, name):
        seconds = pod["spec"].get("activeDeadlineSeconds")
        text = f"{name} was not done in the {seconds} s of its pod: the git server is slow"
        return Diagnosis(Reason.REPOSITORY_UNREACHABLE, f"{text}, or has very much for it")
    return Diagnosis(failure.reason, failure.message, _bounded(failure.asked))


def _waited_for_git(pod: Object, name: str) -> bool:
    """Whether a program that git keeps waiting has taken most of its pod's time, which is over.
    Nobody has stopped it, so that to begin at once again is of no use."""
    if name not in _WAIT_FOR_GIT or pods.reason(pod) != "DeadlineExceeded":
        return False
    took = pods.seconds(pods.terminated(pod, name) or {})
    return took is not None and 2 * took > pod["spec"].get("activeDeadlineSeconds", 0)


def _bounded(asked: AskedForge | None) -> AskedForge | None:
    """What such a program may have asked; a time that no forge means is none."""
    if asked is None:
        return None
    after, requests = asked.retry_after, min(max(asked.requests, 0), MOST_REQUESTS)
    names_one = after is not None and 0 < after <= MAX_RETRY_AFTER_SECONDS
    unchanged = min(max(asked.unchanged, 0), requests)
    return AskedForge(after if names_one else None, requests, unchanged)


def to_abandon(
    job: JobView, now: datetime, *, silent: Reason = Reason.DISRUPTED
) -> Diagnosis | None:
    """Why a run that gets nowhere is to be ended; None: it is waited for.

    `silent`: the reason where its node should have ended it long ago.
    """
    if job.another:
        if job.pod is not None and pods.has_ended(job.pod):
            return None  # how it ended stands; only its Job has to go
        return Diagnosis(Reason.DISRUPTED, "its Job has made a second pod beside it")
    if job.pod is None or not pods.has_started(job.pod, job.main):
        return diagnose_waiting(job, now)
    if runs.is_overdue(job, now):
        return Diagnosis(silent, "its node did not end it in time")
    return None


def without_end(
    job: JobView, now: datetime, *, silent: Reason = Reason.DISRUPTED
) -> Diagnosis | None:
    """Why nobody says how a run that is over has ended; None: the kubelet does.

    `silent`: the reason where its node is.
    """
    match runs.state(job, now):
        case runs.State.LOST:
            return Diagnosis(silent, "its node does not answer any more")
        case runs.State.GONE if job.refused is not None:
            return Diagnosis(
                Reason.NAME_CONFLICT if job.taken else Reason.POD_REJECTED, job.refused
            )
        case runs.State.GONE:
            return Diagnosis(Reason.POD_LOST, "the pod is gone")
        case _:
            return None


def held(job: JobView, now: datetime) -> Diagnosis | None:
    """What keeps a Job that was told to go, and has no pod any more; None: it is not kept for long.

    While it is there its controller may still make a pod, so that nothing takes its place.
    """
    if job.pod is not None or job.deletion is None or job.orphan:
        return None
    if (now - job.deletion).total_seconds() <= HELD_SECONDS:
        return None
    by = sanitise.line(", ".join(job.finalizers), _HOLDERS_WORDS) or "nothing that can be seen"
    text = f"the Job '{job.name}' was deleted at {job.deletion:%Y-%m-%dT%H:%M:%SZ}, has no pod, and"
    text = f"{text} is still there; it is held by its finalizers: {by}"
    if labels.FOREGROUND in job.finalizers:
        waits_for = "objects that name it as owner with blockOwnerDeletion"
        text += f" ({labels.FOREGROUND} waits for {waits_for})"
    return Diagnosis(Reason.DELETION_HELD, text)


def missing(pod: Object, name: str) -> Diagnosis | None:
    """Which Secret or ConfigMap the container `name` waits for; None: for none.

    The kubelet looks again every 10 to 15 seconds, and starts the container once it is there.
    """
    waiting = (pods.container(pod, name) or {}).get("state", {}).get("waiting") or {}
    if waiting.get("reason") not in _UNUSABLE:
        return None
    reason, text = _unusable({"name": name}, str(waiting.get("message", "")))
    return Diagnosis(reason, text) if reason in _MISSING else None


def secrets_named(text: str) -> frozenset[str]:
    """Names of the Secrets that a message of the kubelet, or one of ours about it, says are missing
    or lack a key."""
    return frozenset(one or other for one, other in _SECRET_NAMED.findall(text))


_SECRET_NAMED: Final = re.compile(
    r'secret "([^"\s]{1,253})"'
    r"|find key \S{1,253} in secret [^\s/]{1,63}/([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)",
    re.IGNORECASE,
)
_MISSING = (Reason.SECRET_NOT_FOUND, Reason.CONFIG_MAP_NOT_FOUND)
KEEP_FROM_STARTING = (
    *_MISSING,
    Reason.IMAGE_PULL_FAILED,
    Reason.IMAGE_UNUSABLE,
    Reason.POD_REJECTED,
    Reason.UNSCHEDULABLE,
)
"""Why pods do not start."""
_PULL = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")
_UNUSABLE = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError")


def diagnose_waiting(job: JobView, now: datetime) -> Diagnosis | None:
    """Why a pod that has not started will not start without help; None: give it more time."""
    if job.pod is None:
        return _without_pod(job, now)
    for status in pods.containers(job.pod):
        waiting = status.get("state", {}).get("waiting") or {}
        reason, text = str(waiting.get("reason", "")), str(waiting.get("message", ""))
        if reason in _PULL:
            image = status.get("image", "?")
            detail = f": {text}" if text else ""
            return Diagnosis(Reason.IMAGE_PULL_FAILED, f"image '{image}' cannot be pulled{detail}")
        if reason in _UNUSABLE:
            return Diagnosis(*_unusable(status, text))
    if pods.age(job.pod, now) < STUCK_SECONDS:
        return None
    without = claim_trouble(job.pod, now)
    if without is not None:
        # Nobody's own doing: what takes its place does without the claim.
        return Diagnosis(Reason.DISRUPTED, without.message)
    found = _mount_failure(job.pod, job.events) or _unschedulable(job.pod, now)
    return found or _never_set_up(job, now)


def _unusable(status: Object, text: str) -> tuple[str, str]:
    lowered = text.lower()
    if "secret" in lowered and ("not found" in lowered or "couldn't find key" in lowered):
        return Reason.SECRET_NOT_FOUND, text
    if "configmap" in lowered and ("not found" in lowered or "couldn't find key" in lowered):
        return Reason.CONFIG_MAP_NOT_FOUND, text
    of = f"container '{status.get('name')}' cannot be made of image '{status.get('image', '?')}'"
    return Reason.IMAGE_UNUSABLE, f"{of}: {text}"


def _without_pod(job: JobView, now: datetime) -> Diagnosis | None:
    if (now - job.created).total_seconds() < FAILED_CREATE_SECONDS:
        return None
    for event in job.events:
        if event.get("reason") == _FAILED_CREATE:
            return Diagnosis(Reason.POD_REJECTED, _event_text(event))
    return None


def _event_text(event: Object) -> str:
    return str(event.get("note") or event.get("message") or "")


def _mount_failure(pod: Object, events: Iterable[Object]) -> Diagnosis | None:
    """What the pod's volumes lack, by its Events; None: nothing that its spec names.

    Whoever may write Events can make one up. All volumes are mounted before the first container
    starts, so that no Event ends a pod that is further.
    """
    if any(pods.has_ever_run(status) for status in pods.containers(pod)):
        return None
    for event in events:
        found = _unmounted(pod, _event_text(event))
        if event.get("reason") == _FAILED_MOUNT and found is not None:
            return found
    return None


def _unmounted(pod: Object, text: str) -> Diagnosis | None:
    """What is said of a Secret or ConfigMap behind a volume of the pod: that it, or a key of it,
    is not there. The object is named in the text, or its volume is: then its name is added."""
    lowered = text.lower()
    if "not found" not in lowered and "non-existent" not in lowered:
        return None
    for volume in pod.get("spec", {}).get("volumes", ()):
        kind = "secret" if "secret" in volume else "configMap"
        source = volume.get(kind, {})
        name, word = source.get("secretName") or source.get("name"), kind.lower()
        if not name:
            continue
        reason = Reason.SECRET_NOT_FOUND if word == "secret" else Reason.CONFIG_MAP_NOT_FOUND
        if f'{word} "{name}"' in lowered:
            return Diagnosis(reason, text)
        if f'volume "{volume["name"]}"' in text:
            return Diagnosis(reason, text if f'"{name}"' in text else f'{text} ({word} "{name}")')
    return None


def claim_trouble(pod: Object, now: datetime) -> Diagnosis | None:
    """What keeps a pod from the volume of the PersistentVolumeClaim that it names; None: nothing
    that will not pass."""
    claim = claimed(pod)
    if claim is None or any(map(pods.has_ever_run, pods.containers(pod))):
        return None
    its, age = f"the PersistentVolumeClaim '{claim}'", pods.age(pod, now)
    if pods.is_scheduled(pod):
        begins = any(_waits_for_more(status) for status in pods.containers(pod))
        if age < MOUNT_SECONDS or begins:
            return None
        text = f"its node has not mounted {its} in {MOUNT_SECONDS} s"
        return Diagnosis(CLAIM_NOT_MOUNTED, text)
    words = (_schedulers_words(pod, _NO_NODE) or "").lower()
    if f'persistentvolumeclaim "{claim}" not found' in words or "is being deleted" in words:
        return Diagnosis(CLAIM_NOT_FOUND, f"{its} is not in the namespace")
    if "volume" in words and age >= CLAIM_SECONDS:
        return Diagnosis(CLAIM_NOT_BOUND, f"no node that has room reaches the volume of {its}")
    if age >= MOUNT_SECONDS and _fills(pod) and not _was_looked_at(pod):
        # A node was chosen, and is told once there is a volume.
        return Diagnosis(CLAIM_NOT_BOUND, f"{its} has got no volume in {MOUNT_SECONDS} s")
    return None


def _fills(pod: Object) -> bool:
    """Whether the pod writes to the claim: it is the first that wants its volume."""
    volumes = pod.get("spec", {}).get("volumes", ())
    claims = [volume.get("persistentVolumeClaim") for volume in volumes]
    return any(claim is not None and not claim.get("readOnly") for claim in claims)


def _was_looked_at(pod: Object) -> bool:
    """Whether anything is said of a node for it: that there is none, or that it may have none."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(condition.get("type") == "PodScheduled" for condition in conditions)


def claimed(pod: Object) -> str | None:
    """The PersistentVolumeClaim that the pod names; None: none."""
    for volume in pod.get("spec", {}).get("volumes", ()):
        name = volume.get("persistentVolumeClaim", {}).get("claimName")
        if name:
            return str(name)
    return None


def _waits_for_more(status: Object) -> bool:
    """Whether the container waits for something that comes once volumes are there."""
    waiting = status.get("state", {}).get("waiting") or {}
    return waiting.get("reason") in (*_PULL, *_UNUSABLE)


def unscheduled(job: JobView, now: datetime) -> str | None:
    """What keeps a pod from a node that begins it, for a while now: the scheduler's words, or the
    node's; None: nothing."""
    if job.pod is None or pods.age(job.pod, now) < STUCK_SECONDS or pods.has_ended(job.pod):
        return None
    without, words = claim_trouble(job.pod, now), _schedulers_words(job.pod)
    if without is not None:
        return f"its pod has no node: {without.message}"
    return f"no node has room for its pod: {words}" if words is not None else _not_set_up(job, now)


def _not_set_up(job: JobView, now: datetime) -> str | None:
    """What the node says of a pod that it cannot set up, with its network or runtime; None:
    nothing."""
    assert job.pod is not None
    if pods.age(job.pod, now) < SANDBOX_SECONDS or _has_sandbox(job.pod):
        return None
    said = (_event_text(each) for each in job.events if each.get("reason") == _FAILED_SANDBOX)
    words = next(said, None)
    if words is None:
        return None
    return f"{CANNOT_SET_UP}: {sanitise.line(words, _SCHEDULERS_WORDS)}"


def _has_sandbox(pod: Object) -> bool:
    """Whether its network is there, so that containers can begin, or one of them has."""
    begun = any(map(pods.has_ever_run, pods.containers(pod)))
    return begun or pods.is_set_up(pod)


def _never_set_up(job: JobView, now: datetime) -> Diagnosis | None:
    assert job.pod is not None
    words = _not_set_up(job, now)
    if words is None or pods.age(job.pod, now) <= UNSCHEDULABLE_SECONDS:
        return None
    return Diagnosis(Reason.UNSCHEDULABLE, words)


def _unschedulable(pod: Object, now: datetime) -> Diagnosis | None:
    words = _schedulers_words(pod)
    if words is None or pods.age(pod, now) <= UNSCHEDULABLE_SECONDS:
        return None
    return Diagnosis(Reason.UNSCHEDULABLE, words)


def _schedulers_words(pod: Object, reasons: Container[str] = ("Unschedulable",)) -> str | None:
    for condition in pod.get("status", {}).get("conditions", ()):
        scheduled = condition.get("type") == "PodScheduled" and condition.get("status") == "True"
        if scheduled:
            return None
        if condition.get("reason") in reasons:
            return sanitise.line(str(condition.get("message", "")), _SCHEDULERS_WORDS)
    return None
