"""`bernstein pending`"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from bernstein.api.approvals.approval import REJECT, RETRY, Approval, ApprovalState
from bernstein.api.meta import PLAN_KIND, TASK_KIND
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.checks.changes import digest_of
from bernstein.cli.cluster import Cluster, connected, where
from bernstein.cli.duration import Timeout, seconds_of
from bernstein.cli.options import AllNamespaces
from bernstein.cli.output import details, tables
from bernstein.cli.output.terminal import Terminal, room, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core.approvals.commands import approve
from bernstein.core.projects.protected import protected_paths
from bernstein.core.sanitise import some
from bernstein.core.serializers import approval_record
from bernstein.core.waiting import is_kept_back, is_stalled

_TICK = 1.0
_MOST_TOLD = 5
"""Questions of which a terminal is told more than a row."""
_JUST_NOW_SECONDS = 60.0
"""Longer than it takes from a script's last look at its task to this, whatever clocks say."""


def pending(
    settings: CliSettings,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Do not wait for verdicts that are on their way.")
    ] = False,
    timeout: Timeout = "10m",
    all_namespaces: AllNamespaces = False,
) -> None:
    """Lists what waits for a person to decide.

    Work that is being verified is waited for: a person may have to decide about it. What somebody
    has rejected meanwhile, or a moment before, is listed, too, as such. Nothing is waited for where
    all namespaces are listed: something is always on its way there.
    """
    terminal = Terminal(settings)
    at_most = "0s" if no_wait or all_namespaces else timeout
    run_command(terminal, _pending(terminal, settings, at_most, all_namespaces))


async def _pending(
    terminal: Terminal, settings: CliSettings, at_most: str | None, everywhere: bool
) -> None:
    seconds = seconds_of(at_most) or 0.0
    async with connected(settings) as cluster:
        awaited = await _verdicts(cluster, seconds)
        approvals = await cluster.approvals(everywhere=everywhere)
        tasks = await cluster.tasks(everywhere=everywhere)
        attempts = {task.metadata.uid: task.status.attempt for task in tasks}
        now = datetime.now(UTC)
        listed = [a for a in approvals if is_pending(a) or is_rejected(a, awaited, attempts, now)]
    if terminal.json:
        terminal.answer([where(each, everywhere) | approval_record(each) for each in listed])
        return
    waiting = [approval for approval in listed if is_pending(approval)]
    if waiting:
        name = "NAME --namespace NAMESPACE" if everywhere else "NAME"
        terminal.show(tables.approval_table(waiting, terminal.people, namespaces=everywhere))
        for approval in waiting[: room(terminal.people, _MOST_TOLD)]:
            _tell_words(terminal, approval)
        for words in _looks(waiting, name):
            terminal.advise(words)
        for words in (*_commands(waiting, name), *_only(waiting, approvals)):
            terminal.advise(words)
    else:
        place = "any namespace" if everywhere else f"namespace '{cluster.namespace}'"
        terminal.say(f"Nothing waits for a decision in {place}.")
    for each in listed:
        if each not in waiting:
            about = each.spec.subject
            what = "sent back" if each.spec.decision == RETRY else "rejected"
            terminal.say(f"{about.kind} '{about.name}' was {what} just now")


def _tell_words(terminal: Terminal, approval: Approval) -> None:
    """Tells the beginning of what the verdicts say that this is about."""
    shown, about = approval.status.shown, approval.spec.subject
    if shown is not None and shown.excerpt:
        terminal.say(f"  of {about.kind.lower()} {about.name}:")
        details.tell_words(terminal, shown.excerpt, details.FIRST_ROWS)


def _looks(waiting: Sequence[Approval], name: str) -> Iterator[str]:
    """How to see what is asked about: only work of Tasks has a difference."""
    kinds = {approval.spec.subject.kind for approval in waiting}
    if TASK_KIND in kinds:
        yield f"see what a task has changed with `bernstein diff {name}`"
    if PLAN_KIND in kinds:
        told = "with its descriptions and commands"
        yield f"see what a Plan is to do, {told}, with `bernstein plan show plan/{name}`"


def _commands(waiting: Sequence[Approval], name: str) -> Iterator[str]:
    """How to decide; of a gate with a reason."""
    yield f"decide with `{approve(name, None)}` or `bernstein reject {name}`"
    asks = next((a.spec.asks for a in waiting if a.spec.asks.gate is not None), None)
    if asks is not None:
        yield f"to let work go on without a gate, say why: `{approve(name, asks)}`"


def _only(waiting: Sequence[Approval], every: Sequence[Approval]) -> Iterator[str]:
    """How to decide about nothing but what is shown: something else may be asked by then. It must
    be said of what is asked after a decision: the same once more could be meant."""
    names = some((approval.metadata.name for approval in waiting), len(waiting))
    sha = "--sha COMMIT or " if any(a.spec.asks.sha is not None for a in waiting) else ""
    yield f"and to decide only about what is shown here, add {sha}--approval: {names}"
    decided = {a.spec.subject.uid for a in every if a.spec.decision is not None}
    again = [a.metadata.name for a in waiting if a.spec.subject.uid in decided]
    if again:
        which = some(again, len(again))
        yield f"asked again after a decision, so that --approval must be given: {which}"


def is_pending(approval: Approval) -> bool:
    """Whether a person has yet to decide; one that the operator has not looked at yet, too."""
    undecided = approval.spec.decision is None
    return undecided and approval.status.state in (None, ApprovalState.PENDING)


def is_rejected(
    approval: Approval,
    awaited: Mapping[str, Collection[str]],
    attempts: Mapping[str, int],
    now: datetime,
) -> bool:
    """Whether work was rejected while it was waited for, or so shortly before that whoever asks may
    not know: he would take it for approved, or for merged without him.

    `awaited`: as `_verdicts` tells. `attempts`: of every Task, by its uid; what was sent back of an
    attempt before says nothing about the work that there is now.
    """
    spec, status, uid = approval.spec, approval.status, approval.spec.subject.uid
    no = spec.decision in (REJECT, RETRY) or status.state is ApprovalState.EXPIRED
    if not no or status.state is ApprovalState.VOID:
        return False
    if spec.asks.attempt is not None and spec.asks.attempt < attempts.get(uid, 0):
        return False
    if uid in awaited:
        return approval.metadata.name not in awaited[uid]
    ended = status.ended_at
    return ended is None or (now - ended).total_seconds() < _JUST_NOW_SECONDS


Awaited = dict[str, frozenset[str]]
"""By the uid of a Task: the Approvals that were over when it was first seen to be verified. They
are about something else, and no clock has to say so."""


async def _verdicts(cluster: Cluster, seconds: float) -> Awaited:
    """Waits until no verdict is on its way about which a person may have to decide; returns the
    Tasks that were waited for."""
    end = asyncio.get_running_loop().time() + seconds
    awaited: Awaited = {}
    while True:
        left = end - asyncio.get_running_loop().time()
        verifying = await _verifying(cluster) if left > 0 else {}
        if not verifying:
            return awaited
        awaited = verifying | awaited
        await asyncio.sleep(min(_TICK, left))


async def _verifying(cluster: Cluster) -> Awaited:
    """The Tasks whose work is being judged, or about to be asked about, where people are asked at
    all."""
    projects = await cluster.projects()
    policies = [project.spec.approval for project in projects]
    policies += [p.spec.approval for p in await cluster.plans() if p.spec.approval is not None]
    of_all = any(policy.result != "Never" for policy in policies)
    of_all = of_all or any(project.spec.gates.allow_bypass for project in projects)
    lists = {digest_of(protected_paths(project.spec)) for project in projects}
    # Before the Tasks: what somebody decides in between is news.
    approvals = await cluster.approvals()
    tasks = [t for t in await cluster.tasks() if of_all or not touches_none(t, lists)]
    known = {approval.metadata.name for approval in approvals}
    over = frozenset(a.metadata.name for a in approvals if a.status.ended_at is not None)
    return {t.metadata.uid: over for t in tasks if _may_be_asked(t, known)}


def touches_none(task: Task, lists: Collection[str]) -> bool:
    """Whether its work changes no protected path, by one of these lists."""
    judged = task.status.verification
    if judged is None:
        return False
    return judged.protected is None and judged.protected_by in lists


def _may_be_asked(task: Task, known: set[str]) -> bool:
    status, asked = task.status, task.status.approval
    if status.state is TaskState.PENDING_APPROVAL:
        return asked is not None and asked.name not in known and not is_stalled(status)
    judged = status.verification
    undecided = judged is None or judged.passed is None
    return status.state is TaskState.DONE and undecided and not is_kept_back(status)
