"""`bernstein status`"""

from __future__ import annotations

from bernstein.cli import details, notes, tables
from bernstein.cli.cluster import PLANS, Cluster, connected
from bernstein.cli.follow import is_over, succeeded
from bernstein.cli.settings import Settings
from bernstein.cli.terminal import Terminal, run_command
from bernstein.core.records import plan_record


def status(settings: Settings, name: str | None) -> None:
    """One Plan with its steps, or all Plans of the namespace."""
    terminal = Terminal(settings)
    run_command(terminal, _status(terminal, settings, name))


async def _status(terminal: Terminal, settings: Settings, name: str | None) -> None:
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
    if is_over(plan):
        details.tell_ending(terminal, plan, tasks, good=succeeded(plan))
        return
    for words in notes.ending(plan):
        if words:
            terminal.say(words)
    details.tell_tasks(terminal, tasks)
