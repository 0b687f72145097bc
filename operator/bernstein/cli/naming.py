"""What a word on the command line names: a Plan or a Task."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster, no_name
from bernstein.cli.errors import INVALID, CliError
from bernstein.core.names import NAME_LIMIT
from bernstein.kube.resource import Resource
from bernstein.resources import PLANS, TASKS

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")

Subject = Annotated[
    str, typer.Argument(metavar="TASK_OR_PLAN", help="Name; or task/NAME, plan/NAME.")
]
"""An argument that `find` understands."""


def check_new_name(name: str, kind: str) -> None:
    """Raises CliError for a name that a new Plan or Task cannot have."""
    if len(name) > NAME_LIMIT or not _NAME.match(name):
        remedy = f"use at most {NAME_LIMIT} lower-case letters, digits and '-'"
        raise no_name(name, f" for a {kind}", remedy)


async def find(cluster: Cluster, name: str) -> Plan | Task:
    """What `task/NAME`, `plan/NAME`, or a NAME alone stands for.

    Raises CliError where there is nothing of that name, or both a Plan and a Task.
    """
    kind, slash, rest = name.partition("/")
    bare = rest if slash else name
    if slash and kind not in ("task", "plan"):
        raise CliError(
            "InvalidName", f"'{name}' is no name", "write task/NAME or plan/NAME", INVALID
        )
    plan = await cluster.find_plan(bare) if not slash or kind == "plan" else None
    task = await cluster.find_task(bare) if not slash or kind == "task" else None
    if plan is not None and task is not None:
        raise CliError(
            "Ambiguous",
            f"there are a Plan and a Task '{bare}'",
            f"write plan/{bare} or task/{bare}",
            INVALID,
        )
    found = plan or task
    if found is not None:
        return found
    kinds = {"plan": (PLANS,), "task": (TASKS,)}.get(kind if slash else "", (TASKS, PLANS))
    raise await cluster.not_found(bare, *kinds)


def resource_of(subject: Plan | Task) -> Resource:
    return PLANS if isinstance(subject, Plan) else TASKS


def called(subject: Plan | Task) -> str:
    """Kind and name, as people call it."""
    return f"{resource_of(subject).kind} '{subject.metadata.name}'"
