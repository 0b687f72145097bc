"""Jobs of ours with their pods, as decisions see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from bernstein.core import labels, pods
from bernstein.core.pods import Object

LOOK_AGAIN_SECONDS = 5
"""Until a Job at work is looked at again, whatever events come."""


@dataclass(frozen=True)
class JobView:
    """A Job of ours with its pod, as the caches have them. `core.runs` says how far it is.

    Where somebody deleted the Job and left the pod to end by itself, the view is of that pod: its
    `name` is the Job's, its `uid` the pod's, `orphan` is true, and so is `deleting`, as there is no
    Job to delete.
    """

    name: str
    uid: str
    created: datetime
    deleting: bool = False
    failed: str | None = None
    """Reason of the Job's Failed condition."""
    complete: bool = False
    pod: Object | None = None
    """Where it was deleted a short while ago, its last state."""
    removed: bool = False
    """There is no such pod any more. Who removed it did not have to wait for its node."""
    orphan: bool = False
    """There is no such Job any more; the view is of its pod."""
    fenced: bool = False
    """A fence has the name of that Job, so that no late request makes it again."""
    another: bool = False
    """A later pod of the same Job is not over. A Job of ours makes one; somebody or something made
    its controller forget that, and what a later one says counts for nothing."""
    no_pod: bool = False
    """A list that was read from the API server just now shows that there is no pod."""
    events: tuple[Object, ...] = ()
    """Events of the pod, or of the Job while it has no pod; read only when it is stuck."""
    labels: Mapping[str, str] = field(default_factory=dict)
    bound_since: datetime | None = None
    """When this process first saw the pod on a node. This and the two below are reckoned back from
    the time of the look by what was measured: a jump of the time of day makes nothing longer."""
    running_since: datetime | None = None
    """When this process first saw its main container run."""
    ending_since: datetime | None = None
    """When this process first saw that the pod is told to end, or is removed."""
    deletion: datetime | None = None
    """When the Job was told to go, where it was."""
    finalizers: tuple[str, ...] = ()
    """What keeps the Job once it was told to go."""
    refused: str | None = None
    """Why the API server refuses to make the Job, so that there is none."""
    taken: bool = False
    """That is because something of somebody else's has its name."""

    @property
    def main(self) -> str:
        """The name of its main container."""
        return self.labels.get(labels.JOB, "")

    @cached_property
    def pod_has_ended(self) -> bool:
        """Whether there is a pod, and no container of it runs any more; each look asks often."""
        return self.pod is not None and pods.has_ended(self.pod)

    @property
    def goes_on(self) -> bool:
        """There is a Job to delete: it is neither being deleted nor have its pods ended."""
        if self.deleting or self.refused is not None:
            return False
        if self.another:
            return True
        if self.pod is not None:
            return not self.pod_has_ended
        return not self.complete and self.failed is None

    @property
    def is_name_free(self) -> bool:
        """No Job has the name any more."""
        return not self.uid or (self.orphan and not self.fenced)


def gone(name: str, now: datetime) -> JobView:
    """What stands for a Job that was made, and of which nothing is left."""
    return JobView(name, uid="", created=now, failed="Deleted", no_pod=True)


@dataclass(frozen=True)
class LateRequests:
    """Requests for Jobs to which nobody got an answer, so that they may still be applied."""

    names: frozenset[str] = frozenset()
    unknown: bool = False
    """There may be others, of a process that led before."""

    def may_make(self, name: str) -> bool:
        return self.unknown or name in self.names


NO_LATE_REQUESTS = LateRequests()


def refusal(name: str, message: str, now: datetime, *, taken: bool = False) -> JobView:
    """What stands for a Job that the API server refused to make."""
    return JobView(name, uid="", created=now, refused=message, taken=taken)
