"""Graphs of what depends on what: the stages of a plan, or Tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

Graph = Mapping[str, tuple[str, ...]]
"""For each name the names that come first."""

_STARTS = 40
"""How many members of a knot are searched from: as many as a Plan can have stages. A hostile file
with more would only be slow to judge."""


def dependencies(stages: Sequence[tuple[str, Sequence[str] | None]]) -> dict[str, tuple[str, ...]]:
    """The graph of `(name, depends_on)` in the plan's order; None: it depends on the one before."""
    graph: dict[str, tuple[str, ...]] = {}
    previous: str | None = None
    for name, declared in stages:
        implicit = () if previous is None else (previous,)
        graph[name] = implicit if declared is None else tuple(dict.fromkeys(declared))
        previous = name
    return graph


def cycles(graph: Graph) -> tuple[tuple[str, ...], ...]:
    """Circles such as `("a", "b", "a")`: a depends on b, b on a; empty when there is an order.

    A knot is a set of names that all depend on each other, directly or not. For each knot there is
    one shortest circle: few words that say where to cut. In the plan's order, the same each time.
    """
    shortest = []
    for knot in _knots(graph):
        members = frozenset(knot)
        within = {name: tuple(n for n in graph[name] if n in members) for name in knot}
        circles = (circle(within, start) for start in knot[:_STARTS])
        shortest.append(min(circles, key=len))
    return tuple(shortest)


def _knots(graph: Graph) -> list[list[str]]:
    """The strongly connected components that hold a circle."""
    visited: set[str] = set()
    finished = [
        name for start in graph if start not in visited for name in _reach(graph, start, visited)
    ]
    dependants: dict[str, list[str]] = {name: [] for name in graph}
    for name, upstream in graph.items():
        for other in upstream:
            if other in dependants:
                dependants[other].append(name)
    place = {name: index for index, name in enumerate(graph)}
    visited = set()
    knots = [
        sorted(_reach(dependants, start, visited), key=place.__getitem__)
        for start in reversed(finished)
        if start not in visited
    ]
    knots = [knot for knot in knots if len(knot) > 1 or knot[0] in graph[knot[0]]]
    return sorted(knots, key=lambda knot: place[knot[0]])


def _reach(graph: Mapping[str, Sequence[str]], start: str, visited: set[str]) -> list[str]:
    """The names that a depth-first search from `start` finds, in the order in which it leaves them.

    It does not enter those in `visited`, and adds what it finds to them.
    """
    visited.add(start)
    finished: list[str] = []
    pending = [(start, iter(graph[start]))]
    while pending:
        name, rest = pending[-1]
        following = next((n for n in rest if n in graph and n not in visited), None)
        if following is None:
            finished.append(name)
            pending.pop()
        else:
            visited.add(following)
            pending.append((following, iter(graph[following])))
    return finished


def circle(graph: Graph, start: str) -> tuple[str, ...]:
    """A shortest circle through `start`, such as `("a", "b", "a")`; empty when there is none."""
    came_from = {start: start}
    pending = deque([start])
    while pending:
        name = pending.popleft()
        upstream = graph.get(name, ())
        if start in upstream:
            path = [start, name]
            while path[-1] != start:
                path.append(came_from[path[-1]])
            return tuple(reversed(path))
        for following in upstream:
            if following not in came_from:
                came_from[following] = name
                pending.append(following)
    return ()


class Place(NamedTuple):
    """Where a name stands in a circle."""

    circle: tuple[str, ...]
    """Each depends on the next one, and the last one on the first. All in it share it."""
    at: int


def rings(graph: Graph) -> dict[str, Place]:
    """Circles, at least one wherever names keep each other from having an order; by name.

    Every edge is looked at once, however many names and circles there are: a name watches one of
    those that it depends on until that one has its place in the order, and then the next. Names
    without a place watch each other, so that the way from one to the next runs into a circle.
    """
    rest = {name: iter(upstream) for name, upstream in graph.items()}
    watched: dict[str, str] = {}
    watchers: dict[str, list[str]] = {}
    pending = list(reversed(rest))  # what was made first has its place first, mostly
    while pending:
        name = pending.pop()
        before = next((other for other in rest[name] if other in rest), None)
        if before is None:
            del rest[name]
            pending += watchers.pop(name, ())
        else:
            watched[name] = before
            watchers.setdefault(before, []).append(name)
    places: dict[str, Place] = {}
    passed: set[str] = set()
    for start in rest:
        way: dict[str, int] = {}
        name = start
        while name not in passed:
            passed.add(name)
            way[name] = len(way)
            name = watched[name]
        if name in way:
            ring = tuple(way)[way[name] :]
            places |= {member: Place(ring, at) for at, member in enumerate(ring)}
    return places


def critical_path(graph: Graph, weights: Mapping[str, int]) -> tuple[str, ...]:
    """The chain of names with the greatest sum of weights, beginning with what comes first.

    The graph must have no cycle.
    """
    best: dict[str, tuple[int, tuple[str, ...]]] = {}
    for name in _ordered(graph):
        upstream = (best[n] for n in graph[name] if n in best)
        total, chain = max(upstream, default=(0, ()), key=lambda entry: entry[0])
        best[name] = (total + weights.get(name, 0), (*chain, name))
    return max(best.values(), default=(0, ()), key=lambda entry: entry[0])[1]


def _ordered(graph: Graph) -> list[str]:
    """Every name after those that come first."""
    return [name for name in TopologicalSorter(graph).static_order() if name in graph]
