"""`bernstein cancel`"""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli.cluster import PLANS, TASKS, Cluster, connected
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.follow import is_over
from bernstein.cli.settings import Settings
from bernstein.cli.terminal import Terminal, run_command
from bernstein.core.fsm import is_final
from bernstein.core.records import Record, plan_record, task_record, task_status
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import Resource

_LONGEST_REASON = 1024


@dataclass(frozen=True)
class _Found:
    """A Task or a Plan, and whether there is still something to cancel."""

    resource: Resource
    name: str
    cancelled: bool
    ended: bool
    state: str
    record: Record


def cancel(settings: Settings, name: str, reason: str) -> None:
    """Asks a Task or a whole Plan to stop; asking again changes nothing."""
    terminal = Terminal(settings)
    run_command(terminal, _cancel(terminal, settings, name, reason))


async def _cancel(terminal: Terminal, settings: Settings, name: str, reason: str) -> None:
    if not 1 <= len(reason.strip()) <= _LONGEST_REASON:
        message = f"a reason has 1 to {_LONGEST_REASON} characters"
        raise CliError("InvalidReason", message, "say why with --reason", INVALID)
    async with connected(settings) as cluster:
        found = await _find(cluster, name)
        asked = False
        if not found.cancelled and not found.ended:
            asked = await _ask(cluster, found, reason)
            found = await _find(cluster, f"{found.resource.kind.lower()}/{found.name}")
        if terminal.json:
            terminal.answer(found.record)
            return
        what = f"{found.resource.kind} '{found.name}'"
        if asked:
            terminal.say(f"{what} is being cancelled: its agents get time to save their work")
        elif found.ended:
            terminal.say(f"{what} has ended already ({found.state}): nothing changed")
        else:
            terminal.say(f"{what} is being cancelled already ({found.state}): nothing changed")


async def _ask(cluster: Cluster, found: _Found, reason: str) -> bool:
    """False when somebody else was faster."""
    body = {"spec": {"cancel": {"reason": reason.strip()}}}
    try:
        await cluster.client.patch(found.resource, found.name, cluster.namespace, body)
    except Invalid as error:
        if _is_cancelled(error):
            return False
        raise
    return True


def _is_cancelled(refusal: Invalid) -> bool:
    """Whether the object has a `spec.cancel`: that stays as it is."""
    return any(
        (cause.get("field"), cause.get("reason")) == ("spec.cancel", "FieldValueForbidden")
        for cause in refusal.details.get("causes") or ()
    )


async def _find(cluster: Cluster, name: str) -> _Found:
    """`task/NAME`, `plan/NAME`, or a name that only one of them has."""
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
    if plan is not None:
        return _found_plan(plan)
    if task is not None:
        return _found_task(task)
    wanted = {"plan": (PLANS,), "task": (TASKS,)}.get(kind if slash else "", (TASKS, PLANS))
    raise await cluster.not_found(bare, *wanted)


def _found_plan(plan: Plan) -> _Found:
    return _Found(
        PLANS,
        plan.metadata.name,
        cancelled=plan.spec.cancel is not None,
        ended=is_over(plan) and plan.status.ended_at is not None,
        state=plan.status.phase or "Pending",
        record=plan_record(plan),
    )


def _found_task(task: Task) -> _Found:
    return _Found(
        TASKS,
        task.metadata.name,
        cancelled=task.spec.cancel is not None,
        ended=is_final(task.status, task.spec.max_retries),
        state=task_status(task),
        record=task_record(task),
    )
