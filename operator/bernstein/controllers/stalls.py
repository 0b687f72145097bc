"""Reports a stall, in the log and as an Event, once: when it begins or its cause changes."""

from __future__ import annotations

from bernstein.api.meta import Conditions, ConditionType
from bernstein.controllers.writer import Writer
from bernstein.core import conditions
from bernstein.kube.resource import Object
from bernstein.observe import logging

log = logging.logger(__name__)


def tell(
    writer: Writer, kind: str, obj: Object, old: Conditions, new: Conditions, **facts: object
) -> None:
    """`facts` are for the log alone."""
    stall = conditions.find(new, ConditionType.STALLED)
    if stall is None or stall == conditions.find(old, ConditionType.STALLED):
        return
    log.warning(f"{kind} stalled", reason=stall.reason, why=stall.message, **facts)
    writer.events.record(
        obj, reason=stall.reason, message=stall.message, action="Stall", warning=True
    )
