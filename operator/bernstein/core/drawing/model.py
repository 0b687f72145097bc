"""What there is to draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

Tone = Literal["", "waiting", "running", "verifying", "done", "failed", "cancelled"]
"""How a node stands, for its colour; "": nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Node:
    """One thing that is done. Words are as their author wrote them: who draws makes them safe."""

    id: str
    """Once in a drawing, among nodes, their parts and groups."""
    title: str
    role: str = ""
    time: str = ""
    """How long it takes, in words."""
    state: str = ""
    """How it stands, in words."""
    tone: Tone = ""
    parts: tuple[Node, ...] = ()
    """What it was split into: they stand below it, and nothing else comes before or after them."""

    @property
    def family(self) -> Iterator[tuple[int, Node]]:
        """The node and its parts, each above its own, with how deep each is below the node."""
        yield 0, self
        for part in self.parts:
            yield from ((depth + 1, each) for depth, each in part.family)


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that something is said of together."""

    id: str
    title: str
    members: tuple[str, ...]
    """At least one; ids of nodes."""
    framed: bool = True
    """It is drawn around its nodes, of which none is in another such group."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One comes before the other. Of a group all members do, or come after."""

    source: str
    """Id of a node or a group."""
    target: str
    label: str = ""
    """On which condition; of a loop, until when."""
    is_loop: bool = False
    """It leads back to what has been done already."""


@dataclass(frozen=True)
class Drawing:
    title: str
    nodes: tuple[Node, ...]
    groups: tuple[Group, ...] = ()
    edges: tuple[Edge, ...] = ()
    """Each pair once for a label."""
    critical: tuple[str, ...] = ()
    """Ids of the nodes on the critical path, the first one first."""
    notes: tuple[str, ...] = ()
    """What is to be known of the whole."""

    @cached_property
    def members(self) -> Mapping[str, tuple[str, ...]]:
        """By id of a node or a group the nodes that it stands for."""
        alone = {node.id: (node.id,) for node in self.nodes}
        return alone | {group.id: group.members for group in self.groups}

    @property
    def every(self) -> Iterator[Node]:
        """All nodes with their parts, each above its own."""
        return (each for node in self.nodes for _, each in node.family)

    @cached_property
    def critical_edges(self) -> frozenset[tuple[str, str]]:
        """Sources and targets of the edges that the critical path goes along."""
        homes: dict[str, list[str]] = {node.id: [node.id] for node in self.nodes}
        for group in self.groups:
            for member in group.members:
                homes[member].append(group.id)
        drawn = {(edge.source, edge.target) for edge in self.edges if not edge.is_loop}
        return frozenset(
            (source, target)
            for before, behind in pairwise(self.critical)
            for source in homes[before]
            for target in homes[behind]
            if (source, target) in drawn
        )

    @property
    def framed(self) -> Iterator[tuple[Group | None, tuple[Node, ...]]]:
        """The nodes by the group that is drawn around them, first those that are in none."""
        by_id = {node.id: node for node in self.nodes}
        frames = [group for group in self.groups if group.framed]
        inside = {member for group in frames for member in group.members}
        if alone := tuple(node for node in self.nodes if node.id not in inside):
            yield None, alone
        for group in frames:
            yield group, tuple(by_id[member] for member in group.members)
