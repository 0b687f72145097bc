"""`ruff analyze graph`: imports between files, of which those count that lead back.

An import that is part of a cycle is a finding. So one more cycle is told by the imports that close
it, and a cycle that was there before may lose some.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from bernstein.checks.findings import Finding, NoListing
from bernstein.checks.outputs.document import document, relative
from bernstein.checks.outputs.import_scope import only_inside_functions
from bernstein.checks.renames import Content

MOST_IMPORTS = 2_000_000
RULE = "import-cycle"
_SHOWN = 5
_MOST_STEPS = 300_000
"""Imports that are followed to tell ways back; for those behind them it is not told."""

Graph = Mapping[str, Sequence[str]]


def _unknown(_path: str) -> bytes | None:
    return None


def findings(output: bytes, root: str, content: Content = _unknown) -> Iterator[Finding]:
    """Raises NoListing. Where there is no Python, ruff prints nothing.

    `content`: what the tree has at a path. Imports inside functions close no circle.
    """
    graph = _at_once(_graph(document(output) if output.strip() else {}, root), content)
    part = parts(graph)
    steps = _MOST_STEPS
    for importer, imported in graph.items():
        for module in imported:
            if module == importer or part[module] != part[importer]:
                continue
            back, steps = _way(graph, module, importer, steps)
            yield Finding(importer, 0, RULE, _shown(back), module)  # ruff tells no line


def _at_once(graph: Graph, content: Content) -> Graph:
    """The graph without imports that only functions make; those outside of circles may stay."""
    part = parts(graph)
    kept = dict(graph)
    for importer, imported in graph.items():
        back = [module for module in imported if part[module] == part[importer]]
        source = content(importer) if back else None
        if source is not None:
            later = only_inside_functions(importer, source, back)
            kept[importer] = [module for module in imported if module not in later]
    return kept


def _graph(listing: Mapping[str, object], root: str) -> dict[str, list[str]]:
    graph: dict[str, list[str]] = {}
    count = 0
    for path, imported in listing.items():
        if not isinstance(imported, list):
            raise NoListing("it is no graph of imports")
        count += len(imported)
        if count > MOST_IMPORTS:
            raise NoListing(f"there are over {MOST_IMPORTS} imports")
        graph[relative(path, root)] = [relative(each, root) for each in imported]
    for imported in [*graph.values()]:
        for each in imported:
            graph.setdefault(each, [])
    return graph


def parts(graph: Graph) -> dict[str, int]:
    """A number for each module; two have the same where each leads to the other (Tarjan)."""
    numbers: dict[str, int] = {}
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    for start in graph:
        if start in order:
            continue
        order[start] = low[start] = len(order)
        open_.append(start)
        work = [(start, iter(graph[start]))]
        while work:
            at, rest = work[-1]
            following = next((to for to in rest if to not in numbers), None)
            if following is None:
                work.pop()
                if work:
                    before = work[-1][0]
                    low[before] = min(low[before], low[at])
                if low[at] == order[at]:
                    while open_[-1] != at:
                        numbers[open_.pop()] = order[at]
                    numbers[open_.pop()] = order[at]
            elif following in order:
                low[at] = min(low[at], order[following])
            else:
                order[following] = low[following] = len(order)
                open_.append(following)
                work.append((following, iter(graph[following])))
    return numbers


def _way(graph: Graph, start: str, end: str, steps: int) -> tuple[tuple[str, ...], int]:
    """The shortest way between two that lead to each other, and what is left of the steps; no way
    once there are none."""
    before = {start: start}
    pending = deque([start])
    while pending and end not in before:
        at = pending.popleft()
        steps -= len(graph[at])
        if steps < 0:
            return (), 0
        for to in graph[at]:
            if to not in before:
                before[to] = at
                pending.append(to)
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return tuple(reversed(way)), steps


def _shown(back: Sequence[str]) -> str:
    if not back:
        return ""
    shown = back if len(back) <= _SHOWN else (*back[: _SHOWN - 1], "...", back[-1])
    return "which leads back: " + " -> ".join(shown)
