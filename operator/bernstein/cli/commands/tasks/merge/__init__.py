"""`bernstein merge`"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import typer

from bernstein.api.plan import Plan
from bernstein.api.requests import REMERGE
from bernstein.api.task import Task
from bernstein.cli import requests
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.commands.tasks.merge import standing
from bernstein.cli.commands.tasks.merge.standing import End
from bernstein.cli.duration import Timeout, seconds_of
from bernstein.cli.errors import FAILED, INTERRUPTED, CliError
from bernstein.cli.live import PlansAndTasks
from bernstein.cli.naming import called, find, resource_of
from bernstein.cli.output import asked
from bernstein.cli.output.terminal import Terminal, run_async
from bernstein.cli.settings import CliSettings
from bernstein.core import owners
from bernstein.core.requests import answer_for
from bernstein.core.sanitise import some
from bernstein.kube.errors import Forbidden, Invalid

_TICK = 1.0
_REASON = "Merged by user"


def merge(
    settings: CliSettings,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TASK_OR_PLAN]...", help="Only these; or task/NAME, plan/NAME."),
    ] = None,
    timeout: Timeout = None,
) -> None:
    """Waits until what is done is merged, and says what is not.

    What is verified is merged by itself; a merge that has failed is tried again. Ends with 1 where
    a task that was done, or a Plan whose tasks all are closed, is not merged; without a name also
    where a task that you added has just ended otherwise.
    """
    terminal = Terminal(settings)
    try:
        code = run_async(terminal, _merge(terminal, names or [], timeout))
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(code)


async def _merge(terminal: Terminal, names: Sequence[str], at_most: str | None) -> int:
    seconds = seconds_of(at_most)
    async with connected(terminal.settings) as cluster:
        named = [await find(cluster, name) for name in names]
        await cluster.tasks()  # says what is wrong, where a watch would try for ever
        merging, told = _Merging(cluster, named), partial(_tell_end, terminal)
        try:
            async with asyncio.timeout(seconds), merging.here.running():
                await merging.begin(cluster)
                for words in merging.proposed():
                    terminal.say(words, "dim")
                await merging.over(told)
        except TimeoutError:
            merging.settle(told, late=True, over=True)
            return _tell(terminal, cluster, merging, late=bool(merging.waiting) or not merging.ends)
    return _tell(terminal, cluster, merging, late=False)


class _Merging:
    """What is waited for, and what has become of it."""

    def __init__(self, cluster: Cluster, named: Sequence[Plan | Task]) -> None:
        self.ends: dict[str, End] = {}
        """By uid."""
        self.waiting: dict[str, Plan | Task] = {each.metadata.uid: each for each in named}
        """By uid."""
        self._named = named
        self._namespace = cluster.namespace
        self._asked: dict[str, str] = {}
        """By uid: the request that its merge be tried again."""
        self.here = PlansAndTasks(cluster)

    def named(self) -> list[str]:
        """What was named in the call, as it can be named again."""
        return [f"{resource_of(each).kind.lower()}/{each.metadata.name}" for each in self._named]

    def awaited(self) -> str:
        """What is still waited for, and what keeps it from being seen; before the first look at the
        namespace nobody knows what is to be merged there."""
        waiting = [called(each) for each in self.waiting.values()]
        unseen = f"what is done in namespace '{self._namespace}', which was not listed yet"
        trouble = self.here.bell.trouble()
        return "; ".join(filter(None, (some(waiting, len(waiting)) or unseen, trouble)))

    def proposed(self) -> list[str]:
        """What is waited for that people have to merge: it may take days."""
        found = [each for each in self.unsettled() if each.metadata.uid in self.waiting]
        told = ((called(each), standing.waits_for_people(each)) for each in found)
        return [f"… {what}: {words}; --timeout ends the wait" for what, words in told if words]

    def unsettled(self) -> list[Plan | Task]:
        """What is still waited for as it is now, with the Tasks of Plans."""
        found = [self.here.current(each) for each in self.waiting.values()]
        of_plans = [t for t in self.here.all_tasks() if owners.plan_uid(t) in self.waiting]
        return [*(each for each in found if each is not None), *of_plans]

    async def over(self, tell: Callable[[End], None]) -> None:
        """Returns once nothing is waited for; tells every end as it is seen."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        while True:
            self.settle(tell, late=clock() - begun >= requests.ANSWER_SECONDS)
            if not self.waiting:
                return
            await self.here.bell.changed(_TICK)

    def settle(self, tell: Callable[[End], None], *, late: bool, over: bool = False) -> None:
        """Takes what has ended from what is waited for. Nothing has, as long as nothing is known.

        `late`: the operator had time to answer, and to see what somebody has decided just before,
        or nobody waits for that any more. `over`: nobody waits for anything any more.
        """
        if not self.here.known():
            return
        for uid, end in self._look(late=late, over=over):
            self.ends[uid] = end
            self.waiting.pop(uid, None)
            tell(end)

    async def begin(self, cluster: Cluster) -> None:
        """Takes what was named; without a name all that is done, or due, and what the user has just
        lost. A merge that has failed is asked for again, by who may."""
        taken: list[Plan | Task] = list(self._named)
        if not taken:
            tasks = self.here.all_tasks()
            taken += [task for task in tasks if standing.is_deliverable(task)]
            taken += [plan for plan in self.here.all_plans() if standing.is_due(plan, tasks)]
            taken += await _lost(cluster, tasks)
        self.waiting = {each.metadata.uid: each for each in taken}
        for uid, subject in self.waiting.items():
            now = self.here.current(subject)
            if now is not None and standing.has_failed(now):
                # CRDs that are older than this know the verb of Tasks alone.
                with suppress(Forbidden, Invalid, requests.UnknownUserError):
                    self._asked[uid] = await requests.ask(cluster, now, REMERGE, _REASON)

    def _is_heard(self, subject: Task | Plan) -> bool:
        """What was asked of it has its answer, if anything was."""
        request = self._asked.get(subject.metadata.uid)
        return request is None or answer_for(request, subject.status.requests) is not None

    def _look(self, *, late: bool, over: bool) -> list[tuple[str, End]]:
        """What has ended since the last look. A Plan whose last Task is merged is waited for, too:
        only it brings the work to the branch. `late`, `over`: see `settle`."""
        tasks, plans = self.here.all_tasks(), self.here.all_plans()
        ends = []
        for task in tasks:
            uid = task.metadata.uid
            heard = uid in self.waiting and (late or self._is_heard(task))
            end = standing.of_task(task, decided=late, over=over) if heard else None
            if end is not None:
                ends.append((uid, end))
                if end.good:
                    self._follow_plan(task, plans, tasks)
        for plan in plans:
            waits = plan.metadata.uid in self.waiting and (late or self._is_heard(plan))
            end = standing.of_plan(plan, tasks, over=over) if waits else None
            if end is not None:
                ends.append((plan.metadata.uid, end))
        gone = [(uid, s) for uid, s in self.waiting.items() if self.here.current(s) is None]
        return [*ends, *((uid, standing.deleted(subject)) for uid, subject in gone)]

    def _follow_plan(self, task: Task, plans: Sequence[Plan], tasks: Sequence[Task]) -> None:
        uid = owners.plan_uid(task)
        plan = next((p for p in plans if p.metadata.uid == uid), None)
        if plan is None or uid in self.ends:
            return
        if plan.status.ended_at is not None or standing.is_due(plan, tasks):
            self.waiting[plan.metadata.uid] = plan


async def _lost(cluster: Cluster, tasks: Iterable[Task]) -> list[Task]:
    """What the user has added himself, and what will not be merged: not known else to a script
    whose Task was cancelled or failed while it waited."""
    now = datetime.now(UTC)
    lost = [task for task in tasks if standing.is_lost(task, now)]
    if not lost:
        return []
    try:
        user = await requests.user_name(cluster)
    except requests.UnknownUserError:
        user = None  # then `add-task` could not write an author either
    return [task for task in lost if task.spec.author == user]


def _tell_end(terminal: Terminal, end: End) -> None:
    if end.good:
        terminal.say(f"✓ {end.subject}: {end.message}", "green")
        return
    terminal.say(f"✗ {end.subject} is not merged: {end.reason}: {end.message}", "red")
    if end.remedy:
        terminal.advise(end.remedy)


def _tell(terminal: Terminal, cluster: Cluster, merging: _Merging, *, late: bool) -> int:
    """What came of it, and the exit code. Raises CliError where the time was too short."""
    ends = merging.ends.values()
    bad = [end for end in ends if not end.good]
    if late:
        text = f"not merged in time: {merging.awaited()}"
        again = " ".join(["bernstein merge", *merging.named()])
        state = asked.or_goes_on(merging.unsettled())
        raise CliError("TimedOut", text, f"{state}; ask again with `{again}`")
    if terminal.json:
        merged = [end.id for end in ends if end.good]
        terminal.answer({"merged": merged, "failed": [end.record() for end in bad]})
    if not ends:
        terminal.say(f"Nothing to merge: nothing is done in namespace '{cluster.namespace}'.")
    return FAILED if bad else 0
