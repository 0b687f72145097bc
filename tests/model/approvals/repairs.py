"""When people are asked, each taken out again: without it the model finds a fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.project import ProjectSpec
from bernstein.core.approvals import policy


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


QUESTIONS = (known_risks, policies_of_plans, protected_lists)
