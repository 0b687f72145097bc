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
    if plan is None or snapshot.delivers:
        delivery = snapshot.task.status.delivery
        return delivery.tip if delivery is not None else None
    if plan.status.integration is None:
        return None
    if snapshot.plan_tip is not None:
        return snapshot.plan_tip
    uid = plan.metadata.uid
    # Of thousands that wait for their turn nobody asks more than whether they have one.
    tried = ((name, t) for name, t in snapshot.beside.items() if t.status.delivery is not None)
    siblings = {name: task for name, task in tried if owners.plan_uid(task) == uid}
    return ledger.read(plan.status, siblings).tip
