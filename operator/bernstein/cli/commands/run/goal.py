"""`bernstein run --goal`: a Task whose agent plans, and the Plan that is made of its plan file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bernstein.api import money
from bernstein.api import plan as plans
from bernstein.api import task as tasks
from bernstein.api.meta import is_line
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli import live, project_choice
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.commands.tasks.add_task import creation
from bernstein.cli.duration import seconds_of
from bernstein.cli.errors import FAILED, INVALID, CliError
from bernstein.cli.live import Bell
from bernstein.cli.local import configuration
from bernstein.cli.naming import check_new_name
from bernstein.cli.output import asked, details, notes
from bernstein.cli.output.terminal import Terminal
from bernstein.core import labels, names
from bernstein.core.fsm import is_final
from bernstein.core.outlines.words import summary
from bernstein.core.plans.estimate import estimate
from bernstein.core.roles.known import Roles
from bernstein.core.sanitise import line
from bernstein.core.serializers import plan_record, task_record, task_status
from bernstein.core.tasks.declared import Declared, named, validate_task
from bernstein.core.waiting import is_stalled
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key
from bernstein.resources import PLANS, TASKS

LONGEST = 8192
"""Characters of a goal: as many as a Task's description may have."""
_LONGEST_TITLE = 200
_RETRIES = 1
"""What was wrong with the first plan file is told once."""
_CENTS = 2
"""Digits after the point: a budget is told in whole cents."""
_TICK = 1.0


@dataclass(frozen=True)
class Goal:
    """What is asked for."""

    text: str
    name: str | None
    """Of the Plan."""
    project: str | None
    budget: str | None
    max_agents: int | None
    result: str | None
    """What the policy of the Plan says of results."""
    merge: str | None
    """`pr` or `direct`; a Plan may say the stricter of them alone."""
    wait: bool
    timeout: str | None

    def spec(self) -> dict[str, Any]:
        """Of the Task, without its Project."""
        title = line(self.text, _LONGEST_TITLE)
        approval = {"result": self.result} if self.result is not None else None
        said = {
            "name": self.name,
            "budget": self.budget,
            "maxAgents": self.max_agents,
            "approval": approval,
            "merge": "pr" if self.merge == "pr" else None,
        }
        plan = {field: value for field, value in said.items() if value is not None}
        return {
            "title": f"Plan: {title}",
            "description": self.text,
            "role": "manager",
            "changes": "none",
            "maxRetries": _RETRIES,
            "produces": {"plan": plan},
        }


def checked(goal: Goal) -> Goal:
    """The goal as it is written down. Raises CliError for what can be none."""
    text = goal.text.strip()
    if not text or not line(text, _LONGEST_TITLE) or len(text) > LONGEST:
        message = f"a goal has 1 to {LONGEST:,} characters that are seen"
        raise CliError("InvalidGoal", message, "say in a sentence or two what to reach", INVALID)
    if not all(map(is_line, text.replace("\t", " ").splitlines())):
        message = "the goal has characters that nobody sees"
        raise CliError("InvalidGoal", message, "write it anew, without them", INVALID)
    if goal.name is not None:
        check_new_name(goal.name, "Plan")
    budget = money.parse(goal.budget) if goal.budget is not None else None
    if goal.budget is not None and budget is None:
        message = f"'{goal.budget}' is no sum of US dollars"
        raise CliError("InvalidBudget", message, "write 5, 5.50 or '$5.50'", INVALID)
    if budget is not None and len(budget.partition(".")[2]) > _CENTS:
        message = f"'{goal.budget}' has fractions of a cent"
        raise CliError("InvalidBudget", message, "write 5, 5.50 or '$5.50'", INVALID)
    return Goal(**{**vars(goal), "text": text, "budget": budget})


class GoalRun:
    """One call."""

    def __init__(self, terminal: Terminal, goal: Goal) -> None:
        self._terminal = terminal
        self._settings = terminal.settings
        self._goal = goal
        self._running: str | None = None
        self._feedback = ""
        """What the next attempt is told, as it was shown last."""

    async def run(self) -> int:
        """Its exit code. Raises CliError."""
        seconds, goal = seconds_of(self._goal.timeout), checked(self._goal)
        chosen = project_choice.named(self._settings, goal.project)
        async with connected(self._settings) as cluster:
            project = await project_choice.find(cluster, chosen)
            configuration.tell_gates(self._terminal, project)
            self._judge(goal.spec(), project, await cluster.known_roles())
            if project is not None:
                details.tell_project(self._terminal, project)
            task = await self._made(cluster, goal, chosen)
            self._running = task.metadata.name
            if not goal.wait:
                return self._leave(task)
            task, plan = await self._follow(cluster, task, seconds)
            self._answer(task, plan, await cluster.tasks(plan.metadata.name) if plan else [])
            return self._told(task, plan, project)

    def interrupted(self) -> None:
        """Says, after Ctrl-C, that the Task goes on, and how to see or cancel it."""
        name = self._running
        if name is None:
            self._terminal.complain("Interrupted.")
            return
        self._terminal.complain(f"Interrupted: Task '{name}' goes on in the cluster.", "yellow")
        for what, word in (("see it:", "watch"), ("cancel it:", "cancel")):
            command = self._settings.command_line(word, f"task/{name}")
            self._terminal.complain(f"  {what:<11} {command}")

    def _judge(self, spec: dict[str, Any], project: Project | None, roles: Roles) -> None:
        """What the Project does not offer is refused before anything is made."""
        offered = project.spec if project is not None else None
        found = [each.message for each in validate_task(spec, offered, roles)]
        if found:
            raise CliError("InvalidTask", "; ".join(found), "nothing was made", INVALID)
        by_people = project is not None and project.spec.merge.strategy == "pr"
        if by_people and self._goal.merge == "direct":
            text = "--merge direct: the Project says that people merge pull requests"
            helps = "leave the option out, or ask an administrator for merge.strategy direct"
            raise CliError("MergeStrategy", text, helps, INVALID)

    async def _made(self, cluster: Cluster, goal: Goal, project: str | None) -> Task:
        """The Task as it is in the cluster: the same goal once more shows the one that is there."""
        (wanted,) = named([Declared(goal.spec())], {}, project=project)
        there = await cluster.find_task(wanted.name)
        known = {wanted.name: there} if there is not None else {}
        (added,) = await creation.add(self._terminal, cluster, [wanted], known, project)
        name = added.task.metadata.name
        if added.made:
            self._terminal.say(f"Task '{name}' created in namespace '{cluster.namespace}'")
        else:
            self._terminal.say(f"Task '{name}' unchanged: it has this goal already")
            self._terminal.advise("to have it planned anew, say it in other words, or give --name")
        return added.task

    def _leave(self, task: Task) -> int:
        if self._terminal.json:
            self._answer(task, None, [])
        seen = self._settings.command_line("watch", f"task/{task.metadata.name}")
        self._terminal.quote(f"  see it:  {seen}")
        return 0

    async def _follow(
        self, cluster: Cluster, task: Task, seconds: float | None
    ) -> tuple[Task, Plan | None]:
        """Both once the Plan is looked at by the operator, or the Task needs a person or ended."""
        told = ""
        try:
            async with asyncio.timeout(seconds), _watching(cluster, task) as watch:
                while True:
                    task, plan = watch.task(), watch.plan()
                    told = self._tell_progress(task, watch.trouble(), told)
                    if plan is None and task.status.produced is not None:
                        # What watches Plans may be behind.
                        plan = await cluster.find_plan(task.status.produced.plan)
                    if _is_over(task, plan):
                        return task, plan
                    await watch.changed(_TICK)
        except TimeoutError as error:
            name = task.metadata.name
            raise CliError(
                "TimedOut",
                f"there is no Plan yet after {self._goal.timeout}: Task '{name}' is "
                f"{task_status(task)}",
                f"{asked.or_goes_on((task,))}; see it with: `bernstein logs {name}`",
            ) from error

    def _tell_progress(self, task: Task, trouble: str, told: str) -> str:
        """Tells what the Task does where that is something new; returns what was told last."""
        doing = f"{task_status(task)}  {trouble or notes.note(task, '')}".rstrip()
        if doing != told:
            self._terminal.say(f"  {doing}", "yellow" if trouble else "dim")
        feedback = task.status.feedback or ""
        if feedback != self._feedback and not is_final(task.status, task.spec.max_retries):
            self._feedback = feedback
            details.tell_words(self._terminal, feedback)
        return doing

    def _answer(self, task: Task, plan: Plan | None, of_plan: list[Task]) -> None:
        if self._terminal.json:
            made = plan_record(plan, of_plan) if plan is not None else None
            self._terminal.answer({"task": task_record(task), "plan": made})

    def _told(self, task: Task, plan: Plan | None, project: Project | None) -> int:
        """The exit code, once people are told how it stands."""
        if plan is not None:
            return self._told_plan(plan, project)
        if task.status.state is TaskState.CLOSED and task.status.produced is not None:
            self._terminal.say(f"✗ Plan '{task.status.produced.plan}' was deleted", "red")
            self._terminal.advise("to have it planned anew, say the goal in other words")
            return FAILED
        details.tell_task(self._terminal, task)
        return FAILED

    def _told_plan(self, plan: Plan, project: Project | None) -> int:
        name, status = plan.metadata.name, plan.status
        guess = status.estimate or estimate(plan.spec, project.spec if project else None)
        if status.ended_at is None and not is_stalled(status):
            self._terminal.say(f"✓ Plan '{name}' is made: {summary(plan.spec, guess)}", "green")
            for what, words in (("read it:", ("plan", "show")), ("draw it:", ("plan", "graph"))):
                command = self._settings.command_line(*words, f"plan/{name}")
                self._terminal.quote(f"  {what:<9} {command}")
            if helps := asked.remedy(plan):
                self._terminal.advise(f"nothing of it has begun: {helps}")
            return 0
        message, remedy = notes.ending(plan)
        self._terminal.say(f"✗ Plan '{name}': {status.phase or 'Pending'}: {message}", "red")
        if remedy:
            self._terminal.advise(remedy)
        return FAILED


def _is_over(task: Task, plan: Plan | None) -> bool:
    if plan is not None:
        return plan.status.phase is not None
    return is_final(task.status, task.spec.max_retries) or is_stalled(task.status)


class _Watch:
    """Caches of the Task and its Plan, and a bell that rings when one changes."""

    def __init__(self, cluster: Cluster, task: Task) -> None:
        name, here = task.metadata.name, [cluster.namespace]
        self._task = task
        self.tasks = Informer(
            cluster.client, TASKS, namespaces=here, field_selector=f"metadata.name={name}"
        )
        ours = f"{labels.TASK}={names.bounded(name)}"
        self.plans = Informer(cluster.client, PLANS, namespaces=here, label_selector=ours)
        self._bell = Bell((self.tasks, self.plans))

    def task(self) -> Task:
        """As it is now. Raises CliError where it is gone."""
        meta = self._task.metadata
        obj = self.tasks.get(Key(meta.namespace, meta.name))
        if obj is None:
            message = f"Task '{meta.name}' was deleted"
            raise CliError("NotFound", message, "say the goal again to start anew")
        return tasks.parse(obj)

    def plan(self) -> Plan | None:
        """The one that the Task has produced, where it is there."""
        produced = self.task().status.produced
        if produced is None:
            return None
        obj = self.plans.get(Key(self._task.metadata.namespace, produced.plan))
        return plans.parse(obj) if obj is not None else None

    async def changed(self, at_most: float) -> None:
        await self._bell.changed(at_most)

    def trouble(self) -> str:
        return self._bell.trouble()


@asynccontextmanager
async def _watching(cluster: Cluster, task: Task) -> AsyncIterator[_Watch]:
    watch = _Watch(cluster, task)
    both = (watch.tasks, watch.plans)
    async with live.running(both, both):
        yield watch
