"""`bernstein status`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.cli import kept_work
from bernstein.cli.cluster import Cluster, connected, where
from bernstein.cli.errors import takes_no_name
from bernstein.cli.options import AllNamespaces
from bernstein.cli.output import details, tables, work
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core import projects
from bernstein.core.sanitise import count
from bernstein.core.serializers import plan_record
from bernstein.core.waiting import is_stalled
from bernstein.kube.errors import Forbidden
from bernstein.resources import PLANS

_ALL = ("plans", "plan")
"""Words that stand for all Plans, unless a Plan is called so."""


def status(
    settings: CliSettings,
    plan: Annotated[
        str | None, typer.Argument(metavar="[PLAN]", help="Name of a Plan; or plan/NAME, plans.")
    ] = None,
    all_namespaces: AllNamespaces = False,
) -> None:
    """Shows all Plans, or one with its steps."""
    terminal = Terminal(settings)
    run_command(terminal, _status(terminal, settings, plan, all_namespaces))


async def _status(
    terminal: Terminal, settings: CliSettings, name: str | None, everywhere: bool
) -> None:
    if everywhere and name not in (None, *_ALL):
        raise takes_no_name("a Plan")
    async with connected(settings) as cluster:
        plan = None if name is None or everywhere else await cluster.find_plan(_bare(name))
        if plan is not None:
            await _one(terminal, cluster, plan)
        elif name is None or name in _ALL:
            await _all(terminal, cluster, everywhere)
        else:
            raise await cluster.not_found(_bare(name), PLANS)


def _bare(name: str) -> str:
    return name.removeprefix("plan/").removeprefix("plans/")


async def _all(terminal: Terminal, cluster: Cluster, everywhere: bool) -> None:
    plans = await cluster.plans(everywhere=everywhere)
    if terminal.json:
        terminal.answer([where(plan, everywhere) | plan_record(plan) for plan in plans])
    elif plans:
        terminal.show(tables.plan_table(plans, terminal.people, namespaces=everywhere))
    else:
        place = "any namespace" if everywhere else f"namespace '{cluster.namespace}'"
        instead = await _instead(cluster, everywhere)
        terminal.say(f"No Plans in {place}{terminal.settings.placed(instead)}")


async def _instead(cluster: Cluster, everywhere: bool) -> str:
    """What there is where there is no Plan."""
    try:
        tasks = await cluster.tasks(everywhere=everywhere)
    except Forbidden:
        return "."
    command = f"`bernstein list-tasks{' -A' if everywhere else ''}`"
    return f"; {command} lists {count(len(tasks), 'Task')}" if tasks else "."


async def _one(terminal: Terminal, cluster: Cluster, plan: Plan) -> None:
    name = plan.metadata.name
    tasks = await cluster.tasks(name)
    if terminal.json:
        terminal.answer(plan_record(plan, tasks))
        return
    terminal.show(tables.headline(plan, tasks))
    if plan.spec.description:
        terminal.show(tables.description(plan.spec.description, terminal.people))
    terminal.say("")
    terminal.show(work.table(plan, tasks, await cluster.progress(name)))
    terminal.say("")
    left = await kept_work.of_plan(cluster, plan, tasks)
    details.tell_standing(terminal, plan, tasks, left)
    project = await _project_ahead(cluster, plan)
    if project is not None:
        details.tell_project(terminal, project)


async def _project_ahead(cluster: Cluster, plan: Plan) -> Project | None:
    """The Project of a Plan that has yet to deliver; None: it is unknown, or what stops the Plan is
    told already."""
    if plan.status.ended_at is not None or is_stalled(plan.status):
        return None
    try:
        return projects.of_plan(plan, projects.named(await cluster.projects())).project
    except Forbidden:
        return None
