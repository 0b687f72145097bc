"""`bernstein status`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.output import details, tables
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core.serializers import plan_record
from bernstein.resources import PLANS


def status(
    settings: CliSettings,
    plan: Annotated[str | None, typer.Argument(metavar="[PLAN]", help="Name of a Plan.")] = None,
) -> None:
    """Shows all Plans, or one with its steps."""
    terminal = Terminal(settings)
    run_command(terminal, _status(terminal, settings, plan))


async def _status(terminal: Terminal, settings: CliSettings, name: str | None) -> None:
    async with connected(settings) as cluster:
        if name is None:
            await _all(terminal, cluster)
        else:
            await _one(terminal, cluster, name)


async def _all(terminal: Terminal, cluster: Cluster) -> None:
    plans = await cluster.plans()
    if terminal.json:
        terminal.answer([plan_record(plan) for plan in plans])
    elif plans:
        terminal.show(tables.plan_table(plans))
    else:
        terminal.say(f"No Plans in namespace '{cluster.namespace}'.")


async def _one(terminal: Terminal, cluster: Cluster, name: str) -> None:
    plan = await cluster.find_plan(name)
    if plan is None:
        raise await cluster.not_found(name, PLANS)
    tasks = await cluster.tasks(name)
    if terminal.json:
        terminal.answer(plan_record(plan, tasks))
        return
    terminal.show(tables.headline(plan))
    if plan.spec.description:
        terminal.show(tables.description(plan.spec.description))
    terminal.say("")
    terminal.show(tables.steps_table(plan, tasks, await cluster.progress(name)))
    terminal.say("")
    details.tell_standing(terminal, plan, tasks)
