"""People who change when others are asked, and who stand for work without an author."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from bernstein.api.approvals.policy import PROTECTED_PATHS, ApprovalPolicy
from bernstein.kube.errors import ApiError
from bernstein.kube.resource import Object, is_deleting, key_of
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.model.approvals.approvers import WHO
from tests.model.approvals.risks import Rules
from tests.model.cluster.store import Store
from tests.model.dice import Dice

LOOKS_SECONDS = 30.0
"""Between two looks of those who stand for what waits for that."""


class Policies:
    def __init__(self, store: Store, dice: Dice) -> None:
        self._store = store
        self._dice = dice
        self._since: list[tuple[float, Rules]] = []
        self._allowed: list[tuple[float, bool]] = []
        """Whether gates could be bypassed, and since when."""
        self._looks = False

    def begin(self) -> None:
        """With what the Project says when it is made."""
        project = self._store.all(PROJECTS)[0]
        self._note(project)
        self._note_bypass(project)

    def change(self, event: dict[str, Any]) -> None:
        """Somebody replaces the policy of all Projects; the API server fills in what it lacks."""
        for project in self._store.all(PROJECTS):
            gone = dict.fromkeys(project["spec"].get("approval", {}))
            self._note(
                self._store.merge(
                    PROJECTS, key_of(project), {"spec": {"approval": gone | event["policy"]}}
                )
            )

    def protect(self, event: dict[str, Any]) -> None:
        """Somebody replaces the protected paths of all Projects."""
        for project in self._store.all(PROJECTS):
            body = {"spec": {"protectedPaths": event["paths"]}}
            self._note(self._store.merge(PROJECTS, key_of(project), body))

    def allow_bypass(self, event: dict[str, Any]) -> None:
        """Somebody lets all Projects have gates bypassed, or takes that back."""
        for project in self._store.all(PROJECTS):
            body = {"spec": {"gates": {"allowBypass": event["allow"]}}}
            self._note_bypass(self._store.merge(PROJECTS, key_of(project), body))

    def _note_bypass(self, project: Object) -> None:
        allowed = project["spec"].get("gates", {}).get("allowBypass", False)
        self._allowed.append((self._store.seconds, allowed))

    def allowed_bypass(self, since: float) -> bool:
        """Whether that was allowed at any time since then, in seconds of the store."""
        older = [allowed for at, allowed in self._allowed if at <= since]
        return any([*older[-1:], *(allowed for at, allowed in self._allowed if at > since)])

    def during(self, since: float) -> list[Rules]:
        """All that were in force since then, in seconds of the store."""
        older = [rules for at, rules in self._since if at <= since]
        return [*older[-1:], *(rules for at, rules in self._since if at > since)]

    def _note(self, project: Object) -> None:
        said = project["spec"].get("approval", {})
        policy = ApprovalPolicy.model_validate(said)
        protected = frozenset(project["spec"].get("protectedPaths", PROTECTED_PATHS))
        self._since.append((self._store.seconds, Rules(policy, protected)))
        if policy.approver_is_not_author and not self._looks:
            self._looks = True
            asyncio.get_running_loop().call_later(LOOKS_SECONDS, self._look)

    def _look(self) -> None:
        """Where an author is asked for, somebody stands for what has none; it is taken once."""
        if self._since[-1][1].policy.approver_is_not_author:
            for resource in (PLANS, TASKS):
                for obj in filter(_has_none, self._store.all(resource)):
                    who = self._dice.pick((WHO, "carl"), "stands for", key_of(obj).name)
                    with suppress(ApiError):
                        self._store.merge(resource, key_of(obj), {"spec": {"author": who}})
        asyncio.get_running_loop().call_later(LOOKS_SECONDS, self._look)


def _has_none(obj: Object) -> bool:
    """A Task of a Plan has the Plan's author."""
    of_plan = bool(obj["metadata"].get("ownerReferences"))
    return "author" not in obj["spec"] and not of_plan and not is_deleting(obj)
