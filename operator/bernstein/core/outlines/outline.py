"""What a plan holds: the one place that its readers, people or scripts, are told from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from graphlib import CycleError
from itertools import repeat
from typing import NamedTuple

from pydantic.alias_generators import to_snake

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.plan import Estimate, Plan, PlanSpec, Stage, Step
from bernstein.api.plans.rows import PlanTask
from bernstein.api.plans.workflow import Node, NodeStatus, Phase, WorkflowStatus
from bernstein.api.project import Agent, Project
from bernstein.api.signals import STEP_MINUTES, Assignment
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskSpec
from bernstein.checks import signals
from bernstein.core.approvals import answers, policy
from bernstein.core.money import amounts
from bernstein.core.outlines import parts
from bernstein.core.outlines.nodes import by_phase
from bernstein.core.outlines.words import duration, forecast
from bernstein.core.plans.estimate import critical_steps, estimate, minutes_of
from bernstein.core.plans.expansion import stage_graph
from bernstein.core.plans.rows import names_of_steps
from bernstein.core.plans.workflows.problems import problems
from bernstein.core.roles.known import BUILT_IN, Roles
from bernstein.core.routing import table
from bernstein.core.routing.table import ModelRoute
from bernstein.core.serializers import task_status

_NO_AGENT = Agent(name="auto", adapter="demo", image="none")
"""Without a Project a tier is called by its own name."""


class StepTask(NamedTuple):
    """The Task of a step, once there is one."""

    name: str
    status: str
    """As scripts know it: open, claimed, in_progress, done, closed, failed, cancelled, ..."""


class Subtask(NamedTuple):
    """A part of what a Task was split into, in the cluster."""

    depth: int
    """From 1: how often it was split until there was this one."""
    parent: str
    """Name of the Task that it is a part of."""
    task: StepTask
    spec: TaskSpec | None
    """None: the Task is gone, or yet to be made."""

    @property
    def title(self) -> str:
        return self.spec.title if self.spec is not None else self.task.name


class NodeTask(NamedTuple):
    """A node of a workflow, and how it stands."""

    node: Node
    standing: NodeStatus | None
    """None: it is a file's, or nothing of the Plan has begun."""
    task: StepTask | None
    """That of its last run."""


class Fact(NamedTuple):
    """Something about the plan as a whole."""

    label: str
    values: tuple[str, ...]
    is_ours: bool
    """The values are words of ours, not those of who wrote the plan."""


@dataclass(frozen=True)
class Outline:
    """A valid plan, of a file or of the cluster."""

    spec: PlanSpec
    estimate: Estimate
    project: Project | None = None
    """That it is for, where that is known."""
    name: str | None = None
    """Of the object; None: it is a file."""
    tasks: tuple[StepTask | None, ...] = ()
    """Of each step, in the plan's order; () of a file."""
    asked: AskedApproval | None = None
    """What people were asked about it, and what came of that."""
    course: WorkflowStatus | None = None
    """How far its workflow is."""
    of_nodes: Mapping[str, StepTask] = field(default_factory=dict)
    """By name of a node the Task of its last run."""
    roles: Roles = BUILT_IN
    """Those of its namespace, as far as they are known."""
    subtasks: Mapping[str, tuple[Subtask, ...]] = field(default_factory=dict)
    """By name of a Task of a step or node what it was split into, each above its own parts."""

    def split(self, task: StepTask | None) -> tuple[Subtask, ...]:
        """What the Task was split into; () where it was not."""
        return self.subtasks.get(task.name, ()) if task is not None else ()

    @cached_property
    def after(self) -> dict[str, tuple[str, ...]]:
        """By name of a stage those that come first."""
        return stage_graph(self.spec)

    @property
    def stages(self) -> Iterator[tuple[Stage, tuple[tuple[Step, StepTask | None], ...]]]:
        """Each stage with its steps and their Tasks."""
        tasks = iter(self.tasks or repeat(None))
        for stage in self.spec.stages:
            yield stage, tuple((step, next(tasks, None)) for step in stage.steps)

    @property
    def phases(self) -> Iterator[tuple[Phase, tuple[NodeTask, ...]]]:
        """Each phase of a workflow with its nodes."""
        known = {each.name: each for each in self.course.nodes} if self.course is not None else {}
        for phase, its in by_phase(self.spec.workflow) if self.spec.workflow is not None else ():
            yield (
                phase,
                tuple(
                    NodeTask(each, known.get(each.name), self.of_nodes.get(each.name))
                    for each in its
                ),
            )

    def route(self, step: Assignment) -> ModelRoute:
        """Model and effort that it begins with."""
        agent = self.project.spec.agent(step.cli or self.spec.cli) if self.project else None
        return table.route(self.roles.with_defaults(step), agent or _NO_AGENT)

    @property
    def approval(self) -> ApprovalPolicy:
        """The stricter of what the plan and its Project say, as far as that is known."""
        if self.project is not None:
            return policy.effective(self.project.spec, self.spec)
        return self.spec.approval or ApprovalPolicy()

    @property
    def facts(self) -> Iterator[Fact]:
        """What is said of the whole, in the order in which people read it."""
        spec, basis = self.spec, self.estimate.basis
        yield Fact("estimate", (f"{forecast(spec, self.estimate)} ({basis})",), True)
        budget = "no limit" if spec.budget is None else amounts.dollars(Decimal(spec.budget))
        yield Fact("budget", (budget,), True)
        if spec.max_agents is not None:
            yield Fact("agents", (f"at most {spec.max_agents} at the same time",), True)
        yield Fact("approval", tuple(self._asks()), True)
        if spec.merge == "pr":
            yield Fact("delivery", ("by a pull request",), True)
        if self.project is not None:
            yield Fact("project", (self.project.metadata.name,), True)
        decided = self._decided()
        version = spec.workflow.version if spec.workflow is not None else None
        theirs = (
            ("version", (version,) if version else ()),
            ("decision", (decided,) if decided else ()),
            ("agent", (spec.cli,) if spec.cli else ()),
            ("repositories", tuple(each.called for each in spec.repos)),
            ("constraints", spec.constraints),
            ("context files", spec.context_files),
        )
        yield from (Fact(label, values, False) for label, values in theirs if values)

    def _decided(self) -> str:
        """What came of asking people whether it may begin; "" where none was asked."""
        asked = self.asked
        if asked is None:
            return ""
        if asked.decision is None:
            return f"Approval {asked.name} waits for one"
        if asked.decision == "Expired":
            return "nobody has decided in time"
        word = {"Approve": "approved", "Reject": "rejected"}.get(asked.decision, "sent back")
        return f"{word}{answers.by_whom(asked.by, asked.reason)}"

    def _asks(self) -> Iterator[str]:
        """When a person is asked."""
        asks = self.approval
        above = f" above {amounts.dollars(Decimal(asks.above_usd))}" if asks.above_usd else ""
        yield {
            "Never": "the plan begins without a yes",
            "AboveCost": f"the plan needs a yes before it begins, where its estimate is{above}",
            "Always": "the plan needs a yes before it begins",
        }[asks.plan]
        yield {
            "Never": "verified work lands without a yes, but for protected paths",
            "HighRisk": "verified work of a high risk needs a yes before it lands",
            "Always": "verified work needs a yes before it lands",
        }[asks.result]
        if asks.expires_after_seconds is not None:
            yield f"what nobody has decided after {asks.expires_after_seconds} s is rejected"
        if asks.approver_is_not_author:
            yield "the author may not decide"
        if self.project is None:
            yield "a Project may ask for more"


def of_file(spec: PlanSpec) -> Outline:
    """Of a plan of which no cluster is asked."""
    return Outline(spec, estimate(spec))


def is_sound(spec: PlanSpec) -> bool:
    """Whether its stages depend on stages that there are, and nothing on itself; or its workflow
    can run. Nobody may have looked at that yet where the cluster has just taken a Plan."""
    if spec.workflow is not None:
        return not any(problems(spec.workflow))
    after = stage_graph(spec)
    if not all(name in after for upstream in after.values() for name in upstream):
        return False
    try:
        critical_steps(spec)
    except CycleError:
        return False
    return True


def of_plan(
    plan: Plan, tasks: list[Task], project: Project | None, roles: Roles = BUILT_IN
) -> Outline:
    """Of a Plan of the cluster that is sound, with the state of each step. `project`: None where it
    is not known.

    The estimate is that which the Plan began with.
    """
    by_name = {task.metadata.name: task for task in tasks}
    rows = {row.name: row for row in plan.status.tasks}

    def split(rows: parts.Rows, name: str) -> Iterator[Subtask]:
        for depth, row in parts.below(rows, name):
            spec = by_name[row.name].spec if row.name in by_name else None
            task = known(row.name) or StepTask(row.name, _last_status(row))
            yield Subtask(depth, row.parent or name, task, spec)

    def known(name: str | None) -> StepTask | None:
        if name in by_name:
            return StepTask(name, task_status(by_name[name]))
        return StepTask(name, _last_status(rows[name])) if name in rows else None

    course = plan.status.workflow
    named = {each.name: known(each.task) for each in (course.nodes if course is not None else ())}
    of_parents = parts.by_parent(plan.status)
    guess = plan.status.estimate or estimate(plan.spec, project.spec if project else None, roles)
    return Outline(
        plan.spec,
        guess,
        project,
        plan.metadata.name,
        tuple(map(known, names_of_steps(plan, tasks))),
        plan.status.approval,
        course,
        {name: task for name, task in named.items() if task is not None},
        roles,
        {name: tuple(split(of_parents, name)) for name in of_parents},
    )


def _last_status(row: PlanTask) -> str:
    """That of a Task that is gone."""
    return "done" if row.state == TaskState.PENDING_APPROVAL else to_snake(row.state)


def minutes(step: Assignment) -> str:
    """How long it is to take, and whether anybody has said so."""
    if isinstance(step, Step) and step.parts:
        return f"{duration(minutes_of(step))} for the longest subtask"
    said = step.estimated_minutes
    return duration(said) if said is not None else f"{duration(STEP_MINUTES)} assumed"


def split_into(step: Assignment) -> tuple[str, ...]:
    """What it is split into, each with its role and its time."""
    split = step.parts if isinstance(step, Step) else ()
    return tuple(f"{part.heading} ({part.role}, {minutes(part)})" for part in split)


def signal_titles(step: Assignment) -> tuple[str, ...]:
    """What must hold, as verdicts call it."""
    return tuple(signals.of(each.type).title(each) for each in step.completion_signals)
