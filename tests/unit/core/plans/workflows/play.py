"""Plays workflows: a course, runs that end one at a time, and a person who lets phases begin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bernstein.api.plans.workflow import NodeStatus, Workflow, WorkflowStatus
from bernstein.core.plans.workflows.course import Ending, advance, begun
from bernstein.core.plans.workflows.definition import Definition, digest, of
from tests.unit.core.plans.workflows.stories.story import Outcome

Ends = Callable[[str, int], Outcome]
"""How a run of a node ends."""


@dataclass
class Play:
    """A workflow on its way."""

    workflow: Workflow
    ends: Ends
    slow: frozenset[str] = frozenset()
    order: list[str] = field(default_factory=list)
    """Runs as they began, such as `build#1`."""
    asked: list[str] = field(default_factory=list)
    allowed: set[str] = field(default_factory=set)
    endings: dict[str, Ending] = field(default_factory=dict)
    """Of each node's last run that has ended."""
    course: WorkflowStatus = field(init=False)
    _running: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.course = begun(self.definition, digest(self.workflow))

    @property
    def definition(self) -> Definition:
        return of(self.workflow)

    def may_enter(self, phase: str) -> bool:
        said = self.workflow.phases[self.definition.phases[phase]]
        return not said.requires_approval or phase in self.allowed

    def go(self) -> None:
        """To its end."""
        self.step()
        while self.end_one() or self.allow():
            self.step()

    def step(self) -> None:
        """One step of the course, with the Tasks of what begins."""
        before = {node.name: node for node in self.course.nodes}
        self.course = self.stepped()
        for node in self.course.nodes:
            if node.state == "Running" and before[node.name].run < node.run:
                self.order.append(f"{node.name}#{node.run}")
                self._running.append(node.name)
            phase = self.definition.nodes[node.name].phase
            if node.state == "Awaiting" and phase not in self.asked:
                self.asked.append(phase)
        self.course = self._with_tasks(self.course)

    def stepped(self) -> WorkflowStatus:
        return advance(self.definition, self.course, self.endings, self.may_enter)

    def end_one(self) -> str | None:
        """The run that has begun first ends."""
        if not self._running:
            return None
        quick = [name for name in self._running if name not in self.slow]
        name = (quick or self._running)[0]
        self._running.remove(name)
        run = self.node(name).run
        outcome = self.ends(name, run)
        self.endings[name] = Ending(run, outcome.status, outcome.result, outcome.output)
        return name

    def allow(self) -> str | None:
        """A person lets a phase begin."""
        phase = next((phase for phase in self.asked if phase not in self.allowed), None)
        if phase is not None:
            self.allowed.add(phase)
        return phase

    def run_again(self, name: str) -> None:
        """The last Task of a node has got another round."""
        self.endings.pop(name, None)
        self._running.append(name)

    def node(self, name: str) -> NodeStatus:
        return next(node for node in self.course.nodes if node.name == name)

    def _with_tasks(self, course: WorkflowStatus) -> WorkflowStatus:
        nodes = tuple(
            node.model_copy(update={"task": f"plan-{node.name}-i{node.run}"})
            if node.state == "Running"
            else node
            for node in course.nodes
        )
        return course.model_copy(update={"nodes": nodes})
