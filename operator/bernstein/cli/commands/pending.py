"""`bernstein pending`"""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bernstein.api.approvals.approval import Approval, ApprovalState
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.output import tables
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core.serializers import approval_record
from bernstein.core.waiting import is_kept_back

_TICK = 1.0


def pending(
    settings: CliSettings,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Do not wait for verdicts that are on their way.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0, help="Wait no longer.")
    ] = 600.0,
) -> None:
    """Lists what waits for a person to decide.

    Work that is being verified is waited for: a person may have to decide about it.
    """
    terminal = Terminal(settings)
    run_command(terminal, _pending(terminal, settings, 0.0 if no_wait else timeout))


async def _pending(terminal: Terminal, settings: CliSettings, seconds: float) -> None:
    async with connected(settings) as cluster:
        await _verdicts(cluster, seconds)
        found = [a for a in await cluster.approvals() if is_pending(a)]
    if terminal.json:
        terminal.answer([approval_record(approval) for approval in found])
    elif found:
        terminal.show(tables.approval_table(found))
        terminal.advise("decide with `bernstein approve NAME` or `bernstein reject NAME`")
    else:
        terminal.say(f"Nothing waits for a decision in namespace '{cluster.namespace}'.")


def is_pending(approval: Approval) -> bool:
    """Whether a person has yet to decide; one that the operator has not looked at yet, too."""
    undecided = approval.spec.decision is None
    return undecided and approval.status.state in (None, ApprovalState.PENDING)


async def _verdicts(cluster: Cluster, seconds: float) -> None:
    """Waits until no verdict is on its way about which a person may have to decide."""
    end = asyncio.get_running_loop().time() + seconds
    while True:
        left = end - asyncio.get_running_loop().time()
        if left <= 0 or not await _is_verifying(cluster):
            return
        await asyncio.sleep(min(_TICK, left))


async def _is_verifying(cluster: Cluster) -> bool:
    """Whether work is being judged, or an Approval about to be made, where people are asked at
    all."""
    policies = [project.spec.approval for project in await cluster.projects()]
    policies += [p.spec.approval for p in await cluster.plans() if p.spec.approval is not None]
    if all(policy.result == "Never" for policy in policies):
        return False
    known = {approval.metadata.name for approval in await cluster.approvals()}
    return any(_may_be_asked(task, known) for task in await cluster.tasks())


def _may_be_asked(task: Task, known: set[str]) -> bool:
    status, asked = task.status, task.status.approval
    if status.state is TaskState.PENDING_APPROVAL:
        return asked is not None and asked.name not in known
    judged = status.verification
    undecided = judged is None or judged.passed is None
    return status.state is TaskState.DONE and undecided and not is_kept_back(status)
