"""`bernstein cancel`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from bernstein.api.meta import LONGEST_REASON
from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.api.waiting import BY_USER
from bernstein.cli import kept_work
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.naming import Subject, find
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.requests import UnknownUserError, check_reason, user_name
from bernstein.cli.settings import CliSettings
from bernstein.core.fsm import ACTIVE, is_final
from bernstein.core.serializers import Document, plan_record, task_record, task_status
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import Resource
from bernstein.resources import PLANS, TASKS


@dataclass(frozen=True)
class _Subject:
    """A Task or a Plan, and whether there is still something to cancel."""

    resource: Resource
    name: str
    cancelled: bool
    ended: bool
    at_work: bool
    """An agent of it is."""
    state: str
    record: Document
    left: list[str]
    """How to have the work that it has left."""


def cancel(
    settings: CliSettings,
    name: Subject,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Recorded with it.")
    ] = BY_USER,
) -> None:
    """Cancels a task or a whole Plan; agents get time to save their work."""
    terminal = Terminal(settings)
    run_command(terminal, _cancel(terminal, settings, name, reason))


async def _cancel(terminal: Terminal, settings: CliSettings, name: str, reason: str) -> None:
    check_reason(reason.strip(), LONGEST_REASON)
    async with connected(settings) as cluster:
        subject = await _find(cluster, name)
        kind = subject.resource.kind.lower()
        asked = False
        if not subject.cancelled and not subject.ended:
            asked = await _ask(terminal, cluster, subject, reason)
            subject = await _find(cluster, f"{kind}/{subject.name}")
        if terminal.json:
            terminal.answer(subject.record)
            return
        what = f"{subject.resource.kind} '{subject.name}'"
        if asked:
            after = ": its agents get time to save their work" if subject.at_work else ""
            terminal.say(f"{what} is being cancelled{after}")
            if subject.at_work:
                again = f"`bernstein cancel {kind}/{subject.name}`"
                terminal.advise(f"what they save is kept; where, this says once more: {again}")
        elif subject.ended:
            terminal.say(f"{what} has ended already ({subject.state}): nothing changed")
        else:
            terminal.say(f"{what} is being cancelled already ({subject.state}): nothing changed")
        for words in subject.left:
            terminal.advise(words)


async def _ask(terminal: Terminal, cluster: Cluster, subject: _Subject, reason: str) -> bool:
    """Cancels it, in the user's name where that is told; False when somebody else has done so
    first."""
    cancel = {"reason": reason.strip()}
    try:
        cancel["by"] = await user_name(cluster)
    except UnknownUserError as error:  # that keeps nobody from cancelling
        terminal.complain(f"! {error.message}: it is cancelled without your name", "yellow")
    body = {"spec": {"cancel": cancel}}
    try:
        await cluster.client.patch(subject.resource, subject.name, cluster.namespace, body)
    except Invalid as error:
        if _is_cancelled(error):
            return False
        raise
    return True


def _is_cancelled(refusal: Invalid) -> bool:
    """Whether the patch was refused because the object has a `spec.cancel`, which may not
    change."""
    return any(
        (cause.get("field"), cause.get("reason")) == ("spec.cancel", "FieldValueForbidden")
        for cause in refusal.details.get("causes") or ()
    )


async def _find(cluster: Cluster, name: str) -> _Subject:
    subject = await find(cluster, name)
    if isinstance(subject, Task):
        return _subject_task(subject, await kept_work.of_task(cluster, subject))
    is_cancelled = subject.spec.cancel is not None
    tasks = await cluster.tasks(subject.metadata.name) if is_cancelled else []
    return _subject_plan(subject, await kept_work.of_plan(cluster, subject, tasks))


def _subject_plan(plan: Plan, left: list[str]) -> _Subject:
    return _Subject(
        PLANS,
        plan.metadata.name,
        cancelled=plan.spec.cancel is not None,
        ended=plan.status.ended_at is not None,
        at_work=plan.status.counts.running > 0,
        state=plan.status.phase or "Pending",
        record=plan_record(plan),
        left=left,
    )


def _subject_task(task: Task, left: list[str]) -> _Subject:
    return _Subject(
        TASKS,
        task.metadata.name,
        cancelled=task.spec.cancel is not None,
        ended=is_final(task.status, task.spec.max_retries),
        at_work=task.status.state in ACTIVE,
        state=task_status(task),
        record=task_record(task),
        left=left,
    )
