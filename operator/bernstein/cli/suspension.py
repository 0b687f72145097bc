"""Suspends Plans and lets them go on, through `spec.suspend`."""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.api.plan import Plan
from bernstein.api.plan import parse as parse_plan
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core import labels
from bernstein.core.serializers import plan_record
from bernstein.kube.errors import NotFound
from bernstein.kube.resource import Object
from bernstein.resources import PLANS

PlanName = Annotated[str, typer.Argument(metavar="PLAN", help="Name of a Plan; or plan/NAME.")]

_SAID = {
    True: "is suspended: no new session starts, what runs goes on",
    False: "goes on",
}


def ask(settings: CliSettings, name: str, *, suspend: bool) -> None:
    """Sets the field and tells what follows; what is so already is not written again."""
    terminal = Terminal(settings)
    run_command(terminal, _ask(terminal, settings, name.removeprefix("plan/"), suspend))


async def _ask(terminal: Terminal, settings: CliSettings, name: str, suspend: bool) -> None:
    async with connected(settings) as cluster:
        plan = await cluster.find_plan(name)
        if plan is None:
            raise await cluster.not_found(name, PLANS)
        nothing = _nothing_to_do(plan, suspend)
        if not nothing:
            plan = await _set(cluster, plan, suspend, stopped=False)
        if terminal.json:
            terminal.answer(plan_record(plan))
            return
        terminal.say(f"Plan '{name}' {nothing or _SAID[suspend]}")
        if suspend and not nothing:
            terminal.quote(f"  resume it:  {settings.command_line('resume', name)}")


def _nothing_to_do(plan: Plan, suspend: bool) -> str:
    """Why the field is left alone, or ""."""
    if plan.status.ended_at is not None:
        return f"has ended already ({plan.status.phase}): nothing changed"
    if plan.spec.cancel is not None:
        return "is being cancelled: nothing changed"
    if plan.spec.suspend == suspend and not was_stopped(plan):
        state = "is suspended already" if suspend else "is not suspended"
        return f"{state}: nothing changed"
    return ""


def can_change(plan: Plan) -> bool:
    """Whether it has an effect to suspend it, or to resume it."""
    return plan.status.ended_at is None and plan.spec.cancel is None


def was_stopped(plan: Plan) -> bool:
    """It is suspended because `bernstein stop` has done so."""
    return plan.spec.suspend and labels.STOPPED in plan.metadata.annotations


async def change(cluster: Cluster, plan: Plan, *, suspend: bool) -> bool:
    """Suspends one of all Plans, which is noted on it, or resumes it; False: it was deleted."""
    try:
        await _set(cluster, plan, suspend, stopped=suspend)
    except NotFound:
        return False
    return True


async def _set(cluster: Cluster, plan: Plan, suspend: bool, *, stopped: bool) -> Plan:
    body: Object = {"spec": {"suspend": suspend}}
    if stopped or labels.STOPPED in plan.metadata.annotations:
        body["metadata"] = {"annotations": {labels.STOPPED: "true" if stopped else None}}
    name = plan.metadata.name
    return parse_plan(await cluster.client.patch(PLANS, name, cluster.namespace, body))
