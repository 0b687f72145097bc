"""When people are asked, each taken out again: without it the model finds a fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from unittest.mock import patch

from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.project import ProjectSpec
from bernstein.api.verification import CheckResult
from bernstein.core.approvals import bypass, policy
from bernstein.core.verification import cached


@contextmanager
def known_risks() -> Iterator[None]:
    """No work is a risk."""

    def none(*_: Any) -> tuple[str, ...]:
        return ()

    with patch.object(policy, "_risks", none), patch.object(policy, "_of_protected_paths", none):
        yield


@contextmanager
def policies_of_plans() -> Iterator[None]:
    """What a Plan asks for beyond its Project has no effect."""

    def of_project(project: ProjectSpec, _: Any) -> ApprovalPolicy:
        return project.approval

    with patch.object(policy, "effective", of_project):
        yield


@contextmanager
def protected_lists() -> Iterator[None]:
    """What was compared with other protected paths than those of now is believed."""
    risks = policy._of_protected_paths

    def of_any(judged: Any, _: str) -> tuple[str, ...]:
        return risks(judged, judged.protected_by)

    with patch.object(policy, "_of_protected_paths", of_any):
        yield


@contextmanager
def bound_bypasses() -> Iterator[None]:
    """Where a person lets a commit go on without a gate, every commit of that tree goes on."""
    without, known = bypass._without, cached._result
    said: dict[tuple[str, datetime | None], CheckResult] = {}

    def heard(result: CheckResult, *args: Any) -> CheckResult:
        told = without(result, *args)
        return said.setdefault((result.name, result.ended_at), told)

    def as_heard(*args: Any) -> CheckResult | None:
        result = known(*args)
        if result is None or (told := said.get((result.name, result.ended_at))) is None:
            return result
        return told.model_copy(update={"cached": True})

    with patch.object(bypass, "_without", heard), patch.object(cached, "_result", as_heard):
        yield


QUESTIONS = (known_risks, policies_of_plans, protected_lists, bound_bypasses)
