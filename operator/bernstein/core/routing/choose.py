"""Which model a Task's next session uses."""

from __future__ import annotations

from bernstein.core.routing.table import ModelRoute, route
from bernstein.core.snapshot import TaskSnapshot


def route_of(snapshot: TaskSnapshot) -> ModelRoute:
    """Model and effort of the Task's next session; project and agent are known to exist."""
    assert snapshot.project is not None
    agent = snapshot.project.spec.agent(snapshot.task.spec.cli)
    assert agent is not None
    return route(snapshot.roles.with_defaults(snapshot.task.spec), agent)
