"""Whether this server can do its work: the API server answers, and lets our account do it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from bernstein.kube.client import Client
from bernstein.kube.errors import KubeError
from bernstein.kube.resource import SELF_SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS, Resource
from bernstein.resources import SESSIONS
from bernstein.server.http.refusal import from_kube

FRESH_SECONDS = 5.0


def _need(verb: str, resource: Resource, **more: str) -> dict[str, str]:
    return {"verb": verb, "group": resource.group, "resource": resource.plural, **more}


_CLUSTER_WIDE = _need("create", TOKEN_REVIEWS)
_NAMESPACED = (_need("get", SESSIONS), _need("patch", SESSIONS, subresource="status"))


class Readiness:
    """Asks the API server at most every FRESH_SECONDS, however many probes come.

    `namespaces` are those whose sessions report here; none means all.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespaces: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client.with_timeout(3.0)
        self._needs = [
            _CLUSTER_WIDE,
            *({**need, "namespace": ns} for ns in namespaces or ("",) for need in _NAMESPACED),
        ]
        self._clock = clock
        self._asked = float("-inf")
        self._problem: str | None = None
        self._lock = asyncio.Lock()

    async def problem(self) -> str | None:
        """What keeps this server from its work, in plain words, or None."""
        async with self._lock:
            if self._clock() - self._asked >= FRESH_SECONDS:
                self._problem = await self._ask()
                self._asked = self._clock()
            return self._problem

    async def _ask(self) -> str | None:
        for need in self._needs:
            try:
                allowed = await self._allowed(need)
            except KubeError as error:
                return from_kube(error).problem.message
            if not allowed:
                what = "/".join(need[key] for key in ("resource", "subresource") if key in need)
                where = f" in namespace {need['namespace']}" if need.get("namespace") else ""
                return f"The server's account may not {need['verb']} {what}{where}."
        return None

    async def _allowed(self, need: dict[str, str]) -> bool:
        review = {
            "apiVersion": SELF_SUBJECT_ACCESS_REVIEWS.api_version,
            "kind": SELF_SUBJECT_ACCESS_REVIEWS.kind,
            "spec": {"resourceAttributes": need},
        }
        answer = await self._client.create(SELF_SUBJECT_ACCESS_REVIEWS, review)
        return bool((answer.get("status") or {}).get("allowed"))
