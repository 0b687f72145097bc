"""The fields of Jobs and pods that the operator reads; the caches keep no others.

A pod's specification and status are the most of what a Task leaves in memory, and nearly all of it
is for the kubelet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from bernstein.kube.resource import Object

Fields: TypeAlias = "Mapping[str, Fields | None]"
"""What is kept, by name; None: as it is. Of a list the same is kept of every item."""

_CONDITIONS: Fields = dict.fromkeys(("type", "status", "reason", "message", "lastTransitionTime"))
_STATUSES: Fields = dict.fromkeys(("name", "image", "imageID", "state", "lastState"))
_CONTAINERS: Fields = {"name": None, "image": None}
_SECRET: Fields = {"secretName": None, "optional": None}
_ALL: Fields = dict.fromkeys(("apiVersion", "kind", "metadata"))

JOB: Fields = {**_ALL, "status": {"conditions": _CONDITIONS, "startTime": None}}
POD: Fields = {
    **_ALL,
    "spec": {
        "nodeName": None,
        "activeDeadlineSeconds": None,
        "terminationGracePeriodSeconds": None,
        "initContainers": _CONTAINERS,
        "containers": _CONTAINERS,
        "volumes": {
            "name": None,
            "secret": _SECRET,
            "configMap": {"name": None},
            "persistentVolumeClaim": {"claimName": None, "readOnly": None},
        },
    },
    "status": {
        "phase": None,
        "reason": None,
        "message": None,
        "startTime": None,
        "conditions": _CONDITIONS,
        "initContainerStatuses": _STATUSES,
        "containerStatuses": _STATUSES,
    },
}


def job(obj: Object) -> Object:
    """The Job with what is read."""
    return only(obj, JOB)


def pod(obj: Object) -> Object:
    """The pod with what is read."""
    return only(obj, POD)


def only(obj: Object, fields: Fields) -> Object:
    """The object with these fields; what is kept as it is is shared with it."""
    return {
        name: obj[name] if below is None else _only(obj[name], below)
        for name, below in fields.items()
        if name in obj
    }


def _only(value: Any, fields: Fields) -> Any:
    if isinstance(value, list):
        return [_only(each, fields) for each in value]
    return only(value, fields) if isinstance(value, dict) else value
