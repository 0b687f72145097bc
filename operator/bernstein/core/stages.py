"""The graph of a plan's stages."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

Graph = Mapping[str, tuple[str, ...]]
"""For each stage the stages that come first."""

_STARTS = 40
"""As many stages as a Plan can have: searching from more would only make hostile files slow."""


def dependencies(stages: Sequence[tuple[str, Sequence[str] | None]]) -> dict[str, tuple[str, ...]]:
    """The graph of `(name, depends_on)` in the plan's order; None means the stage before."""
    graph: dict[str, tuple[str, ...]] = {}
    previous: str | None = None
    for name, declared in stages:
        implicit = () if previous is None else (previous,)
        graph[name] = implicit if declared is None else tuple(dict.fromkeys(declared))
        previous = name
    return graph


def cycles(graph: Graph) -> tuple[tuple[str, ...], ...]:
    """Circles such as `("a", "b", "a")`: a depends on b, b on a; empty when there is an order.

    One for every knot, that is for stages that all depend on each other: a shortest one, so that
    few words say where to cut. In the plan's order, and the same ones each time.
    """
    found = []
    for knot in _knots(graph):
        members = frozenset(knot)
        within = {name: tuple(n for n in graph[name] if n in members) for name in knot}
        circles = (circle(within, start) for start in knot[:_STARTS])
        found.append(min(circles, key=len))
    return tuple(found)


def _knots(graph: Graph) -> list[list[str]]:
    """The strongly connected components that hold a circle."""
    seen: set[str] = set()
    finished = [name for start in graph if start not in seen for name in _reach(graph, start, seen)]
    dependants: dict[str, list[str]] = {name: [] for name in graph}
    for name, upstream in graph.items():
        for other in upstream:
            if other in dependants:
                dependants[other].append(name)
    place = {name: index for index, name in enumerate(graph)}
    seen = set()
    knots = [
        sorted(_reach(dependants, start, seen), key=place.__getitem__)
        for start in reversed(finished)
        if start not in seen
    ]
    knots = [knot for knot in knots if len(knot) > 1 or knot[0] in graph[knot[0]]]
    return sorted(knots, key=lambda knot: place[knot[0]])


def _reach(graph: Mapping[str, Sequence[str]], start: str, seen: set[str]) -> list[str]:
    """What is reached from there and not seen before, in the order in which a search is done."""
    seen.add(start)
    done: list[str] = []
    pending = [(start, iter(graph[start]))]
    while pending:
        name, rest = pending[-1]
        following = next((n for n in rest if n in graph and n not in seen), None)
        if following is None:
            done.append(name)
            pending.pop()
        else:
            seen.add(following)
            pending.append((following, iter(graph[following])))
    return done


def circle(graph: Graph, start: str, edges: int | None = None) -> tuple[str, ...]:
    """A shortest circle through `start`, such as `("a", "b", "a")`; empty when there is none, or
    none among the first so many `edges`."""
    came_from = {start: start}
    pending = deque([start])
    while pending and (edges is None or edges > 0):
        name = pending.popleft()
        upstream = graph.get(name, ())
        edges = edges - len(upstream) if edges is not None else None
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


def critical_path(graph: Graph, weights: Mapping[str, int]) -> tuple[str, ...]:
    """The chain of stages with the greatest sum of weights, first one first.

    The graph must have no cycle.
    """
    best: dict[str, tuple[int, tuple[str, ...]]] = {}
    for name in _ordered(graph):
        upstream = (best[n] for n in graph[name] if n in best)
        total, chain = max(upstream, default=(0, ()), key=lambda entry: entry[0])
        best[name] = (total + weights.get(name, 0), (*chain, name))
    return max(best.values(), default=(0, ()), key=lambda entry: entry[0])[1]


def _ordered(graph: Graph) -> list[str]:
    return [name for name in TopologicalSorter(graph).static_order() if name in graph]
