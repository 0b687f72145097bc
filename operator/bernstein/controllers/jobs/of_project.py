"""A Job that a Project asks for itself."""

from __future__ import annotations

from typing import Protocol

from bernstein.api.project import Project
from bernstein.controllers.jobs import pod
from bernstein.controllers.jobs.pod import Object
from bernstein.core import labels
from bernstein.core.owners import unblocking


class Run(Protocol):
    """What asks for it."""

    @property
    def job(self) -> str: ...
    @property
    def asked(self) -> str:
        """A digest of what it is told."""
        ...


def job(
    action: Run, kind: str, project: Project, namespace: str, owner: Object, spec: Object
) -> Object:
    """`kind`: what the Job is for; `spec`: its pod's. A deletion of the Project does not wait for
    it."""
    return pod.job(
        project,
        name=action.job,
        namespace=namespace,
        owner=unblocking(owner),
        more_labels={labels.JOB: kind, labels.ASKED: action.asked},
        pod=spec,
    )
