"""People who decide, at any moment: also twice, late, and about what has changed since."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, NamedTuple

from bernstein.api.approvals.approval import APPROVE
from bernstein.kube.errors import ApiError
from bernstein.kube.resource import Object, is_deleting, key_of
from bernstein.resources import APPROVALS
from tests.model.cluster.store import Store
from tests.model.dice import Dice

LOOKS_SECONDS = 20.0
"""Between two looks of somebody who decides whatever he finds."""
WHO, ANOTHER = "ann", "ben"
"""Who decides, and who does what the first one may not: decide about his own work."""


class Approved(NamedTuple):
    """What a person has said yes to."""

    uid: str
    attempt: int | None
    work: str | None
    sha: str | None
    base: str | None
    digest: str
    gate: str | None
    by: str


class Approvers:
    def __init__(self, store: Store, dice: Dice) -> None:
        self._store = store
        self._dice = dice
        self.approved: set[Approved] = set()
        """All that people have ever said yes to."""

    def decide(self, event: dict[str, Any]) -> None:
        """Somebody decides about one that he has seen, whatever became of it."""
        found = sorted(self._store.all(APPROVALS), key=lambda obj: key_of(obj).name)
        if found:
            place = min(int(event["pick"] * len(found)), len(found) - 1)
            self._write(found[place], event["decision"])

    def look(self) -> None:
        """Somebody decides whatever waits, and comes again."""
        for approval in self._store.all(APPROVALS):
            if not is_deleting(approval):
                ways = {"Approve": 7.0, "Retry": 2.0, "Reject": 1.0}
                if approval["spec"]["subject"]["kind"] == "Plan":
                    del ways["Retry"]
                self._write(approval, self._dice.weighed(ways, key_of(approval).name))
        asyncio.get_running_loop().call_later(LOOKS_SECONDS, self.look)

    def _write(self, approval: Object, decision: str) -> None:
        """What the CRD's rules and the admission policy let through."""
        about = approval["spec"]["subject"]
        if "decision" in approval["spec"] or (decision, about["kind"]) == ("Retry", "Plan"):
            return
        if approval.get("status", {}).get("state", "Pending") != "Pending":
            return
        by = WHO if approval["spec"]["asks"].get("notBy") != WHO else ANOTHER
        body = {"spec": {"decision": decision, "decidedBy": by, "reason": f"{decision} it"}}
        with suppress(ApiError):
            self._store.merge(APPROVALS, key_of(approval), body)
            if decision == APPROVE:
                self.approved.add(_of(approval, by))


def _of(approval: Object, by: str) -> Approved:
    asks = approval["spec"]["asks"]
    return Approved(
        approval["spec"]["subject"]["uid"],
        asks.get("attempt"),
        asks.get("work"),
        asks.get("sha"),
        asks.get("base"),
        asks["digest"],
        asks.get("gate"),
        by,
    )
