"""The fields of Jobs and pods that the operator reads; the caches keep no others.

A pod's specification and status are the most of what a Task leaves in memory, and nearly all of it
is for the kubelet.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from bernstein.kube.resource import Object

Fields: TypeAlias = "Mapping[str, Fields | Literal[True] | None]"
"""What is kept, by name; None: as it is; ALIKE: a text that thousands of objects have, once for all
of them. Of a list the same is kept of every item."""
ALIKE: Final = True

_CONDITIONS: Fields = {
    **dict.fromkeys(("type", "status", "reason"), ALIKE),
    **dict.fromkeys(("message", "lastTransitionTime")),
}
_CONTAINERS: Fields = {"name": ALIKE, "image": ALIKE}
_STATUSES: Fields = {**_CONTAINERS, "imageID": ALIKE, "state": None, "lastState": None}
_SECRET: Fields = {"secretName": ALIKE, "optional": None}
_ALL: Fields = {"apiVersion": ALIKE, "kind": ALIKE, "metadata": None}

JOB: Fields = {**_ALL, "status": {"conditions": _CONDITIONS, "startTime": None}}
POD: Fields = {
    **_ALL,
    "spec": {
        "nodeName": ALIKE,
        "activeDeadlineSeconds": None,
        "terminationGracePeriodSeconds": None,
        "initContainers": _CONTAINERS,
        "containers": _CONTAINERS,
        "volumes": {
            "name": ALIKE,
            "secret": _SECRET,
            "configMap": {"name": None},
            "persistentVolumeClaim": {"claimName": None, "readOnly": None},
        },
    },
    "status": {
        "phase": ALIKE,
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
    kept = only(obj, POD)
    if "volumes" in kept.get("spec", ()):
        # Of others than Secrets, ConfigMaps and claims nobody asks.
        kept["spec"]["volumes"] = [each for each in kept["spec"]["volumes"] if len(each) > 1]
    return kept


def only(obj: Object, fields: Fields) -> Object:
    """The object with these fields; what is kept as it is is shared with it."""
    kept = {}
    for name, below in fields.items():
        if name not in obj:
            continue
        value = obj[name]
        if below is None:
            kept[name] = value
        elif below is ALIKE:
            # Here, and not by a call: a pod has a hundred of these, and comes at each event.
            kept[name] = sys.intern(value) if type(value) is str else value
        else:
            kept[name] = _only(value, below)
    return kept


def _only(value: Any, fields: Fields) -> Any:
    if isinstance(value, list):
        return [_only(each, fields) for each in value]
    return only(value, fields) if isinstance(value, dict) else value
