"""Jobs beside which ours are measured: the very same ones that nobody watches, and the least."""

from __future__ import annotations

import copy
from typing import Any

from bernstein.core import labels
from bernstein.kube.resource import Object

MARK = {"bench/kind": "bare"}
"""On Jobs of the bench, which the operator does not know."""
POSITION = "bench/position"
_OURS, _OF_THE_BENCH = "bernstein.dev/", "bench/"
_KUBERNETES = ("batch.kubernetes.io/", "controller-uid", "job-name")
"""Beginnings of labels that the API server puts on a Job's pod."""


def bare(job: Object, name: str, position: int) -> Object:
    """The Job without owner, finalizer and labels of ours; its pod's specification stays.

    Its labels have other names, so that admission policies and the operator leave it alone, and
    whoever plays its pod still knows what it would be for.
    """
    template = job["spec"]["template"]
    kept = {k: v for k, v in job["spec"].items() if k not in ("selector", "template")}
    own = _renamed(job["metadata"].get("labels", {})) | MARK | {POSITION: str(position)}
    pod = _renamed(template["metadata"].get("labels", {})) | MARK
    spec = copy.deepcopy(kept) | {
        "template": {"metadata": {"labels": pod}, "spec": copy.deepcopy(template["spec"])}
    }
    return _job(name, own, spec)


def _renamed(found: dict[str, str]) -> dict[str, str]:
    return {
        key.replace(_OURS, _OF_THE_BENCH): value
        for key, value in found.items()
        if key != labels.MANAGED_BY and not key.startswith(_KUBERNETES)
    }


def minimal(name: str, position: int) -> Object:
    """A Job of one container that asks for nothing, but is allowed in a restricted namespace."""
    context = {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {"name": "main", "image": "bernstein:dev", "securityContext": context}
    pod = {"restartPolicy": "Never", "containers": [container]}
    template = {"metadata": {"labels": MARK}, "spec": pod}
    return _job(name, MARK | {POSITION: str(position)}, {"backoffLimit": 0, "template": template})


def _job(name: str, own_labels: dict[str, str], spec: dict[str, Any]) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": own_labels},
        "spec": spec,
    }
