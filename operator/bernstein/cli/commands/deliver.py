"""`bernstein deliver`"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from bernstein.api.delivery import Delivery
from bernstein.api.integration import Integration
from bernstein.api.plan import DELIVERED_PARTIALLY, Plan
from bernstein.api.requests import DELIVER_PARTIAL, Answer
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli import requests
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.follow import follow, succeeded
from bernstein.cli.output import notes
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.output.views import view
from bernstein.cli.settings import CliSettings
from bernstein.cli.suspension import PlanName
from bernstein.core.plans import part
from bernstein.core.requests import unanswered
from bernstein.core.sanitise import count, line, some
from bernstein.core.serializers import plan_record
from bernstein.resources import PLANS

_SECONDS = requests.ANSWER_SECONDS
"""Whether it begins is waited for as long."""
_BY_ITSELF = "A Plan whose Tasks are all Closed is delivered by itself."
_NEXT = {
    "Suspended": "let it go on with `bernstein resume {name}`, then ask again",
    "NothingToDeliver": "see what its Tasks left with `bernstein status {name}`",
    "Cancelled": "ask again once it is Cancelled",
    "PlanEnded": "what is left can be applied as a Plan of another name",
}


def deliver(
    settings: CliSettings,
    name: PlanName,
    partial: Annotated[
        bool, typer.Option("--partial", help="Deliver what is Closed, without the rest.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether to do it.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Stay until it is delivered, or is not.")
    ] = False,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Recorded with it.")
    ] = "Delivered by user",
) -> None:
    """Delivers what is Closed of a Plan that has ended badly, or stands still.

    Its other Tasks end for good. What is Closed is verified as a whole before it lands.
    """
    terminal = Terminal(settings)
    run_command(terminal, _deliver(terminal, name, partial, yes, wait, reason.strip()))


async def _deliver(
    terminal: Terminal, name: str, partial: bool, yes: bool, wait: bool, reason: str
) -> None:
    name = name.removeprefix("plan/")
    requests.check_reason(reason)
    async with connected(terminal.settings) as cluster:
        plan = await _find(cluster, name)
        if not partial:
            _tell_whole(terminal, plan)
            return
        _check(plan)
        if not yes:
            _confirm(terminal, plan)
        known = await cluster.tasks(name) if wait else []
        request = await requests.ask(cluster, plan, DELIVER_PARTIAL, reason)
        plan, answer = await requests.answer_to(
            cluster, plan, request, _SECONDS, lambda found: _has_begun(found, request)
        )
        if wait and answer is None and _has_begun(plan, request):
            plan, answer = await _followed(terminal, cluster, plan, known, request)
    if answer is not None and answer.answer == "Refused":
        raise requests.refused(plan, answer, _NEXT)
    if answer is None and not _has_begun(plan, request):
        raise requests.not_answered(plan)
    if answer is None and wait:
        message, remedy = notes.ending(plan)
        raise CliError("StandsStill", f"Plan '{name}' is not delivered yet: {message}", remedy)
    _tell(terminal, plan, answer)


def _tell_whole(terminal: Terminal, plan: Plan) -> None:
    """Says of a Plan that was delivered as a whole what has landed where. Raises CliError for any
    other: whoever wants a part of it has to say so, where he can have it."""
    name, status = plan.metadata.name, plan.status
    if not succeeded(plan):
        if status.ended_at is not None and status.phase == DELIVERED_PARTIALLY:
            _check(plan)
        again = terminal.settings.command_line("deliver", name, "--partial")
        raise CliError("NotPartial", _BY_ITSELF, f"deliver what is Closed of it: {again}", INVALID)
    if terminal.json:
        terminal.answer(plan_record(plan))
        return
    for row in status.repositories:
        its = _whole(row.delivery, row.integration)
        terminal.say(f"Plan '{name}' has Succeeded in '{row.name}': {its}")
    if not status.repositories:
        terminal.say(f"Plan '{name}' has Succeeded: {_whole(status.delivery, status.integration)}")


def _whole(delivery: Delivery | None, integration: Integration | None) -> str:
    sha = delivery.sha if delivery is not None else None
    to = f" to {integration.target}" if integration is not None else ""
    return f"all of it is delivered{to}, {sha[:12]}" if sha else f"it left nothing to deliver{to}"


async def _find(cluster: Cluster, name: str) -> Plan:
    plan = await cluster.find_plan(name)
    if plan is None:
        raise await cluster.not_found(name, PLANS)
    return plan


def _check(plan: Plan) -> None:
    """Raises CliError where the Plan itself shows that it would be refused. What was asked for
    before has its own answer."""
    asked = unanswered(plan.spec.requests, plan.status.requests)
    why = part.shown_why_not(plan)
    if why is not None and all(request.verb != DELIVER_PARTIAL for request in asked):
        raise requests.refusal(plan, DELIVER_PARTIAL, *why, _NEXT)


def _confirm(terminal: Terminal, plan: Plan) -> None:
    """Shows what is delivered and what is not, and asks. Raises CliError where the answer is no."""
    rows = plan.status.tasks
    left = [row.name for row in rows if row.state != TaskState.CLOSED]
    target = plan.status.integration.target if plan.status.integration is not None else "its branch"
    closed = count(len(rows) - len(left), "Task")
    terminal.complain(f"Plan '{plan.metadata.name}': {closed} of {len(rows)} closed, to {target}.")
    if left:
        terminal.complain(f"Not delivered, and ended for good: {some(left, len(left))}.")
    if not sys.stdin.isatty():
        text = "nobody is at the terminal to say yes"
        raise CliError("NotConfirmed", text, "say so with --yes", INVALID)
    if not typer.confirm("Deliver it without them?", err=True):
        raise CliError("NotConfirmed", "nothing was asked for", "", INVALID)


def _has_begun(plan: Plan, request: str) -> bool:
    return plan.status.partial is not None and plan.status.partial.request == request


async def _followed(
    terminal: Terminal, cluster: Cluster, plan: Plan, known: Sequence[Task], request: str
) -> tuple[Plan, Answer | None]:
    """The Plan once it has ended again, or needs a person; None: it stands still, unanswered.
    `known`: its Tasks before it was asked for."""
    with view(terminal, known) as shown:
        scene = await follow(cluster, plan, shown)
    # A verdict stands in the status a moment before the request is refused for it.
    return await requests.answer_to(cluster, scene.plan, request, _SECONDS)


def _tell(terminal: Terminal, plan: Plan, answer: Answer | None) -> None:
    """`answer`; None: it has begun."""
    name = plan.metadata.name
    if terminal.json:
        terminal.answer(plan_record(plan))
    elif answer is not None:
        sha = plan.status.delivery.sha if plan.status.delivery is not None else None
        terminal.say(f"Plan '{name}': {line(answer.message, 500)}{f', {sha[:12]}' if sha else ''}")
    else:
        terminal.say(f"Plan '{name}': what is Closed is verified as a whole, then delivered")
        terminal.quote(f"  see it:  {terminal.settings.command_line('status', name)}")
