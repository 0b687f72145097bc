"""Reconciles AgentRoles: says whether each can be used.

It decides nothing else: who needs a role reads its spec.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from bernstein.controllers.wiring import KindController, Watch
from bernstein.core.roles.judged import status_of
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key
from bernstein.resources import ROLES


class RoleController(KindController):
    NAME: ClassVar[str] = "agentrole"

    @property
    def primary(self) -> Informer:
        return self._caches.roles.informer

    def watches(self) -> Iterable[Watch]:
        return ()

    async def reconcile(self, key: Key) -> Result:
        obj = self.primary.get(key)
        if obj is None:
            return Result()
        role = self._caches.roles.of(obj)
        if role.metadata.deletion_timestamp is None:
            status = status_of(role, self._context.now())
            await self._writer.status(key, ROLES, obj, status.dump())
        return Result()
