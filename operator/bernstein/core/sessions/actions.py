"""What the decision about a session asks for."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.session import KeptDocument
from bernstein.core.actions import RunFence
from bernstein.core.jobs import JobView
from bernstein.core.pods import Object


@dataclass(frozen=True)
class Launch:
    """Create the prompt's ConfigMap and the agent's Job."""


@dataclass(frozen=True)
class DeleteJob:
    """Delete the Job with its pod."""

    job: JobView


@dataclass(frozen=True)
class KeepLog:
    """Save the end of what the agent logged in this pod, before it goes; best effort."""

    pod: Object


@dataclass(frozen=True)
class KeepDocuments:
    """Make the ConfigMap of what its recorder has printed in this pod, before it goes."""

    pod: Object
    documents: tuple[KeptDocument, ...]
    again: bool
    """Whether to wait, and to ask once more, where they cannot be had now; else they are lost."""


@dataclass(frozen=True)
class ReleasePods:
    """Take our finalizer off all pods of the session: its outcome is recorded.

    Also off pods whose Job was deleted before them.
    """


@dataclass(frozen=True)
class ReleaseSession:
    """Take our finalizer off the session that is being deleted: it is settled."""


SessionAction = (
    Launch | RunFence | DeleteJob | KeepLog | KeepDocuments | ReleasePods | ReleaseSession
)
