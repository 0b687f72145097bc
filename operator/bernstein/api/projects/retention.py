"""How long what has ended is kept."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import Model

AgentLogs = Literal["Never", "Failed", "Always"]
"""Of which attempts is kept what the agent logged."""


class Retention(Model):
    """How long what has ended is kept."""

    pods_seconds: Annotated[int, Field(ge=300, le=604800)] = Field(
        default=900,
        description="Seconds that finished Jobs stay with their pods, for people who read logs. "
        "Jobs of checks stay until those beside them have ended, too; what failed checks printed "
        "is kept with the Task.",
    )
    agent_logs: AgentLogs = Field(
        default="Failed",
        description="Of which attempts the end of what the agent logged is kept with the "
        "AgentSession, without what looks like a secret. Failed: those that failed or whose work "
        "was rejected.",
    )
    tasks_seconds: Annotated[int, Field(ge=0, le=315360000)] = Field(
        default=604800,
        description="Seconds from the end of a Task without a Plan until it is deleted, with its "
        "sessions and logs. 0: never.",
    )
    refs_seconds: Annotated[int, Field(ge=0, le=315360000)] = Field(
        default=2592000,
        description="Seconds for which refs are kept: of Plans and Tasks that succeeded or were "
        "cancelled, from their end; of deleted ones with work that has not landed, from then. 0: "
        "for ever.",
    )
    unstarted_sessions: Annotated[int, Field(ge=1, le=100)] = Field(
        default=3,
        description="Sessions of a Task that never started an agent and are kept, the newest ones. "
        "The Task tells how many there were.",
    )
