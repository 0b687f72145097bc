"""Reconciles Approvals: writes what they show, and what has become of them.

It decides nothing: what follows from a decision is the next step of the Task or Plan that asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from bernstein.api.approvals.approval import ApprovalState, ApprovalStatus
from bernstein.controllers.approvals.watches import watches
from bernstein.controllers.snapshots import approval_snapshot
from bernstein.controllers.wiring import KindController, Watch
from bernstein.core.approvals.decide import SENT_BACK, ApprovalSnapshot, status_of
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key, Object
from bernstein.observe import logging
from bernstein.resources import APPROVALS

log = logging.logger(__name__)

_WORDS = {
    ApprovalState.PENDING: "a person has yet to decide",
    ApprovalState.APPROVED: "it was approved",
    ApprovalState.REJECTED: "it was rejected",
    ApprovalState.EXPIRED: "nobody has decided in time: it is rejected",
    ApprovalState.VOID: "what it was about has changed or ended",
}
"""What is told of a move to this state."""


class ApprovalController(KindController):
    NAME: ClassVar[str] = "approval"

    @property
    def primary(self) -> Informer:
        return self._caches.approvals.informer

    def watches(self) -> Iterable[Watch]:
        return watches(self._caches)

    async def reconcile(self, key: Key) -> Result:
        obj, snapshot = self.primary.get(key), approval_snapshot(self._caches, key)
        if obj is None or snapshot is None or snapshot.subject is None:
            return Result()  # it goes with what it is about
        status = status_of(snapshot, self._context.now())
        if await self._writer.status(key, APPROVALS, obj, status.dump()):
            self._tell(obj, snapshot, status)
        return Result()

    def _tell(self, obj: Object, snapshot: ApprovalSnapshot, new: ApprovalStatus) -> None:
        approval, state = snapshot.approval, new.state
        if state is None or state is approval.status.state:
            return
        meta, about = approval.metadata, approval.spec.subject
        log.info(
            "approval moved",
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            about=f"{about.kind}/{about.name}",
            before=approval.status.state,
            after=state,
        )
        sent_back = any(condition.reason == SENT_BACK for condition in new.conditions)
        words = "it was sent back" if sent_back else _WORDS[state]
        self._writer.events.record(obj, reason=str(state), message=words, action="Decide")
