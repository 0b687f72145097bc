"""Everything that the schedule of one Project looks at, in tests: the engine tells its Boards what
has changed alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.task import Task
from bernstein.core.scheduling.schedule import Board


@dataclass(frozen=True)
class ProjectSnapshot:
    """Everything that the schedule of one Project looks at."""

    project: Project
    members: Collection[Task]
    """The Project's Tasks that go on."""
    plan_of: Mapping[str, Plan]
    """The Plan of each of them, by the Task's name; none that is being deleted."""
    tasks: Mapping[str, Task]
    """The Tasks of the namespace that go on, by name, with all of Plans that do and all that these
    depend on."""
    sessions: Mapping[str, AgentSession] = field(default_factory=dict)
    """The AgentSessions of the namespace, by name; of Plans that go on all."""
    beginning: Collection[Plan] = ()
    """The Project's Plans that ask for a turn to begin, or have one."""


def new_board(snapshot: ProjectSnapshot) -> Board:
    """A new one, of all objects as they are now."""
    made = Board()
    for session in snapshot.sessions.values():
        made.put_session(None, session)
    own = {task.metadata.name for task in snapshot.members}
    for name, task in snapshot.tasks.items():
        made.put_task(name, task, snapshot.plan_of.get(name), member=name in own)
    return made
