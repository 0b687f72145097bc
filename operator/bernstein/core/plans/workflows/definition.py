"""What a workflow says, as it is looked up: which node leads where, and which ones go back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from bernstein.api.plans.workflow import Edge, Node, Retry, Workflow
from bernstein.core.plans.workflows.expressions import Expression, Values, parsed

_ONCE = Retry(max_attempts=1)
"""How often a node runs that goes back and says nothing of it."""
_DONE = "status == 'done'"


class Link(NamedTuple):
    """An edge, seen from where it comes from."""

    source: str
    target: str
    condition: Expression | None
    """None: it has none. The source must be done."""
    is_back: bool
    """Whether it leads to an earlier phase: its target mends its source, which runs again."""

    def holds(self, values: Values) -> bool:
        return _deciding(self.condition, values).holds(values)

    def shown(self, values: Values) -> str:
        return _deciding(self.condition, values).shown(values)


@dataclass(frozen=True)
class Definition:
    """A workflow in which nothing is wrong. One with problems can be looked at, but not run."""

    workflow: Workflow

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """By name, in the Plan's order."""
        return {node.name: node for node in self.workflow.nodes}

    @cached_property
    def phases(self) -> Mapping[str, int]:
        """The place of each phase."""
        names = [phase.name for phase in self.workflow.phases]
        return {name: names.index(name) for name in names}

    @cached_property
    def into(self) -> Mapping[str, tuple[Link, ...]]:
        """The links that lead to each node, in its order."""
        return {name: tuple(self._links(node)) for name, node in self.nodes.items()}

    @cached_property
    def out_of(self) -> Mapping[str, tuple[Link, ...]]:
        """The links that lead from each node, in the order of their targets."""
        found: dict[str, list[Link]] = {name: [] for name in self.nodes}
        for links in self.into.values():
            for link in links:
                found[link.source].append(link)
        return {name: tuple(links) for name, links in found.items()}

    @cached_property
    def loops(self) -> Mapping[str, tuple[Link, ...]]:
        """The links that go back from a node, for each that has some: first those whose target is
        first in the Plan's order."""
        back = {
            name: tuple(link for link in self.out_of[name] if link.is_back) for name in self.nodes
        }
        return {name: links for name, links in back.items() if links}

    @cached_property
    def mends(self) -> Mapping[str, str]:
        """The node that each one mends which goes back."""
        return {link.target: source for source, links in self.loops.items() for link in links}

    def retry(self, name: str) -> Retry | None:
        """How often it runs; None: once."""
        retry = self.nodes[name].retry
        return _ONCE if retry is None and name in self.mends else retry

    def until(self, name: str, values: Values) -> bool:
        """Whether what ends the loop of this node holds."""
        retry = self.retry(name)
        return retry is None or _deciding(_expression(retry.until), values).holds(values)

    def most_runs(self, name: str) -> int:
        """How often it can run."""
        own = self.retry(name)
        back = (self.retry(link.target) for link in self.loops.get(name, ()))
        mended = sum(retry.max_attempts for retry in back if retry is not None)
        return mended + (own.max_attempts if own is not None else 1)

    def reads(self, name: str) -> frozenset[str]:
        """What something is decided on of this node: `status`, `result`, `output`."""
        decided = [link.condition for link in self.out_of[name]]
        untils = [name] if name not in self.mends else []
        untils += [link.target for link in self.loops.get(name, ())]
        retries = [retry for each in untils if (retry := self.retry(each)) is not None]
        decided += [_expression(retry.until) for retry in retries]
        return frozenset().union(*(each.reads for each in decided if each is not None))

    def is_back(self, node: Node, edge: Edge) -> bool:
        """Whether the node mends what the edge comes from."""
        return edge.condition is not None and self.is_from_later(node, edge)

    def is_from_later(self, node: Node, edge: Edge) -> bool:
        """Whether the edge comes from a later phase."""
        source = self.nodes.get(edge.source)
        if source is None or not {source.phase, node.phase} <= self.phases.keys():
            return False
        return self.phases[source.phase] > self.phases[node.phase]

    def _links(self, node: Node) -> Iterator[Link]:
        for edge in node.depends_on:
            if edge.source in self.nodes:
                condition = None if edge.condition is None else _expression(edge.condition)
                yield Link(edge.source, node.name, condition, self.is_back(node, edge))


def of(workflow: Workflow) -> Definition:
    """The same one for the same object."""
    return _of(_Same(workflow))


def digest(workflow: Workflow) -> str:
    """What tells one definition from another. A field that a release adds changes no digest."""
    said = workflow.model_dump(mode="json", exclude_defaults=True)
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


class _Same:
    """A workflow that is told from others by being this object: its content is long."""

    def __init__(self, workflow: Workflow) -> None:
        self.workflow = workflow

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.workflow is other.workflow

    def __hash__(self) -> int:
        return id(self.workflow)


@lru_cache(maxsize=64)
def _of(same: _Same) -> Definition:
    return Definition(same.workflow)


def _deciding(condition: Expression | None, values: Values) -> Expression:
    """What is asked: the condition. Of a node that is not done, where that asks for its agent's
    word alone, whether it is done: the word of one whose work was rejected decides nothing."""
    if condition is None or (condition.takes_word and values.status != "done"):
        return _expression(_DONE)
    return condition


def _expression(text: str) -> Expression:
    """What another release took and this one does not never holds: no Plan of it can get stuck."""
    expression = parsed(text)
    if isinstance(expression, str):
        expression = parsed("false")
    assert isinstance(expression, Expression)
    return expression
