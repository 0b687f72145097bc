"""How far a workflow is: what its nodes have come to, and which ones run now.

Each step takes what has ended, and goes on until there is nothing more to decide. To take the same
twice changes nothing, so that a step may be lost after it was written, or before.

A node that goes back mends the node that it goes back from. The two, and others that mend the same,
are a loop, which is decided at once when it is over: until then they are Looping, and what depends
on any of them waits. In a loop Failed and Cancelled say that the node runs no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from bernstein.api.plans.workflow import Decided, NodeState, NodeStatus, WorkflowStatus
from bernstein.core.documents.values import Json
from bernstein.core.plans.workflows.definition import Definition, Link
from bernstein.core.plans.workflows.expressions import Values

ENDED: frozenset[NodeState] = frozenset(("Done", "Failed", "Cancelled", "Skipped"))
_STATES: Mapping[str, NodeState] = {"done": "Done", "failed": "Failed", "cancelled": "Cancelled"}
_STATUSES = {state: status for status, state in _STATES.items()}
_SKIPPED = Values("skipped")


@dataclass(frozen=True)
class Ending:
    """How a run of a node has ended for good."""

    run: int
    """Which one: that of another run than the last one is of the past, and says nothing."""
    status: Literal["done", "failed", "cancelled"]
    """done: verified and merged."""
    result: str | None = None
    """The text of its final record."""
    output: Json = None

    @cached_property
    def values(self) -> Values:
        return Values(self.status, self.result, self.output)


@dataclass(frozen=True)
class Standing:
    """What a workflow has come to as a whole."""

    kind: Literal["Going", "Whole", "Failed", "Exhausted"]
    """Whole: what has landed may be delivered."""
    nodes: tuple[str, ...] = ()
    """Those that failed or were cancelled and that no condition has taken up; or those whose loops
    have no run left."""


def begun(definition: Definition, digest: str) -> WorkflowStatus:
    """That of a workflow of which nothing has run."""
    return WorkflowStatus(
        digest=digest, nodes=tuple(NodeStatus(name=name) for name in definition.nodes)
    )


def needed(definition: Definition, course: WorkflowStatus) -> frozenset[str]:
    """The nodes whose endings decide something: those that run, and those of loops that are not
    over. Of the latter the endings are asked for once more when their loop is over."""
    states = {node.name: node.state for node in course.nodes}
    looping = {name for name, state in states.items() if state == "Looping"}
    open_ = looping | {definition.mends[name] for name in looping & definition.mends.keys()}
    members = {link.target for name in open_ for link in definition.loops.get(name, ())}
    running = {name for name, state in states.items() if state == "Running"}
    return frozenset(running | open_ | (members & _that_ran(course)))


def standing(definition: Definition, course: WorkflowStatus) -> Standing:
    """What is said of the whole. While anything can still run, it goes on."""
    if any(node.state not in ENDED for node in course.nodes):
        return Standing("Going")
    exhausted = tuple(node.name for node in course.nodes if node.exhausted)
    if exhausted:
        return Standing("Exhausted", exhausted)
    handled = _handled(definition, course)
    failed = tuple(
        node.name
        for node in course.nodes
        if node.state in ("Failed", "Cancelled") and node.name not in handled
    )
    return Standing("Failed", failed) if failed else Standing("Whole")


def _handled(definition: Definition, course: WorkflowStatus) -> set[str]:
    """Nodes whose end satisfied a condition, and those of loops that came to a good end without
    them."""
    satisfied = {(e.source, node.name) for node in course.nodes for e in node.edges if e.satisfied}
    links = (link for every in definition.into.values() for link in every)
    conditional = (link for link in links if link.condition is not None and not link.is_back)
    taken_up = {link.source for link in conditional if (link.source, link.target) in satisfied}
    return taken_up | set(definition.mends)


def advance(
    definition: Definition,
    course: WorkflowStatus,
    endings: Mapping[str, Ending],
    may_enter: Callable[[str], bool],
) -> WorkflowStatus:
    """The course after all that follows from these endings, by the names of their nodes.

    `may_enter` says of a phase whether people have let it begin, or need not be asked.
    """
    return _Step(definition, course, endings, may_enter).taken()


def _that_ran(course: WorkflowStatus) -> set[str]:
    return {node.name for node in course.nodes if node.run}


class _Step:
    """One step: what is decided is looked at again only by those that it leads to."""

    def __init__(
        self,
        definition: Definition,
        course: WorkflowStatus,
        endings: Mapping[str, Ending],
        may_enter: Callable[[str], bool],
    ) -> None:
        self._definition = definition
        self._course = course
        self._may_enter = may_enter
        known = {node.name: node for node in course.nodes}
        self._nodes = {name: known.get(name) or NodeStatus(name=name) for name in definition.nodes}
        self._edges = {
            name: {edge.source: edge for edge in node.edges} for name, node in self._nodes.items()
        }
        self._endings = {
            name: ending
            for name, ending in endings.items()
            if name in self._nodes and ending.run == self._nodes[name].run
        }
        self._ended: set[str] = set()
        """Endings that this step has taken: a run that it begins has none."""
        self._look: deque[str] = deque(self._nodes)

    def taken(self) -> WorkflowStatus:
        while self._look:
            self._look_at(self._look.popleft())
        nodes = tuple(self._with_edges(name) for name in self._nodes)
        if list(map(id, nodes)) == list(map(id, self._course.nodes)):
            return self._course
        return self._course.model_copy(update={"nodes": nodes})

    def _with_edges(self, name: str) -> NodeStatus:
        node, edges = self._nodes[name], self._edges[name]
        ordered = (edges.get(link.source) for link in self._definition.into[name])
        decided = tuple(edge for edge in ordered if edge is not None)
        return node if decided == node.edges else node.model_copy(update={"edges": decided})

    def _look_at(self, name: str) -> None:
        state = self._nodes[name].state
        if state == "Running" and name in self._endings:
            self._end_of_run(name, self._endings[name])
        elif state == "Awaiting" and self._may_enter(self._definition.nodes[name].phase):
            self._enter(name)
        elif name in self._definition.mends:
            self._settle(self._definition.mends[name])
        elif name in self._definition.loops and state == "Looping":
            self._settle(name)
        elif state == "Pending":
            self._begin(name)

    # --- one node -----------------------------------------------------------------------------

    def _begin(self, name: str) -> None:
        """Enters a node that is ready, and skips one that never will be."""
        links, edges = self._definition.into[name], self._edges[name]
        if self._definition.nodes[name].join == "any" and links:
            ready = any(edge.satisfied for edge in edges.values())
        else:
            ready = len(edges) == len(links) and self._all_hold(links, edges)
        if ready:
            self._enter(name)
        elif len(edges) == len(links):
            self._end(name, "Skipped", _SKIPPED)

    def _all_hold(self, links: tuple[Link, ...], edges: Mapping[str, Decided]) -> bool:
        """What was skipped is not waited for, where something else has come to what it should."""
        satisfied = any(edge.satisfied for edge in edges.values())
        return all(
            edges[link.source].satisfied
            or (satisfied and link.condition is None and self._is_skipped(link.source))
            for link in links
        )

    def _is_skipped(self, name: str) -> bool:
        return self._nodes[name].state == "Skipped"

    def _enter(self, name: str) -> None:
        node = self._nodes[name]
        self._endings.pop(name, None)
        if self._may_enter(self._definition.nodes[name].phase):
            self._set(name, state="Running", run=node.run + 1, task=None)
        else:
            self._set(name, state="Awaiting")

    def _end_of_run(self, name: str, ending: Ending) -> None:
        if name in self._definition.mends:
            self._end_of_mending(name, ending)
        elif name in self._definition.loops:
            self._judge(name, ending)
        else:
            self._end_of_own(name, ending)

    def _end_of_own(self, name: str, ending: Ending) -> None:
        """A run of a node that is in no loop with others. What a person has cancelled runs no
        more."""
        retry = self._definition.retry(name)
        if ending.status == "cancelled" or self._definition.until(name, ending.values):
            self._end(name, _STATES[ending.status], ending.values)
        elif retry is not None and self._nodes[name].run < retry.max_attempts:
            self._enter(name)
        else:
            self._exhaust(name, ending.values)

    def _exhaust(self, name: str, values: Values) -> None:
        self._set(name, exhausted=True)
        self._end(name, "Failed", replace(values, status="failed"))

    def _end(self, name: str, state: NodeState, values: Values) -> None:
        """The node has ended: every link from it is decided, once."""
        self._set(name, state=state)
        for link in self._definition.out_of[name]:
            if not link.is_back:
                self._decide(link, link.holds(values), values)
                self._look.append(link.target)
        for link in self._definition.loops.get(name, ()):
            if state == "Skipped" and self._nodes[link.target].state == "Pending":
                self._decide(link, False, values)
                self._end(link.target, "Skipped", _SKIPPED)

    def _decide(self, link: Link, satisfied: bool, values: Values) -> None:
        edges, run = self._edges[link.target], self._nodes[link.source].run
        if link.source in edges and not link.is_back:
            return
        edges[link.source] = Decided(
            source=link.source, satisfied=satisfied, run=run, on=link.shown(values)
        )

    def _set(self, name: str, **fields: object) -> None:
        self._nodes[name] = self._nodes[name].model_copy(update=fields)

    # --- a loop -------------------------------------------------------------------------------

    def _judge(self, source: str, ending: Ending) -> None:
        """After a run of what is mended: which of those that mend it have something to mend."""
        for link in self._definition.loops[source]:
            over = self._definition.until(link.target, ending.values)
            self._decide(link, not over and link.holds(ending.values), ending.values)
        self._set(source, state="Looping")
        self._settle(source)

    def _end_of_mending(self, name: str, ending: Ending) -> None:
        source = self._definition.mends[name]
        if ending.status == "done":
            self._set(name, state="Looping")
            self._enter(source)
            return
        self._set(name, state=_STATES[ending.status])
        self._settle(source)

    def _settle(self, source: str) -> None:
        """Has the first one mend that has something to mend and a run left, or ends the loop."""
        if self._nodes[source].state != "Looping" or self._is_being_mended(source):
            return
        wanted = []
        for link in self._definition.loops[source]:
            if not self._edges[link.target][source].satisfied:
                continue
            links, edges = self._definition.into[link.target], self._edges[link.target]
            if len(edges) < len(links):
                return  # what else it depends on has not ended
            if self._all_hold(links, edges):
                wanted.append(link.target)
        following = next((name for name in wanted if self._has_run_left(name)), None)
        if following is not None:
            self._enter(following)
        else:
            self._end_of_loop(source, exhausted=bool(wanted))

    def _is_being_mended(self, source: str) -> bool:
        targets = (link.target for link in self._definition.loops[source])
        return any(self._nodes[name].state in ("Running", "Awaiting") for name in targets)

    def _has_run_left(self, name: str) -> bool:
        retry, node = self._definition.retry(name), self._nodes[name]
        return retry is not None and node.run < retry.max_attempts and node.state != "Cancelled"

    def _end_of_loop(self, source: str, *, exhausted: bool) -> None:
        """Decides all that leads out of it; on values of runs that have ended before, too."""
        members = [link.target for link in self._definition.loops[source]]
        ran = [name for name in members if self._nodes[name].run]
        if any(name not in self._endings for name in (source, *filter(self._is_read, ran))):
            return  # it goes on when they are given
        ending = self._endings[source]
        if exhausted:
            self._exhaust(source, ending.values)
        else:
            self._end(source, _STATES[ending.status], ending.values)
        for name in members:
            if name not in ran:
                self._end(name, "Skipped", _SKIPPED)
                continue
            state = self._nodes[name].state
            state = "Done" if state == "Looping" else state
            values = self._endings[name].values if name in self._endings else Values("")
            self._end(name, state, replace(values, status=_STATUSES[state]))

    def _is_read(self, name: str) -> bool:
        """Whether anything asks for more than how the node ended."""
        conditions = (link.condition for link in self._definition.out_of[name])
        return any(each.reads - {"status"} for each in conditions if each is not None)
