"""Which Project an object belongs to, and whether the Project is sound."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from bernstein.api.meta import ConditionType
from bernstein.api.project import Project, ProjectStatus
from bernstein.core import conditions
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.reasons import with_remedy

DEFAULT = "default"


def resolve(ref: str | None, projects: Iterable[Project]) -> Project | str:
    """The Project that an object names, or why there is none, in words.

    An object that names none belongs to the only Project, or to the one called `default`.
    """
    by_name = {p.metadata.name: p for p in projects if p.metadata.deletion_timestamp is None}
    if ref is not None:
        return by_name.get(ref) or f"there is no Project '{ref}' in this namespace"
    if len(by_name) == 1:
        return next(iter(by_name.values()))
    if DEFAULT in by_name:
        return by_name[DEFAULT]
    if not by_name:
        return "there is no Project in this namespace"
    return (
        f"there are {len(by_name)} Projects and none is named '{DEFAULT}': name one in projectRef"
    )


def not_ready(project: Project) -> str | None:
    """Why the Project cannot be used, in plain words; None: it can."""
    ready = conditions.find(project.status.conditions, ConditionType.READY)
    if ready is None or ready.status == "True":
        return None
    return f"Project '{project.metadata.name}' is not ready: {ready.message}"


def decide(
    project: Project, running: int, problem: Diagnosis | None, now: datetime
) -> ProjectStatus:
    """The Project's status; with a problem nothing may be started for it."""
    generation = project.metadata.generation
    credentials = project.spec.repository.credentials
    updated = conditions.put(
        project.status.conditions,
        ConditionType.READY,
        "True" if problem is None else "False",
        "Accepted" if problem is None else problem.reason,
        "Plans of this namespace may use it"
        if problem is None
        else with_remedy(problem.message, problem.reason),
        generation=generation,
        now=now,
    )
    if credentials.work.secret_name == credentials.deliver.secret_name:
        updated = conditions.put(
            updated,
            ConditionType.WORK_CREDENTIAL_TOO_STRONG,
            "True",
            "SameSecret",
            "work and deliver name the same Secret: the pusher beside every agent could deliver. "
            "Give work an account that may push to refs/bernstein/ only.",
            generation=generation,
            now=now,
        )
    else:
        updated = conditions.drop(updated, ConditionType.WORK_CREDENTIAL_TOO_STRONG)
    return project.status.model_copy(
        update={"observed_generation": generation, "conditions": updated, "running": running}
    )
