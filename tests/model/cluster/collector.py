"""The garbage collector: what goes with its owner, and what an owner waits for."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from typing import TypeAlias

from bernstein.kube.errors import NotFound
from bernstein.kube.resource import PODS, Object, Resource, is_deleting, key_of, uid_of
from tests.model.cluster.store import ENDED, FOREGROUND, KEPT, ORPHAN, Store, copy
from tests.model.dice import Dice

POD_GC_SECONDS = 20.0

Dependants: TypeAlias = list[tuple[Resource, Object]]
Uids: TypeAlias = Mapping[str, object]


class Collector:
    def __init__(self, store: Store, dice: Dice) -> None:
        self._store = store
        self._dice = dice
        self._due = False
        self._rounds = 0
        store.hooks.append(self._changed)

    def _changed(self, resource: Resource, old: Object | None, new: Object | None) -> None:
        concerns = new is None or old is None or is_deleting(new)
        if concerns and not self._due:
            self._due = True
            self._rounds += 1
            wait = self._dice.between(0.05, 1.5, "collect", self._rounds)
            asyncio.get_running_loop().call_later(wait, self._collect)

    def _collect(self) -> None:
        self._due = False
        store = self._store
        living: dict[str, Object] = {}
        dependants: dict[str, Dependants] = defaultdict(list)
        for resource in KEPT:
            for obj in store.all(resource):
                living[uid_of(obj)] = obj
                for owner in obj["metadata"].get("ownerReferences", ()):
                    dependants[owner["uid"]].append((resource, obj))
        for uid, owned in dependants.items():
            self._with_owner(living.get(uid), owned, living, dependants)
        for resource in KEPT:
            for obj in store.all(resource):
                if is_deleting(obj):
                    self._let_go(resource, obj, dependants.get(uid_of(obj), []))

    def _with_owner(
        self, owner: Object | None, owned: Dependants, living: Uids, dependants: Uids
    ) -> None:
        """What goes because its owner is gone, or goes before its owner."""
        for resource, obj in owned:
            references = obj["metadata"]["ownerReferences"]
            if owner is None and not any(o["uid"] in living for o in references):
                self._delete(resource, obj, "Background")
            elif (
                owner
                and is_deleting(owner)
                and FOREGROUND in owner["metadata"].get("finalizers", ())
            ):
                deeper = "Foreground" if uid_of(obj) in dependants else "Background"
                self._delete(resource, obj, deeper)

    def _delete(self, resource: Resource, obj: Object, propagation: str) -> None:
        if not is_deleting(obj):
            with suppress(NotFound):
                self._store.delete(resource, key_of(obj), propagation=propagation, uid=uid_of(obj))

    def _let_go(
        self, resource: Resource, obj: Object, owned: list[tuple[Resource, Object]]
    ) -> None:
        finalizers = obj["metadata"].get("finalizers", [])
        uid = uid_of(obj)
        if ORPHAN in finalizers:
            for kind, dependant in owned:
                freed = copy(dependant)
                references = freed["metadata"]["ownerReferences"]
                freed["metadata"]["ownerReferences"] = [r for r in references if r["uid"] != uid]
                self._store.set(kind, freed)
            self._without(resource, obj, ORPHAN)
        elif FOREGROUND in finalizers and not any(
            self._store.find(kind, key_of(one)) is not None and _blocks(one, uid)
            for kind, one in owned
        ):
            self._without(resource, obj, FOREGROUND)

    def _without(self, resource: Resource, obj: Object, finalizer: str) -> None:
        live = self._store.find(resource, key_of(obj))
        if live is None or uid_of(live) != uid_of(obj):
            return
        new = copy(live)
        new["metadata"]["finalizers"] = [f for f in new["metadata"]["finalizers"] if f != finalizer]
        self._store.set(resource, new)

    async def pods(self) -> None:
        """Ends pods that are deleted before they have a node: no kubelet will."""
        while True:
            await asyncio.sleep(POD_GC_SECONDS)
            for pod in self._store.all(PODS):
                waits = is_deleting(pod) and not pod["spec"].get("nodeName")
                if waits and pod["status"].get("phase") not in ENDED:
                    self._store.set_status(PODS, key_of(pod), pod["status"] | {"phase": "Failed"})


def _blocks(dependant: Object, uid: str) -> bool:
    return any(
        owner["uid"] == uid and owner.get("blockOwnerDeletion")
        for owner in dependant["metadata"].get("ownerReferences", ())
    )
