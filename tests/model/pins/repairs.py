"""What is pinned at the start, each taken out again: without it the model finds a fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from unittest.mock import patch

from bernstein.api.project import Price, Project
from bernstein.api.session import AgentSession
from bernstein.core import projects
from bernstein.core.jobs import JobView
from bernstein.core.money import spend
from bernstein.core.money.pricing import price_of
from bernstein.core.verification import round as rounds


@contextmanager
def pinned_prices() -> Iterator[None]:
    """A session costs what its model costs when it is counted."""

    def of_now(session: AgentSession, project: Project | None) -> Price | None:
        return price_of(session.spec.model, project.spec.budget.prices if project else ())

    with patch.object(spend, "price", of_now):
        yield


@contextmanager
def pinned_projects() -> Iterator[None]:
    """The Project of what has begun is the one that has its name."""

    def by_name(_: str, name: str | None, there: Mapping[str, Project]) -> projects.Membership:
        return projects.resolve(name, there)

    with patch.object(projects, "_pinned", by_name):
        yield


@contextmanager
def pinned_policies() -> Iterator[None]:
    """A round goes on under whatever judges now."""
    take = rounds.take

    def unpinned(status: Any, question: Any, jobs: Mapping[str, JobView], now: datetime) -> Any:
        judged = status.verification.model_copy(update={"policy": None})
        status = status.model_copy(update={"verification": judged})
        return take(status, question, jobs, now)

    with patch.object(rounds, "take", unpinned):
        yield


PINS = (pinned_prices, pinned_projects, pinned_policies)
