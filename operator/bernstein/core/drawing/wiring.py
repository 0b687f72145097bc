"""The lines between nodes that edges between groups stand for.

    a ─┐   ┌─ c          a ─┐     ┌─ d
       ├─◦─┤       or       ├─◦─◦─┤ ─ e
    b ─┘   └─ d          b ─┘     └─ ...

Between 50 nodes and 50 others would be 2,500 lines, which nobody could follow, and no viewer draws.
So where a joint takes fewer lines than one from each node to each other, there is a joint: for all
of a group, behind it, and for all that comes before a group, above it. So lines grow as nodes and
edges do, not as nodes times nodes; and what is small is drawn as people draw it, without joints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bernstein.core.drawing.model import Drawing, Edge


@dataclass(frozen=True, slots=True)
class Joint:
    """Where lines meet."""

    id: str
    """No node and no group has it."""
    title: str
    """Of the group that is done there; "" where it is what comes before a group."""


@dataclass(frozen=True, slots=True)
class Line:
    source: str
    """Id of a node or a joint."""
    target: str
    label: str = ""
    is_loop: bool = False
    is_critical: bool = False


@dataclass(frozen=True)
class Wiring:
    joints: tuple[Joint, ...]
    lines: tuple[Line, ...]

    def ids_in(self, drawing: Drawing) -> dict[str, str]:
        """By id of a node or a joint one that every language takes: n1, n2, ...; j1, j2, ... Parts
        of nodes are counted behind all nodes."""
        nodes = [node.id for node in drawing.nodes]
        parts = [part.id for node in drawing.nodes for depth, part in node.family if depth]
        ids = {each: f"n{number}" for number, each in enumerate((*nodes, *parts), 1)}
        return ids | {joint.id: f"j{number}" for number, joint in enumerate(self.joints, 1)}


def wired(drawing: Drawing) -> Wiring:
    """The same each time."""
    return _Wiring(drawing).made()


class _Wiring:
    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._members = drawing.members
        self._critical = frozenset(drawing.critical)
        self._lines: dict[tuple[str, str, str, bool], Line] = {}
        self._behind = self._joints_behind()
        self._above = self._joints_above()

    def made(self) -> Wiring:
        titles = {group.id: group.title for group in self._drawing.groups}
        joints = [Joint(joint, titles[group]) for group, joint in self._behind.items()]
        joints += [Joint(joint, "") for joint in self._above.values()]
        for group, joint in self._behind.items():
            on_the_path = any(source == group for source, _ in self._drawing.critical_edges)
            self._draw(self._members[group], (joint,), on_the_path=on_the_path)
        for edge in self._drawing.edges:
            self._draw_edge(edge)
        for group, joint in self._above.items():
            on_the_path = any(target == group for _, target in self._drawing.critical_edges)
            self._draw((joint,), self._members[group], on_the_path=on_the_path)
        return Wiring(tuple(joints), tuple(self._lines.values()))

    def _joints_behind(self) -> dict[str, str]:
        """By id of a group the joint behind it."""
        targets: dict[str, int] = {}
        for edge in self._drawing.edges:
            targets[edge.source] = targets.get(edge.source, 0) + len(self._members[edge.target])
        sizes = {source: (len(self._members[source]), n) for source, n in targets.items()}
        return self._where_fewer(sizes, "behind")

    def _joints_above(self) -> dict[str, str]:
        """By id of a group the joint above it."""
        sources: dict[str, int] = {}
        for edge in self._drawing.edges:
            sources[edge.target] = sources.get(edge.target, 0) + len(self._ends(edge.source))
        sizes = {target: (n, len(self._members[target])) for target, n in sources.items()}
        return self._where_fewer(sizes, "above")

    def _where_fewer(self, sizes: dict[str, tuple[int, int]], place: str) -> dict[str, str]:
        groups = (group.id for group in self._drawing.groups)
        fewer = (g for g in groups if g in sizes and _is_fewer_with_a_joint(*sizes[g]))
        return {group: f"{place} {group}" for group in fewer}

    def _ends(self, source: str) -> tuple[str, ...]:
        """Where lines that leave it begin."""
        return (self._behind[source],) if source in self._behind else self._members[source]

    def _draw_edge(self, edge: Edge) -> None:
        begins, target = self._ends(edge.source), self._above.get(edge.target)
        ends = (target,) if target is not None else self._members[edge.target]
        on_the_path = (edge.source, edge.target) in self._drawing.critical_edges
        self._draw(begins, ends, edge.label, is_loop=edge.is_loop, on_the_path=on_the_path)

    def _draw(
        self,
        sources: Iterable[str],
        targets: tuple[str, ...],
        label: str = "",
        *,
        is_loop: bool = False,
        on_the_path: bool,
    ) -> None:
        for source in sources:
            for target in targets:
                is_critical = on_the_path and self._is_on(source) and self._is_on(target)
                line = Line(source, target, label, is_loop, is_critical)
                self._lines.setdefault((source, target, label, is_loop), line)

    def _is_on(self, end: str) -> bool:
        """Of a joint its edge says it."""
        return end in self._critical or end not in self._drawing.members


def _is_fewer_with_a_joint(sources: int, targets: int) -> bool:
    """The joint itself counts as a line."""
    return sources * targets > sources + targets + 1
