"""A Job that never runs: it takes the name of one that must not be made any more."""

from __future__ import annotations

from bernstein.api.pod import FENCE
from bernstein.controllers.jobs import pod
from bernstein.controllers.jobs.pod import Object, job_object
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import labels


def fence_job(name: str, namespace: str, owner: Object, settings: OperatorSettings) -> Object:
    """The Job, suspended for ever; it goes with its owner."""
    own = {
        labels.MANAGED_BY: labels.MANAGER,
        labels.OWNER_UID: owner["uid"],
        labels.JOB: FENCE,
    }
    container = pod.container(FENCE, settings.image, ["true"], mounts=(), resources={})
    spec = {
        "suspend": True,
        "backoffLimit": 0,
        "template": {
            "metadata": {"labels": own},
            "spec": {**pod.restricted(), "containers": [container]},
        },
    }
    return job_object(name, namespace, owner, own, spec)
