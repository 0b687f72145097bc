"""Reports a stall, in the log and as an Event, once: when it begins or its cause changes."""

from __future__ import annotations

from bernstein.api.verification import Verification
from bernstein.controllers.writer import Writer
from bernstein.core.reasons import policy
from bernstein.core.verification import findings
from bernstein.core.waiting import Waits, is_stalled
from bernstein.kube.resource import Object
from bernstein.observe import logging

log = logging.logger(__name__)


def tell(
    writer: Writer,
    kind: str,
    obj: Object,
    old: Waits,
    new: Waits,
    *,
    judged: Verification | None,
    **facts: object,
) -> None:
    """`judged`: what may be why. `facts` are for the log alone."""
    stall = new.waiting
    if stall is None or not is_stalled(new):
        return
    # The words may change with every try: they name its pod.
    if is_stalled(old) and old.waiting is not None and old.waiting.reason == stall.reason:
        return
    log.warning(f"{kind} stalled", reason=stall.reason, **facts)
    writer.events.record(
        obj,
        reason=stall.reason,
        message=_words(stall.reason, findings.named(judged)),
        action="Stall",
        warning=True,
    )


def _words(reason: str, found: str) -> str:
    """Which checks, and the remedy. What happened stands in the condition alone: it may quote an
    agent, a check or a server, and Events and logs are read and kept by others than those who may
    read the object."""
    remedy = policy(reason).remedy
    where = f"it stands still{': ' if found else ''}{found}; its condition Stalled says why."
    return f"{where} Remedy: {remedy}" if remedy else where
