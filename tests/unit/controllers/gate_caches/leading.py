"""A process that leads and keeps verdicts, and what it has written."""

from __future__ import annotations

import asyncio
from typing import Any

from bernstein.api.project import Project
from bernstein.controllers.gate_caches import AGAIN_SECONDS, GateCaches, config_map
from bernstein.core.actions import KeepVerdicts
from bernstein.core.gate_cache import GateCache, KeptVerdict, dump, keeping
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.lease import Fence
from bernstein.kube.resource import CONFIG_MAPS
from tests.fence import Unfenced
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW
from tests.unit.kube.apiserver import ApiServer

NAME = "default-gate-cache"
PROJECT = objects.project()
ONE, TWO = "1" * 40, "2" * 40
PASSED = KeptVerdict("Passed")


class Process:
    """One that leads, for as long as it lives."""

    def __init__(self, client: Client, fence: Fence | None = None) -> None:
        self.seconds = 1000.0
        clock = Clock(monotonic=lambda: self.seconds, sleep=self._passes)
        self.there = {PROJECT.metadata.uid}
        """Uids of the Projects that there are."""
        self.caches = GateCaches(client, fence or Unfenced(), "b:1", lambda: self.there, clock)

    async def _passes(self, seconds: float) -> None:
        self.seconds += seconds
        await asyncio.sleep(0)

    async def known(self, project: Project = PROJECT) -> set[str]:
        cache = await self.caches.of(project)
        assert cache is not None
        return {*cache.verdicts}

    async def keep(self, *keys: str, project: Project = PROJECT) -> None:
        action = KeepVerdicts(tuple((key, PASSED) for key in keys), (("t:1", "sha256:a"),))
        await self.caches.keep(action, project, NOW)

    def later(self) -> None:
        self.seconds += AGAIN_SECONDS


def stored(api: ApiServer) -> set[str]:
    return {*api.get(CONFIG_MAPS, NAME, NAMESPACE)["data"]} - {"images"}


def written(api: ApiServer) -> list[str]:
    return [call.verb for call in api.writes()]


def put(api: ApiServer, *keys: str, **metadata: Any) -> None:
    """As another process has written it; `metadata` changes what makes it ours."""
    cache = keeping(GateCache("b:1"), [(key, PASSED) for key in keys], (), NOW)
    obj = config_map(PROJECT, dump(cache))
    api.put(CONFIG_MAPS, NAME, NAMESPACE, data=obj["data"], metadata=obj["metadata"] | metadata)
