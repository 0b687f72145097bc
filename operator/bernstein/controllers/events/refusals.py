"""Reports the requests of people that were refused, each as one Event."""

from __future__ import annotations

from bernstein.controllers.writer import Writer
from bernstein.core.requests import Answering
from bernstein.kube.resource import Object


def tell(writer: Writer, obj: Object, old: Answering, new: Answering) -> None:
    """Reports what this write has refused; call it once the write has succeeded.

    The message of the answer stands in the status alone: it may quote a check or a server.
    """
    known = {answer.id for answer in old.requests or ()}
    for answer in new.requests or ():
        if answer.answer == "Refused" and answer.id not in known:
            writer.events.record(
                obj,
                reason="RequestRefused",
                message=f"{answer.verb} is refused: {answer.reason}; status.requests says why",
                action=answer.verb,
                warning=True,
            )
