"""Reports a stall, in the log and as an Event, once: when it begins or its cause changes."""

from __future__ import annotations

from bernstein.controllers.writer import Writer
from bernstein.core.reasons import policy
from bernstein.core.waiting import Waits, is_stalled
from bernstein.kube.resource import Object
from bernstein.observe import logging

log = logging.logger(__name__)
_WHERE = "it stands still; its condition Stalled says why."


def tell(writer: Writer, kind: str, obj: Object, old: Waits, new: Waits, **facts: object) -> None:
    """`facts` are for the log alone."""
    stall = new.waiting
    if stall is None or not is_stalled(new):
        return
    # The words may change with every try: they name its pod.
    if is_stalled(old) and old.waiting is not None and old.waiting.reason == stall.reason:
        return
    log.warning(f"{kind} stalled", reason=stall.reason, **facts)
    writer.events.record(
        obj, reason=stall.reason, message=_words(stall.reason), action="Stall", warning=True
    )


def _words(reason: str) -> str:
    """What happened stands in the condition alone: it may quote an agent, a check or a server, and
    Events and logs are read and kept by others than those who may read the object."""
    remedy = policy(reason).remedy
    return f"{_WHERE} Remedy: {remedy}" if remedy else _WHERE
