"""Reconciles AgentRoles: says whether each can be used, and whether Projects know its model.

It decides nothing else: who needs a role reads its spec.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import ClassVar

from bernstein.api.roles.role import AgentRole
from bernstein.controllers.predicates import spec_changed
from bernstein.controllers.wiring import KindController, Watch
from bernstein.core.money import models
from bernstein.core.roles.judged import status_of
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key, Object, key_of
from bernstein.resources import ROLES


class RoleController(KindController):
    NAME: ClassVar[str] = "agentrole"

    @property
    def primary(self) -> Informer:
        return self._caches.roles.informer

    def watches(self) -> Iterable[Watch]:
        roles, projects = self._caches.roles, self._caches.projects.informer

        def beside(project: Object) -> Collection[Key]:
            namespace = key_of(project).namespace
            return [Key(namespace, name) for name in roles.going(namespace)]

        yield Watch(projects, beside, when=spec_changed)

    async def reconcile(self, key: Key) -> Result:
        obj = self.primary.get(key)
        if obj is None:
            return Result()
        role = self._caches.roles.of(obj)
        if role.metadata.deletion_timestamp is None:
            status = status_of(role, self._context.now(), self._model_unknown(role))
            await self._writer.status(key, ROLES, obj, status.dump())
        return Result()

    def _model_unknown(self, role: AgentRole) -> str:
        """That Projects beside it do not know its model; "": all do."""
        model = role.spec.model
        projects = self._caches.projects.going(role.metadata.namespace).values()
        there = (each for each in projects if each.metadata.deletion_timestamp is None)
        strangers = models.strangers(model, there)
        return models.unknown(model, strangers) if strangers else ""
