"""Tells of Tasks of nodes that somebody has deleted before all was decided on them."""

from __future__ import annotations

from bernstein.api.plans.workflow import MAX_NODES
from bernstein.controllers.writer import Writer
from bernstein.core.plans.nodes import endings
from bernstein.core.snapshot import PlanSnapshot
from bernstein.kube.resource import Object

_MOST = 8 * MAX_NODES
"""Tasks that are known to be told of: while a loop goes on they are looked at each time."""


class Losses:
    """Each is told of once, by the replica that leads."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._told: dict[tuple[str, str], None] = {}
        """Uids of Plans and Tasks, those that were asked for last at the end."""

    def tell(self, writer: Writer, plan: Object, snapshot: PlanSnapshot) -> None:
        for row in endings.deleted(snapshot):
            if self._is_new(snapshot.plan.metadata.uid, row.uid or ""):
                writer.events.record(
                    plan,
                    reason="OutputLost",
                    message=f"the Task '{row.name}' of node '{row.node}' is deleted: conditions "
                    "take its result and its output as null",
                    action="Decide",
                    warning=True,
                )

    def _is_new(self, plan: str, task: str) -> bool:
        is_new = (plan, task) not in self._told
        self._told.pop((plan, task), None)
        self._told[plan, task] = None
        if len(self._told) > self._most:
            del self._told[next(iter(self._told))]
        return is_new
