"""One Application of Argo CD: asked to sync, and looked at."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from bernstein.kube.client import Client
from bernstein.kube.resource import Object, Resource
from tests.platform.gitops.argocd import NAMESPACE, ArgoCD, application
from tests.platform.gitops.repository import Repository

APPLICATIONS = Resource("argoproj.io", "v1alpha1", "applications", "Application")
PATIENCE = 120.0


@dataclass
class Synced:
    admin: Client
    argocd: ArgoCD
    name: str

    @classmethod
    async def made(
        cls,
        admin: Client,
        argocd: ArgoCD,
        repository: Repository,
        namespace: str,
        **policy: Any,
    ) -> Synced:
        """Called like its namespace; with a `policy`, which may sync by itself."""
        obj = application(namespace, repository.folder, "shop", namespace)
        obj["spec"]["syncPolicy"] = policy
        await admin.create(APPLICATIONS, obj)
        return cls(admin, argocd, namespace)

    async def sync(self, revision: str) -> Object:
        """One sync to this commit, with pruning; the state of the operation at its end."""
        body: dict[str, Any] = {"operation": {"sync": {"revision": revision, "prune": True}}}
        before = (await self.get()).get("status", {}).get("operationState", {}).get("startedAt")
        await self.admin.patch(APPLICATIONS, self.name, NAMESPACE, body)

        def ended(app: Object) -> bool:
            state = app["status"]["operationState"]
            return (
                "operation" not in app
                and state["phase"] not in ("Running", "Terminating")
                and (state["syncResult"]["revision"] == revision and state["startedAt"] != before)
            )

        state: Object = (await self.until(ended))["status"]["operationState"]
        return state

    async def get(self) -> Object:
        return await self.admin.get(APPLICATIONS, self.name, NAMESPACE)

    async def until(self, holds: Callable[[Object], object]) -> Object:
        """The Application, once that holds of it."""
        app: Object = {}
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    app = await self.get()
                    with contextlib.suppress(KeyError, ValueError):  # not told yet
                        if holds(app):
                            return app
                    await asyncio.sleep(0.1)
        except TimeoutError:
            shown = yaml.safe_dump(app.get("status", {}))
            pytest.fail(f"{shown}\n{self.argocd.log()[-4000:]}")

    async def healthy(self, health: str) -> Object:
        return await self.until(lambda app: app["status"]["health"]["status"] == health)

    async def shows(self, name: str, health: str, *begins: str) -> None:
        """Until it shows an object of this name so, with a message that begins so."""

        def holds(app: Object) -> bool:
            (found,) = (r["health"] for r in app["status"]["resources"] if r["name"] == name)
            told = found.get("message", "").startswith(begins or ("",))
            return bool(found["status"] == health and told)

        await self.until(holds)

    async def in_sync(self) -> Object:
        return await self.until(lambda app: app["status"]["sync"]["status"] == "Synced")
