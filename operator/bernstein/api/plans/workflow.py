"""A Plan's workflow: nodes that run when what they depend on has ended as their conditions say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.meta import CopiedLine, Line, Model, Name, ObjectName, cel, list_map
from bernstein.api.signals import Assignment

MAX_PHASES = 20
MAX_NODES = 100
MAX_EDGES = 20
"""That lead to one node."""
MOST_RUNS = 20
"""Of one node that loops."""
LONGEST_EXPRESSION = 300
"""Characters."""

Role = Annotated[str, Field(pattern=r"^[a-z][-a-z0-9]*$", max_length=63)]
Expression = Annotated[str, Field(min_length=1, max_length=LONGEST_EXPRESSION)]


class Phase(Model):
    """A part of the work. Phases are in order, and no barriers: nodes wait for nodes."""

    name: Line
    """Nodes name it in phase."""
    allowed_roles: Annotated[tuple[Role, ...], Field(max_length=40)] = Field(
        default=(), description="Roles that its nodes may have. Absent: all."
    )
    requires_approval: bool = Field(
        default=False,
        description="true: a person must say yes once, when its first node is ready.",
    )


class Edge(Model):
    """A node that must have ended before."""

    source: Name
    """Name of that node."""
    condition: Expression | None = Field(
        default=None,
        description="What must hold of how it ended: an expression of `status`, `result` and "
        "`output`. Absent: status == 'done'.",
    )


class Retry(Model):
    """How often a node runs."""

    max_attempts: Annotated[int, Field(ge=1, le=MOST_RUNS)] = Field(
        default=3, description="Runs of this node, the first one included."
    )
    until: Expression = Field(
        default="status == 'done'",
        description="What ends it: of its own result, or, where it goes back to an earlier phase, "
        "of the node that it mends.",
    )


class Node(Assignment):
    """A piece of work: one Task each time that it runs."""

    name: Name
    """Other nodes name it in dependsOn."""
    phase: Line
    """Phase that it belongs to."""
    title: Line | None = Field(
        default=None, description="What is to be done, in one line. Absent: its name."
    )
    repo: Line | None = Field(
        default=None,
        description="Which of the Plan's repos it works in. Absent: the first.",
    )
    depends_on: Annotated[tuple[Edge, ...], Field(max_length=MAX_EDGES)] = Field(
        default=(), description="Nodes that must have ended before. Absent: it runs at once."
    )
    join: Literal["all", "any"] = Field(
        default="all", description="How many of dependsOn must hold: all, or any one of them."
    )
    retry: Retry | None = Field(default=None, description="Absent: it runs once.")

    @property
    def heading(self) -> str:
        return self.title or self.name


class Workflow(Model):
    """Nodes with conditions and loops."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            (
                "self.nodes.all(n, self.phases.exists(p, p.name == n.phase))",
                "every node must name one of the phases",
            ),
        ),
    }

    version: Annotated[str, Field(min_length=1, max_length=63)] | None = None
    """Of the definition, for people."""
    phases: Annotated[
        tuple[Phase, ...],
        Field(min_length=1, max_length=MAX_PHASES, json_schema_extra=list_map("name")),
    ]
    """In their order: a node may send work back to an earlier one."""
    nodes: Annotated[
        tuple[Node, ...],
        Field(min_length=1, max_length=MAX_NODES, json_schema_extra=list_map("name")),
    ]
    """Of several that may run back, the first one in this order does."""


# --- how far it is --------------------------------------------------------------------------------

NodeState = Literal[
    "Pending", "Awaiting", "Running", "Looping", "Done", "Failed", "Cancelled", "Skipped"
]


class Decided(Model):
    """What an edge came to."""

    source: Name
    """Node that it leads from."""
    satisfied: bool
    """Whether its condition held."""
    run: int = Field(ge=0, description="Which run of the source it was decided on; 0: none.")
    on: CopiedLine
    """The values that it was decided on, as far as they have room."""


class NodeStatus(Model):
    """How far a node is."""

    name: Name
    """Name of the node."""
    state: NodeState = Field(
        default="Pending",
        description="Awaiting: it is ready, and a person must let its phase begin. Looping: its "
        "run has ended, and another one of it, or of the node that it mends, decides.",
    )
    run: int = Field(default=0, ge=0, description="Number of its last run; 0: it has not run.")
    task: ObjectName | None = None
    """Task of its last run."""
    exhausted: bool | None = Field(
        default=None, description="true: its loop has no run left, and nothing has mended it."
    )
    edges: Annotated[tuple[Decided, ...], Field(max_length=MAX_EDGES)] = ()
    """Those that are decided."""


class PhaseStatus(Model):
    """What people have said of a phase that asks them."""

    name: CopiedLine
    """Name of the phase."""
    approval: AskedApproval


class WorkflowStatus(Model):
    """How far a workflow is."""

    digest: Annotated[str, Field(max_length=64)]
    """SHA-256 of the definition that it began with."""
    nodes: Annotated[
        tuple[NodeStatus, ...],
        Field(max_length=MAX_NODES, json_schema_extra={"x-kubernetes-list-type": "atomic"}),
    ]
    """One for each node, in the Plan's order."""
    phases: Annotated[tuple[PhaseStatus, ...], Field(max_length=MAX_PHASES)] = ()
    """Those that people were asked about."""
