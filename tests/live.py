"""Objects of a running cluster, read over one kept connection: a kubectl that starts for each look
takes a fifth of a second of CPU, which the cluster under test has need of."""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from bernstein.kube.config import ConnectionInfo
from bernstein.kube.resource import CONFIG_MAPS, JOBS, PODS, Resource
from bernstein.resources import APPROVALS, PLANS, PROJECTS, SESSIONS, TASKS

KINDS = {
    name: resource
    for resource in (CONFIG_MAPS, JOBS, PODS, APPROVALS, PLANS, PROJECTS, SESSIONS, TASKS)
    for name in (resource.kind.lower(), resource.plural)
}
_TRIES = 3


class Live:
    """Reads as the administrator of the kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        info = ConnectionInfo.load(str(kubeconfig))
        self._client = httpx.Client(base_url=info.server, verify=info.ssl_context(), timeout=60)

    def close(self) -> None:
        self._client.close()

    def get(self, resource: Resource, namespace: str, name: str) -> dict[str, Any]:
        """The object; {} where there is none."""
        return self._read(resource.path(namespace, name))

    def all(self, resource: Resource, namespace: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self._read(resource.path(namespace))["items"]
        return [{"apiVersion": resource.api_version, "kind": resource.kind, **i} for i in items]

    def _read(self, path: str) -> dict[str, Any]:
        for left in reversed(range(_TRIES)):
            try:
                answer = self._client.get(path)
                break
            except httpx.TransportError:  # the API server has closed what was kept open
                if not left:
                    raise
        if answer.status_code == httpx.codes.NOT_FOUND:
            return {}
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found


@cache
def of(kubeconfig: Path) -> Live:
    live = Live(kubeconfig)
    atexit.register(live.close)
    return live
