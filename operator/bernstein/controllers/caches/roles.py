"""The roles of each namespace, as decisions read them.

What is made of a namespace's AgentRoles is the same object until one of them says something else:
who compares it with what he has looked at sees at once that nothing has changed.
"""

from __future__ import annotations

from bernstein.api.roles.role import AgentRole
from bernstein.controllers.caches.parsed import Parsed
from bernstein.core.roles.known import BUILT_IN, Roles
from bernstein.kube.resource import Object, is_deleting, key_of


class RolesKnown:
    """Of all namespaces that somebody has asked for."""

    def __init__(self, parsed: Parsed[AgentRole]) -> None:
        self._parsed = parsed
        self._known: dict[str, Roles] = {}
        parsed.informer.add_handler(self._changed)

    def of(self, namespace: str) -> Roles:
        """The roles of the namespace now."""
        known = self._known.get(namespace)
        if known is None:
            there = self._parsed.going(namespace)
            own = {
                name: role.spec
                for name, role in there.items()
                if role.metadata.deletion_timestamp is None
            }
            known = self._known[namespace] = Roles(own) if own else BUILT_IN
        return known

    def _changed(self, old: Object | None, new: Object | None) -> None:
        if _as_read(old) != _as_read(new):
            for obj in filter(None, (old, new)):
                self._known.pop(key_of(obj).namespace, None)


def _as_read(role: Object | None) -> tuple[object, ...] | None:
    return (is_deleting(role), role.get("spec")) if role is not None else None
