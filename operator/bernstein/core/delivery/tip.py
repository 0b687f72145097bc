"""On what tip a Task's work lands, as far as statuses tell."""

from __future__ import annotations

from bernstein.core import owners
from bernstein.core.delivery import ledger
from bernstein.core.snapshot import TaskSnapshot


def known_tip(snapshot: TaskSnapshot) -> str | None:
    """Where the ref is in which the Task lands. None: nothing is known.

    Of a Plan's integration ref the ledger and the siblings that have landed since say it: elsewhere
    it was moved by somebody else. Of a branch a Job has seen it, and the remote decides.
    """
    plan = snapshot.plan
    if plan is None:
        delivery = snapshot.task.status.delivery
        return delivery.tip if delivery is not None else None
    if plan.status.integration is None:
        return None
    uid = plan.metadata.uid
    siblings = {name: t for name, t in snapshot.beside.items() if owners.plan_uid(t) == uid}
    return ledger.read(plan.status, siblings).tip
