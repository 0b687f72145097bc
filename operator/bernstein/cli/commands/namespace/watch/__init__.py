"""`bernstein watch`"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import typer

from bernstein.api import plan as plans
from bernstein.api import task as tasks
from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.commands.namespace.watch import events
from bernstein.cli.commands.namespace.watch.events import Event
from bernstein.cli.duration import Timeout, seconds_of
from bernstein.cli.errors import FAILED, INTERRUPTED, CliError, takes_no_name
from bernstein.cli.follow import succeeded
from bernstein.cli.live import PlansAndTasks
from bernstein.cli.naming import called, find
from bernstein.cli.options import AllNamespaces
from bernstein.cli.output import asked, details, views
from bernstein.cli.output.terminal import Terminal, run_async
from bernstein.cli.settings import CliSettings
from bernstein.core import owners
from bernstein.core.fsm import is_final
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Object

_TICK = 1.0
_LAST = 5.0
"""Seconds for what was seen last."""


def watch(
    settings: CliSettings,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[TASK_OR_PLAN]", help="Until this has ended; or task/NAME, plan/NAME."
        ),
    ] = None,
    all_namespaces: AllNamespaces = False,
    timeout: Timeout = None,
) -> None:
    """Tells what happens to Tasks and Plans, one line for each event.

    Without a name it tells what happens from now on, until it is interrupted. With one it begins
    with what is known, and ends with 0 when that has ended well, with 1 when it has not.
    """
    terminal = Terminal(settings)
    try:
        code = run_async(terminal, _watch(terminal, name, timeout, everywhere=all_namespaces))
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(code)


async def _watch(
    terminal: Terminal, name: str | None, at_most: str | None, *, everywhere: bool
) -> int:
    if everywhere and name is not None:
        raise takes_no_name("a Task or Plan")
    seconds = seconds_of(at_most)
    async with connected(terminal.settings) as cluster:
        subject = None if name is None else await find(cluster, name)
        await cluster.tasks(
            everywhere=everywhere
        )  # says what is wrong, where a watch would try for ever
        watching = _Watching(terminal, cluster, subject, everywhere=everywhere)
        try:
            async with asyncio.timeout(seconds), watching.here.running():
                return await watching.over()
        except TimeoutError:
            if subject is None:
                return 0
            text = f"{called(subject)} has not ended after {at_most}"
            state = asked.or_goes_on(watching.concerned())
            raise CliError("TimedOut", text, f"{state}; watch it again") from None


@dataclass(frozen=True)
class _Change:
    """An object that became another one, in the order in which that was seen."""

    of_plan: bool
    old: Object | None
    new: Object | None
    first: bool
    """It was there when the watch began."""


class _Watching:
    """One call of `bernstein watch`."""

    def __init__(
        self, terminal: Terminal, cluster: Cluster, subject: Plan | Task | None, *, everywhere: bool
    ) -> None:
        self._terminal = terminal
        self._subject = subject
        self._everywhere = everywhere
        self.here = PlansAndTasks(cluster, everywhere=everywhere)
        self._changes: list[_Change] = []
        for informer in (self.here.plans, self.here.tasks):
            informer.add_handler(partial(self._note, informer))
        self._trouble = ""

    def _note(self, informer: Informer, old: Object | None, new: Object | None) -> None:
        of_plan = informer is self.here.plans
        self._changes.append(_Change(of_plan, old, new, first=not informer.has_synced))

    async def over(self) -> int:
        """The exit code, once the subject has ended; without one it never is."""
        while True:
            self._tell_changes()
            self._tell_trouble()
            code = self._code()
            if code is not None:
                await self._tell_the_last()
                if code != 0 and not self._terminal.json:
                    self._tell_what_helps()
                return code
            await self.here.bell.changed(_TICK)

    def _tell_changes(self) -> None:
        """In the order in which they were seen; what was there before, by time."""
        changes, self._changes = self._changes, []
        told = [self._placed(change, event) for change in changes for event in self._events(change)]
        if any(change.first for change in changes):
            told.sort(key=lambda event: event.time)
        for event in told:
            if self._terminal.json:
                self._terminal.stream(event.document())
            else:
                views.say(self._terminal, event.time, event.message)

    def _placed(self, change: _Change, event: Event) -> Event:
        """With the namespace, where more than one is watched."""
        obj = change.new or change.old
        if not self._everywhere or obj is None:
            return event
        return event.of_namespace(obj["metadata"]["namespace"])

    async def _tell_the_last(self) -> None:
        """The watch of a Plan may be ahead of that of its Tasks."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST):
                await self.here.tasks.catch_up()
        self._tell_changes()

    def _tell_what_helps(self) -> None:
        """Of a Task that has failed for good; a Plan's own line says it."""
        now = self.here.current(self._subject) if self._subject is not None else None
        if isinstance(now, Task):
            details.tell_stalled(self._terminal, now)

    def _events(self, change: _Change) -> Iterator[Event]:
        now = datetime.now(UTC)
        if change.first and self._subject is None:
            return
        if change.of_plan:
            old, new = (None if o is None else plans.parse(o) for o in (change.old, change.new))
            if self._concerns_plan(new or old):
                yield from events.of_plan(old, new, now)
            return
        before, after = (None if o is None else tasks.parse(o) for o in (change.old, change.new))
        if self._concerns_task(after or before):
            plan = self.here.plan_of(after) if after is not None else None
            for event in events.of_task(before, after, now, plan):
                waits = event.record["event"] == "task_waiting"
                if not (waits and self._has_ended(after)):
                    yield event

    def _concerns_plan(self, plan: Plan | None) -> bool:
        subject = self._subject
        return plan is not None and (subject is None or plan.metadata.uid == subject.metadata.uid)

    def _concerns_task(self, task: Task | None) -> bool:
        subject = self._subject
        if task is None or subject is None:
            return task is not None
        return subject.metadata.uid in (task.metadata.uid, owners.plan_uid(task))

    def _has_ended(self, task: Task | None) -> bool:
        """Whether the Plan of the Task has: nothing of it waits any more."""
        plan = self.here.plan_of(task) if task is not None else None
        return plan is not None and plan.status.ended_at is not None

    def concerned(self) -> list[Plan | Task]:
        """The subject as it is now, and its Tasks."""
        plans = [plan for plan in self.here.all_plans() if self._concerns_plan(plan)]
        return [*plans, *(task for task in self.here.all_tasks() if self._concerns_task(task))]

    def _tell_trouble(self) -> None:
        trouble = self.here.bell.trouble()
        if trouble and trouble != self._trouble:
            self._terminal.complain(trouble, "yellow")
        self._trouble = trouble

    def _code(self) -> int | None:
        """The exit code where the subject has ended. Raises CliError where it was deleted."""
        if self._subject is None:
            return None
        now = self.here.current(self._subject)
        if now is None:
            raise CliError("NotFound", f"{called(self._subject)} was deleted")
        return _exit_code(now)


def _exit_code(subject: Plan | Task) -> int | None:
    """None: it has not ended."""
    if isinstance(subject, Plan):
        return None if subject.status.ended_at is None else 0 if succeeded(subject) else FAILED
    if not is_final(subject.status, subject.spec.max_retries):
        return None
    return 0 if subject.status.state is TaskState.CLOSED else FAILED
