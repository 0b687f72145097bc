"""What goes wrong between the operator and the API server, as the events of a scenario say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from bernstein.kube.resource import EVENTS, LEASES, Resource
from tests.model.cluster.store import Store

WRITES = ("POST", "PATCH", "DELETE")


class Troubles:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._armed: list[dict[str, Any]] = []
        self._held: dict[str, float] = {}
        self._doubled: dict[str, float] = {}
        self._broken: dict[str, tuple[float, str]] = {}
        self.asked: Counter[tuple[str, str]] = Counter()
        """Requests that reached the API server, by verb and kind; watches aside."""
        self.happen: Callable[[dict[str, Any]], None] = lambda _: None
        """Makes happen what follows at once on a fault."""

    def arm(self, fault: dict[str, Any]) -> None:
        """The next request that it fits is the one."""
        self._armed.append(fault)

    def lag(self, resource: str, seconds: float) -> None:
        until = self._store.seconds + seconds
        self._held[resource] = max(until, self._held.get(resource, 0.0))

    def double(self, resource: str, seconds: float) -> None:
        self._doubled[resource] = self._store.seconds + seconds

    def end_watches(self, resource: str, how: str) -> None:
        self._broken[resource] = (self._store.seconds, how)
        for kind in self._store.log:
            if kind.plural == resource:
                if how == "gone":
                    self._store.floor[kind] = self._store.revision
                self._store.wake(kind)

    def stop(self) -> None:
        self._armed.clear()
        self._held.clear()
        self._doubled.clear()

    # --- what a client asks -----------------------------------------------------------------------

    def of_request(
        self, replica: int, verb: str, resource: Resource, body: object
    ) -> dict[str, Any] | None:
        self.asked[verb, resource.plural] += 1
        # Posting an Event is best effort; what Events say of a pod is read like anything else.
        if resource == LEASES or (resource == EVENTS and verb != "LIST"):
            return None
        for fault in self._armed:
            if _fits(fault, verb, resource) and fault.get("says", "") in str(body):
                self._armed.remove(fault)
                for event in fault.get("then", ()):
                    self.happen(event)
                return fault
        return None

    def held_back(self, replica: int, resource: Resource) -> float:
        return self._held.get(resource.plural, 0.0)

    def breaks(self, replica: int, resource: Resource, opened: float) -> str | None:
        at, how = self._broken.get(resource.plural, (0.0, ""))
        return how if at > opened else None

    def doubles(self, resource: Resource) -> bool:
        return self._store.seconds < self._doubled.get(resource.plural, 0.0)


def _fits(fault: dict[str, Any], verb: str, resource: Resource) -> bool:
    wanted = fault.get("verb", verb)
    if wanted not in (verb, "write") or (wanted == "write" and verb not in WRITES):
        return False
    return bool(fault.get("resource", resource.plural) == resource.plural)
