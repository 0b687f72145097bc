"""A Plan that costs nothing, from its creation to its end: `python3 -m bernstein.hooks.trial`.

It is suspended from the start and cancelled, so no agent starts; its Project names a repository
that nobody has, so a pod of ours runs and finds that out.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from bernstein.core.sanitise import line
from bernstein.hooks.program import Failed, run, say
from bernstein.kube.client import Client
from bernstein.kube.errors import ApiError, KubeError, NotFound
from bernstein.kube.resource import Object, Resource
from bernstein.resources import PLANS, PROJECTS

REPOSITORY = "https://git.bernstein.invalid/nothing.git"
"""No resolver knows a name below `.invalid`: RFC 2606."""
_LOOK_SECONDS = 1.0
_WORDS = 600
_TOO_MANY, _OF_THE_SERVER = 429, 500
"""One code, and the first of many, after which the same may be asked again."""
_LABELS = {"app.kubernetes.io/part-of": "bernstein", "app.kubernetes.io/component": "trial"}
"""By which a trial knows what another one has left."""
_TELLING = ("Ready", "Reconciling", "Stalled")
"""Conditions that say why it goes on, or does not."""


@dataclass(frozen=True)
class Trial:
    """Where and how it is tried."""

    namespace: str
    name: str
    """Of the Project, of the Plan, and of the Secret with the Project's credentials, which is there
    already."""
    image: str
    operator: str
    """NAMESPACE/NAME of the operator's Deployment."""
    pull_secrets: tuple[str, ...] = ()
    seconds: float = 240.0
    """For all of it."""

    def project(self) -> Object:
        credentials = {each: {"secretName": self.name} for each in ("read", "work", "deliver")}
        repository = {"name": "nothing", "url": REPOSITORY, "credentials": credentials}
        return self._object(
            PROJECTS,
            {
                "repositories": [repository],
                "agents": [{"name": "nobody", "adapter": "demo", "image": self.image}],
                "toolchain": {"image": self.image},
                "gates": {"enabled": False},
                "merge": {"strategy": "direct"},
                "pods": {"imagePullSecrets": list(self.pull_secrets)},
            },
        )

    def plan(self) -> Object:
        step = {"title": "Nothing"}
        spec = {
            "name": "A Plan that costs nothing",
            "projectRef": self.name,
            "suspend": True,
            "stages": [{"name": "nothing", "steps": [step]}],
        }
        return self._object(PLANS, spec)

    def _object(self, resource: Resource, spec: Object) -> Object:
        metadata = {"name": self.name, "namespace": self.namespace, "labels": {**_LABELS}}
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        return {**kind, "metadata": metadata, "spec": spec}


async def attempt(
    client: Client,
    trial: Trial,
    tell: Callable[[str], None] = say,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Raises Failed, in words for people; what it has made is deleted, unless it is killed.

    `clock`: seconds since some time.
    """
    look = _Look(client, trial, clock, clock() + trial.seconds)
    for resource in (PLANS, PROJECTS):
        await look.cleared(resource)
    async with look.at(PROJECTS, trial.project()):
        tell(f"Project '{trial.name}' is made: a pod of Bernstein tries its repository")
        await look.until(PROJECTS, lambda status: status["probe"]["settled"])
        tell("The pod has run, and the operator has read what it found")
        async with look.at(PLANS, trial.plan()):
            await look.until(PLANS, lambda status: status["expanded"])
            tell(f"Plan '{trial.name}' is made, and its Task by the operator")
            await look.cancelled()
            await look.until(PLANS, lambda status: status["phase"] == "Cancelled")
            tell("The Plan is cancelled, as it was asked")
    tell("All is deleted again. Bernstein works")


@dataclass(frozen=True)
class _Look:
    client: Client
    trial: Trial
    clock: Callable[[], float]
    deadline: float

    @contextlib.asynccontextmanager
    async def at(self, resource: Resource, obj: Object) -> AsyncIterator[None]:
        """It is there meanwhile."""
        try:
            async with self._allowed(f"make a {resource.kind}"):
                await self.client.create(resource, obj)
        except KubeError:
            await self._let_go(resource)  # it may have been made
            raise
        try:
            yield
        except BaseException:
            await self._let_go(resource)
            raise
        await self.removed(resource)

    async def _let_go(self, resource: Resource) -> None:
        with contextlib.suppress(KubeError):
            await self.client.delete(resource, self.trial.name, self.trial.namespace)

    async def cancelled(self) -> None:
        change = {"spec": {"cancel": {"reason": "the trial is over"}}}
        async with self._allowed("cancel the Plan"):
            await self.client.patch(PLANS, self.trial.name, self.trial.namespace, change)

    async def until(self, resource: Resource, holds: Callable[[Object], bool]) -> None:
        obj: Object = {}
        while True:
            is_last = self._is_late()
            try:
                async with self._allowed(f"read the {resource.kind}"):
                    obj = await self.client.get(resource, self.trial.name, self.trial.namespace)
            except NotFound:
                raise
            except KubeError:
                if is_last:
                    raise
            with contextlib.suppress(KeyError):
                if holds(obj["status"]):
                    return
            if is_last:
                raise self._silent(resource, obj)
            await asyncio.sleep(_LOOK_SECONDS)

    async def cleared(self, resource: Resource) -> None:
        """What a trial has left that was killed is removed; Failed where it is somebody's."""
        name, namespace = self.trial.name, self.trial.namespace
        try:
            async with self._allowed(f"read the {resource.kind}"):
                there = await self.client.get(resource, name, namespace)
        except NotFound:
            return
        if not _LABELS.items() <= there["metadata"].get("labels", {}).items():
            raise Failed(
                "NameTaken",
                f"namespace '{namespace}' has a {resource.kind} '{name}' of somebody's",
                "name another namespace as `test.namespace`",
            )
        await self.removed(resource)

    async def removed(self, resource: Resource) -> None:
        """With all that it owns."""
        name, namespace = self.trial.name, self.trial.namespace
        try:
            async with self._allowed(f"delete the {resource.kind}"):
                await self.client.delete(resource, name, namespace)
                while not self._is_late():
                    await self.client.get(resource, name, namespace)
                    await asyncio.sleep(_LOOK_SECONDS)
        except NotFound:
            return
        raise Failed(
            "NotDeleted",
            f"{resource.kind} '{name}' is being deleted, and still there",
            f"kubectl -n {namespace} get {resource.plural}.{resource.group} {name} -o yaml: its "
            "finalizers say who holds it",
        )

    def _is_late(self) -> bool:
        return self.clock() > self.deadline

    @contextlib.asynccontextmanager
    async def _allowed(self, what: str) -> AsyncIterator[None]:
        try:
            yield
        except NotFound as error:
            if error.details.get("name") == self.trial.name:
                raise
            remedy = "are the CRDs there? kubectl get crd plans.bernstein.dev"
            raise Failed("KindsMissing", f"nobody can {what}: {error.gist}", remedy) from error
        except ApiError as error:
            if error.status == _TOO_MANY or error.status >= _OF_THE_SERVER:
                raise
            remedy = (
                "an admission policy, a quota or a right is in the way: see who says no, or name "
                "another namespace as `test.namespace`"
            )
            raise Failed("Refused", f"the API server refuses to {what}: {error}", remedy) from error

    def _silent(self, resource: Resource, obj: Object) -> Failed:
        """It has not come to what was waited for: what does it say?"""
        status, what = obj.get("status", {}), f"{resource.kind} '{self.trial.name}'"
        if status.get("observedGeneration", -1) < 0:
            namespace, _, name = self.trial.operator.partition("/")
            return Failed(
                "OperatorSilent",
                f"the operator has not looked at the {what} of namespace '{self.trial.namespace}'",
                f"kubectl -n {namespace} rollout status deployment/{name} and its log say why; "
                "with `watch.namespaces` it looks at those namespaces alone",
            )
        said = [
            f"{each['type']} is {each['status']} ({each['reason']}): {each.get('message', '')}"
            for each in status.get("conditions", ())
            if each["type"] in _TELLING
        ]
        told = line("; ".join(said), _WORDS) or "it says nothing"
        seconds = f"{self.trial.seconds:.0f} s"
        return Failed(
            "NotInTime",
            f"{what} has not come to its end within {seconds}; it says: {told}",
            "what it says has a remedy where there is one; the page on errors knows all reasons",
        )


def _arguments() -> Trial:
    parser = argparse.ArgumentParser(prog="bernstein-trial", description=__doc__)
    add = parser.add_argument
    add("--namespace", required=True, help="where it is tried")
    add("--name", required=True, help="of all that is made, and of the Secret that is there")
    add("--image", required=True, help="image of Bernstein")
    add("--operator", required=True, metavar="NAMESPACE/NAME", help="its Deployment")
    add("--pull-secret", action="append", default=[], help="by which it is pulled (again for more)")
    add("--seconds", type=float, default=240.0, help="how long all may take")
    found = parser.parse_args()
    secrets = tuple(found.pull_secret)
    return Trial(found.namespace, found.name, found.image, found.operator, secrets, found.seconds)


def main() -> None:
    """Tries it once."""
    trial = _arguments()
    run(lambda client: attempt(client, trial))


if __name__ == "__main__":
    main()
