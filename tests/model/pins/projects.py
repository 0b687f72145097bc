"""People who change Projects under what runs: one is deleted and made again, a second one comes,
prices, models, images and the time and memory of checks are others.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from bernstein.api.approvals.policy import PROTECTED_PATHS
from bernstein.kube.errors import AlreadyExists, ApiError
from bernstein.kube.resource import Key, Object, Resource, is_deleting, key_of, uid_of
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.model.cluster.store import NAMESPACE, Store, copy
from tests.model.people import People

SECOND = "second"
LOOKS_SECONDS = 10.0
MOST_LOOKS = 30
"""So often somebody looks whether the Project is gone that is to be made again."""


class Projects:
    def __init__(self, store: Store, people: People) -> None:
        self._store = store
        self._people = people
        self._number = 0

    def change(self, event: dict[str, Any]) -> None:
        """One event; what it is about may not be there."""
        self._number += 1
        with suppress(ApiError):
            getattr(self, "_" + event["what"].replace(" ", "_"))(event)

    def _living(self) -> list[Object]:
        there = sorted(self._store.all(PROJECTS), key=lambda obj: key_of(obj).name)
        return [project for project in there if not is_deleting(project)]

    def _pick(self, event: dict[str, Any]) -> Object | None:
        found = self._living()
        return found[min(int(event["pick"] * len(found)), len(found) - 1)] if found else None

    def _spec(self, event: dict[str, Any]) -> dict[str, Any]:
        """Of the picked one, to be changed; that of nobody is empty."""
        project = self._pick(event)
        return copy(project["spec"]) if project is not None else {}

    def _write(self, event: dict[str, Any], **spec: Any) -> None:
        project = self._pick(event)
        if project is not None:
            self._store.merge(PROJECTS, key_of(project), {"spec": spec})

    # --- what is another from then on -------------------------------------------------------------

    def _prices(self, event: dict[str, Any]) -> None:
        price = {"model": "sonnet", "input": str(1 + int(event["pick"] * 50)), "output": "40"}
        self._write(event, budget={"prices": [price]})

    def _time(self, event: dict[str, Any]) -> None:
        self._write(event, gates={"timeoutSeconds": 61 + int(event["pick"] * 200)})

    def _memory(self, event: dict[str, Any]) -> None:
        memory = f"{1 + int(event['pick'] * 4)}Gi"
        toolchain = self._spec(event).get("toolchain", {})
        self._write(event, toolchain=toolchain | {"resources": {"memory": memory}})

    def _models(self, event: dict[str, Any]) -> None:
        self._agents(event, models={"sonnet": f"sonnet-{self._number}"})

    def _image(self, event: dict[str, Any]) -> None:
        self._agents(event, image=f"agent-demo:{self._number}")

    def _agents(self, event: dict[str, Any], **fields: Any) -> None:
        agents = self._spec(event).get("agents", [])
        self._write(event, agents=[agent | fields for agent in agents])

    # --- Projects that come and go ----------------------------------------------------------------

    def _second(self, event: dict[str, Any]) -> None:
        """Somebody makes another one in the namespace, with work of its own."""
        spec = self._spec(event)
        if spec:
            self._make(SECOND, spec)
            task = {"title": "work elsewhere", "projectRef": SECOND}
            name = f"elsewhere-{self._number}"
            self._people.act({"do": "apply task", "name": name, "spec": task})

    def _delete(self, event: dict[str, Any]) -> None:
        project = self._pick(event)
        if project is None:
            return
        key, spec = key_of(project), copy(project["spec"])
        self._store.delete(PROJECTS, key, propagation=event["propagation"])
        if event["seconds"] is not None:
            self._later(event["seconds"], key, spec, MOST_LOOKS)

    def _later(self, seconds: float, key: Key, spec: dict[str, Any], looks: int) -> None:
        asyncio.get_running_loop().call_later(seconds, self._again, key, spec, looks)

    def _again(self, key: Key, spec: dict[str, Any], looks: int) -> None:
        """It is made again under its old name, once that is free."""
        try:
            self._make(key.name, spec)
        except AlreadyExists:
            if looks:
                self._later(LOOKS_SECONDS, key, spec, looks - 1)
        except ApiError:
            return

    def _make(self, name: str, spec: dict[str, Any]) -> None:
        """Each has a repository of its own; for all it is the same who decides, about what, and how
        many agents there are."""
        for other in self._living():
            there = copy(other["spec"])
            spec = spec | {field: there.get(field, {}) for field in ("approval", "limits")}
            spec["protectedPaths"] = there.get("protectedPaths", [*PROTECTED_PATHS])
        self._number += 1
        (repository,) = spec["repositories"]
        url = f"https://git.example.com/{name}-{self._number}.git"
        made = {
            "apiVersion": PROJECTS.api_version,
            "kind": PROJECTS.kind,
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": spec | {"repositories": [repository | {"url": url}]},
        }
        self._store.create(PROJECTS, made)

    def _give_up(self, _: dict[str, Any]) -> None:
        """Somebody cancels what began under a Project that is gone."""
        living = {uid_of(project) for project in self._living()}
        for resource in (PLANS, TASKS):
            for obj in self._store.all(resource):
                began = obj.get("status", {}).get("projectUid")
                if began is not None and began not in living:
                    self._cancel(resource, obj)

    def _cancel(self, resource: Resource, obj: Object) -> None:
        of_plan = bool(obj["metadata"].get("ownerReferences"))
        if "cancel" not in obj["spec"] and not of_plan:
            body = {"spec": {"cancel": {"reason": "its Project is gone"}}}
            self._store.merge(resource, key_of(obj), body)
