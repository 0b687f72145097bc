"""What is wrong with the graph of a workflow: all of it at once, with its places in the file.

The messages are written to stand after their place. What the schema refuses is not judged here, and
neither is what a node says of its work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from bernstein.api.plans.workflow import Edge, Node, Workflow
from bernstein.core import graph
from bernstein.core.plans.field_errors import did_you_mean, quoted, words
from bernstein.core.plans.workflows.definition import Definition, Link
from bernstein.core.plans.workflows.expressions import parsed

MOST_RUNS_OF_ALL = 500
"""As many Tasks as a Plan can have."""


def problems(workflow: Workflow) -> Iterator[tuple[str, str]]:
    """(place, message) of each problem; the place is that of the file form."""
    yield from _duplicates(workflow)
    definition = Definition(workflow)
    for node in workflow.nodes:
        yield from _of_node(definition, node)
    yield from _cycles(definition)
    runs = sum(map(definition.most_runs, definition.nodes))
    if runs > MOST_RUNS_OF_ALL:
        yield "nodes", f"can come to {runs} runs, at most {MOST_RUNS_OF_ALL} are possible"


def _duplicates(workflow: Workflow) -> Iterator[tuple[str, str]]:
    counts: Counter[str] = Counter()
    for place, phase in enumerate(workflow.phases):
        counts[phase.name] += 1
        if counts[phase.name] == 2:
            yield f"phases[{place}].name", f"Duplicate phase name: {quoted(phase.name)}"
    for name, number in Counter(node.name for node in workflow.nodes).items():
        if number > 1:
            yield f"nodes.{name}", f"Duplicate node name: {quoted(name)}"


def _of_node(definition: Definition, node: Node) -> Iterator[tuple[str, str]]:
    path = f"nodes.{node.name}"
    place = definition.phases.get(node.phase)
    if place is None:
        hint = did_you_mean(node.phase, definition.phases)
        yield f"{path}.phase", f"unknown phase {quoted(node.phase)}{hint}"
    else:
        allowed = definition.workflow.phases[place].allowed_roles
        if allowed and node.role not in allowed:
            message = f"{quoted(node.role)} is not allowed in phase {quoted(node.phase)}"
            yield f"{path}.role", f"{message}, must be one of {words(allowed)}"
    seen: set[str] = set()
    for index, edge in enumerate(node.depends_on):
        yield from _of_edge(definition, node, edge, f"{path}.depends_on[{index}]")
        if edge.source in seen:
            message = f"depends on {quoted(edge.source)} before, join the conditions with 'or'"
            yield f"{path}.depends_on[{index}]", message
        seen.add(edge.source)
    yield from _of_loop(definition, node, path)


def _of_edge(
    definition: Definition, node: Node, edge: Edge, path: str
) -> Iterator[tuple[str, str]]:
    if edge.source == node.name:
        yield path, "a node cannot depend on itself, 'retry' has it run again"
    elif edge.source not in definition.nodes:
        hint = did_you_mean(edge.source, definition.nodes)
        yield path, f"depends on unknown node {quoted(edge.source)}{hint}"
    elif edge.condition is None and definition.is_from_later(node, edge):
        phase = definition.nodes[edge.source].phase
        yield (
            path,
            f"{quoted(edge.source)} is in the later phase {quoted(phase)}: to go back from "
            "there needs a condition",
        )
    if edge.condition is not None:
        yield from _of_expression(f"{path}.condition", edge.condition)


def _of_expression(path: str, text: str) -> Iterator[tuple[str, str]]:
    problem = parsed(text)
    if isinstance(problem, str):
        yield path, problem


def _of_loop(definition: Definition, node: Node, path: str) -> Iterator[tuple[str, str]]:
    if node.retry is not None:
        yield from _of_expression(f"{path}.retry.until", node.retry.until)
    back = [edge.source for edge in node.depends_on if definition.is_back(node, edge)]
    back = list(dict.fromkeys(back))
    goes_back_from = {link.source for link in definition.into[node.name] if link.is_back}
    if len(back) > 1:
        names = " and ".join(map(quoted, back))
        yield f"{path}.depends_on", f"goes back from {names}, and can mend only one of them"
    if back and node.join == "any":
        yield f"{path}.join", "'any' is not possible for a node that goes back to mend another one"
    for link in definition.into[node.name]:
        yield from _of_mender(definition, link, f"{path}.depends_on")
    for source in goes_back_from:
        mended = definition.nodes[source]
        if any(definition.is_back(mended, edge) for edge in mended.depends_on):
            message = f"goes back from {quoted(source)}, which goes back itself"
            yield f"{path}.depends_on", f"{message}: loops cannot lie in each other"
    if node.name in definition.loops and node.retry is not None and not back:
        mending = " and ".join(quoted(link.target) for link in definition.loops[node.name])
        message = f"it runs again when {mending} has mended it, and not by itself"
        yield f"{path}.retry", message


def _of_mender(definition: Definition, link: Link, path: str) -> Iterator[tuple[str, str]]:
    mended = _of_same_loop(definition, link)
    if mended == link.target:
        yield (
            path,
            f"{quoted(link.source)} mends this node, which runs again after it by itself",
        )
    elif mended is not None:
        yield (
            path,
            f"{quoted(link.source)} mends {quoted(mended)}, too: neither waits for the other",
        )


def _of_same_loop(definition: Definition, link: Link) -> str | None:
    """What the source mends, where the target is of the same loop."""
    mended = definition.mends.get(link.source)
    same = mended is not None and mended in (link.target, definition.mends.get(link.target))
    return mended if same and link.source != link.target else None


def _cycles(definition: Definition) -> Iterator[tuple[str, str]]:
    """Circles of nodes that wait for each other; a loop by itself is none.

    Who depends on a node that mends waits for the end of the loop, and the loop waits for all that
    those that mend depend on.
    """
    before: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in definition.nodes}
    for links in definition.into.values():
        for link in links:
            if link.is_back or link.source == link.target or _of_same_loop(definition, link):
                continue  # it is no circle, or is named with more words
            for one, whose in _of_its_loop(definition, link.target):
                for other, why in _of_its_loop(definition, link.source):
                    whys = (*whose, *why)
                    known = before[one].get(other)
                    before[one][other] = whys if known is None else min(known, whys, key=len)
    for cycle in graph.cycles({name: tuple(sources) for name, sources in before.items()}):
        mending = [why for one, other in pairwise(cycle) for why in before[one][other]]
        because = f", where {' and '.join(dict.fromkeys(mending))}" if mending else ""
        yield f"nodes.{cycle[0]}.depends_on", f"Cycle detected: {' -> '.join(cycle)}{because}"


def _of_its_loop(definition: Definition, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The node, and what it mends: with why the two go together."""
    yield name, ()
    if name in definition.mends:
        mended = definition.mends[name]
        yield mended, (f"{quoted(name)} mends {quoted(mended)}",)
