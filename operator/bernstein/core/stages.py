"""The graph of a plan's stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

Graph = Mapping[str, tuple[str, ...]]
"""For each stage the stages that come first."""


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

    One for every edge that leads back in a depth-first search, so that each circle contains at
    least one of them and a plan of n stages does not give 2^n of them.
    """
    found: list[tuple[str, ...]] = []
    finished: set[str] = set()
    for start in graph:
        if start in finished:
            continue
        path = [start]
        position = {start: 0}
        pending = [iter(graph[start])]
        while pending:
            following = next((n for n in pending[-1] if n in graph and n not in finished), None)
            if following is None:
                pending.pop()
                finished.add(path[-1])
                del position[path.pop()]
            elif following in position:
                found.append((*path[position[following] :], following))
            else:
                position[following] = len(path)
                path.append(following)
                pending.append(iter(graph[following]))
    return tuple(found)


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
