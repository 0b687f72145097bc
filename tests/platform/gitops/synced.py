"""One Application of Argo CD: asked to sync, and looked at."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
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
        made = cls(admin, argocd, namespace)
        await made.until(_is_known)
        return made

    async def sync(self, revision: str) -> Object:
        """One sync to this commit, with pruning; the state of the operation at its end."""
        wanted: dict[str, Any] = {"revision": revision, "prune": True}
        policy = (await self.get())["spec"].get("syncPolicy", {})
        # Argo CD's own server copies them, too.
        wanted["syncOptions"] = policy.get("syncOptions", [])
        info = [{"name": "asked", "value": uuid.uuid4().hex}]
        operation = {"info": info, "sync": wanted}
        await self.admin.patch(APPLICATIONS, self.name, NAMESPACE, {"operation": operation})

        def ended(app: Object) -> bool:
            state = app["status"]["operationState"]
            over = state["phase"] not in ("Running", "Terminating")
            return over and state["operation"].get("info") == info

        state: Object = (await self.until(ended))["status"]["operationState"]
        return state

    async def change(self, **spec: Any) -> None:
        await self.admin.patch(APPLICATIONS, self.name, NAMESPACE, {"spec": spec})

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

    async def versions(self) -> dict[str, str]:
        """By kind and name the generation of each of its objects, whose status others write; of one
        that counts none the resourceVersion."""
        listed = (await self.get())["status"]["resources"]
        found = self.argocd.tools.kubectl(
            *("get", "--namespace", self.name, "--output", "json"),
            *(f"{r['kind']}.{r['version']}.{r.get('group', '')}/{r['name']}" for r in listed),
        )
        each = [(obj["kind"], obj["metadata"]) for obj in json.loads(found)["items"]]
        return {
            f"{kind}/{meta['name']}": str(meta.get("generation", meta["resourceVersion"]))
            for kind, meta in each
        }


def _is_known(app: Object) -> bool:
    """Whether it was looked at by a controller that has seen its project, too."""
    conditions = app["status"].get("conditions", [])
    return "sync" in app["status"] and all(c["type"] != "InvalidSpecError" for c in conditions)
