"""Another round for what has failed: the same run of the same Task decides anew.

No loop gets a run more by it. Where a loop has none left and one that mends has failed in it, that
one gets the round, and what it mends runs again when it is done; else what is mended gets it.
"""

from __future__ import annotations

from collections.abc import Collection

from bernstein.api.plans.workflow import NodeStatus, WorkflowStatus
from bernstein.core.plans.workflows.course import ENDED, standing
from bernstein.core.plans.workflows.definition import Definition


def retryable(definition: Definition, course: WorkflowStatus) -> tuple[str, ...]:
    """The nodes whose last Tasks may get another round, where the workflow has failed."""
    nodes = {node.name: node for node in course.nodes}
    found = (_broken_at(definition, nodes, name) for name in standing(definition, course).nodes)
    return tuple(name for name in found if nodes[name].state == "Failed")


def reopened(
    definition: Definition, course: WorkflowStatus, names: Collection[str]
) -> WorkflowStatus:
    """The course in which these nodes run again, if they have failed.

    What was decided on them is undecided, and so is what was skipped for it. What has begun stays
    as it is, with what it was begun on. It is the same run: its old ending must not be given again.
    What failed in a loop that goes on gets none, for another node is at it.
    """
    return _Reopening(definition, course, names).done()


def _broken_at(definition: Definition, nodes: dict[str, NodeStatus], name: str) -> str:
    members = [link.target for link in definition.loops.get(name, ())]
    failed = (m for m in members if nodes[m].state == "Failed" and _has_to_mend(nodes[m], name))
    return next(failed, name)


def _has_to_mend(node: NodeStatus, source: str) -> bool:
    return any(edge.source == source and edge.satisfied for edge in node.edges)


class _Reopening:
    def __init__(
        self, definition: Definition, course: WorkflowStatus, names: Collection[str]
    ) -> None:
        self._definition = definition
        self._course = course
        self._nodes = {node.name: node for node in course.nodes}
        self._running: set[str] = set()
        self._mended: set[str] = set()
        """What is mended by one of them: it waits for that one, whoever else asks for it."""
        for name in filter(self._has_failed, definition.nodes):
            if name in names:
                self._run(name)
        self._running -= self._mended
        self._open = self._running | self._mended
        """What has not ended any more."""
        self._spread()

    def done(self) -> WorkflowStatus:
        nodes = tuple(self._reopened(node) for node in self._course.nodes)
        return self._course.model_copy(update={"nodes": nodes}) if self._open else self._course

    def _has_failed(self, name: str) -> bool:
        return self._nodes[name].state == "Failed"

    def _run(self, name: str) -> None:
        source = self._definition.mends.get(name)
        if source is None:
            self._running.add(name)
        elif self._nodes[source].state in ENDED and source not in self._mended:
            self._running.add(name)
            self._mended.add(source)

    def _spread(self) -> None:
        """To all members of a loop, and to what was skipped."""
        pending = list(self._open)
        while pending:
            for link in self._definition.out_of[pending.pop()]:
                node, is_member = self._nodes[link.target], link.target in self._definition.mends
                joins = link.is_back or (node.state == "Skipped" and not is_member)
                if joins and link.target not in self._open:
                    self._open.add(link.target)
                    pending.append(link.target)

    def _reopened(self, node: NodeStatus) -> NodeStatus:
        if node.name in self._running:
            return node.model_copy(update={"state": "Running", "exhausted": None})
        if node.name in self._mended:
            return node.model_copy(update={"state": "Looping", "exhausted": None})
        if node.name in self._open and node.run:
            return node.model_copy(update={"state": "Looping"}) if node.state == "Done" else node
        if node.name not in self._open and node.state not in ("Pending", "Awaiting"):
            return node
        edges = tuple(edge for edge in node.edges if self._stays(edge.source, node.name))
        if node.name not in self._open and edges == node.edges:
            return node
        return node.model_copy(update={"state": "Pending", "edges": edges})

    def _stays(self, source: str, target: str) -> bool:
        """Whether what was decided on the source stays decided."""
        kept = source in self._mended and self._definition.mends.get(target) == source
        return kept or source not in self._open
