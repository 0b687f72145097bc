"""The work of a Plan, line by line: its steps, or the nodes of its workflow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic.alias_generators import to_snake
from rich.table import Table
from rich.text import Text

from bernstein.api.approvals.approval import APPROVE
from bernstein.api.plan import Plan
from bernstein.api.plans.workflow import Node, NodeStatus, Workflow
from bernstein.api.task import Task
from bernstein.cli.output import drawing, tables
from bernstein.cli.output.notes import note
from bernstein.core.approvals import answers
from bernstein.core.outlines import nodes
from bernstein.core.plans.workflows import definition as definitions
from bernstein.core.sanitise import line
from bernstein.core.waiting import is_stalled

_TURNS = ("Awaiting", "Looping", "Skipped")
_LONGEST = 1000
"""Characters of what is said of a node; a terminal cuts them at its columns."""


def table(plan: Plan, tasks: Iterable[Task], progress: Mapping[str, str]) -> Table:
    """Everything that the Plan does, and how far it is.

    `progress` is what agents say that they do, by name of the Task.
    """
    workflow = plan.spec.workflow
    if workflow is None:
        return tables.steps_table(plan, tasks, progress)
    return _Nodes(plan, workflow, tasks, progress).table()


class Turn(NamedTuple):
    """How a node stands, where no Task of it says so."""

    node: str
    state: str
    """Such as `awaiting`."""
    run: int
    told: str
    """State, number of the run, and why."""


def turns(plan: Plan) -> Iterator[Turn]:
    """Those that wait for a person or for another run, were skipped, or have no run left."""
    workflow, course = plan.spec.workflow, plan.status.workflow
    if workflow is None or course is None:
        return
    definition, known = definitions.of(workflow), {each.name: each for each in course.nodes}
    for node in workflow.nodes:
        standing = known.get(node.name)
        if standing is not None and (standing.state in _TURNS or standing.exhausted):
            told = f"{nodes.state(standing)}: {nodes.why(definition, node, known)}"
            yield Turn(node.name, to_snake(standing.state), standing.run, told)


class _Nodes:
    """Every node below its phase, and below them Tasks that are of none."""

    def __init__(
        self, plan: Plan, workflow: Workflow, tasks: Iterable[Task], progress: Mapping[str, str]
    ) -> None:
        course = plan.status.workflow
        self._plan = plan
        self._workflow = workflow
        self._definition = definitions.of(workflow)
        self._course = {each.name: each for each in course.nodes} if course is not None else {}
        self._tasks = {task.metadata.name: task for task in tasks}
        self._progress = progress

    def table(self) -> Table:
        table = tables.empty(header=False, expand=True)
        table.add_column("node", no_wrap=True, overflow="ellipsis", ratio=2)
        table.add_column("state", no_wrap=True, min_width=10)
        # In full, as far as there is room: people copy it.
        table.add_column("task", no_wrap=True, overflow="ellipsis")
        table.add_column("why", no_wrap=True, overflow="ellipsis", ratio=3)
        table.add_column("cost", justify="right", no_wrap=True, min_width=5)
        for phase, its in nodes.by_phase(self._workflow):
            table.add_row(Text(line(phase.name, _LONGEST), style="bold"))
            for node in its:
                table.add_row(*self._cells(node, self._course.get(node.name)))
        if self._plan.status.extra:
            table.add_row(Text(tables.OF_NO_STEP, style="bold"))
        for row in self._plan.status.extra:
            task = self._tasks.get(row.name)
            title = row.name if task is None else task.spec.title
            name, state, *rest = tables.step_cells(
                title, task, self._progress.get(row.name, ""), self._plan
            )
            table.add_row(name, state, Text(row.name), *rest)
        return table

    def _rejected(self, node: Node) -> str:
        """That people have not let its phase begin; "" where they have, or were not asked."""
        course = self._plan.status.workflow
        phases = course.phases if course is not None else ()
        asked = next((each.approval for each in phases if each.name == node.phase), None)
        if asked is None or asked.decision in (None, APPROVE):
            return ""
        if asked.decision == "Expired":
            return f"nobody let the phase {node.phase} begin in time"
        return f"the phase {node.phase} was rejected{answers.by_whom(asked.by, asked.reason)}"

    def _cells(self, node: Node, standing: NodeStatus | None) -> tuple[Text, ...]:
        name = (standing.task if standing is not None else None) or ""
        task = self._tasks.get(name)
        tone = nodes.TONES[standing.state] if standing is not None else "waiting"
        state = nodes.state(standing) or "pending"
        if tone == "running" and task is not None and is_stalled(task.status):
            tone, state = "waiting", "waiting"  # nothing of it runs before a person has acted
        style = drawing.STYLES.get(tone, "dim")
        said = nodes.why(self._definition, node, self._course) or self._rejected(node)
        if not said and task is not None:
            said = note(task, self._progress.get(name, ""), self._plan)
        return (
            Text(f"  {drawing.MARKS[tone]} {line(nodes.title(node), _LONGEST)}", style=style),
            Text(state, style=style),
            Text(name, style="dim"),
            Text(line(said, _LONGEST), style="dim"),
            Text(tables.spent(task.status, zero="") if task is not None else ""),
        )
