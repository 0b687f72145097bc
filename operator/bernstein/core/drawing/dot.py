"""A drawing in the language of Graphviz."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from bernstein.core.drawing.labels import below, shown
from bernstein.core.drawing.model import Drawing, Node
from bernstein.core.drawing.wiring import Joint, Line, wired

_COLUMNS = 36
"""Of a label, so that boxes are no ribbons."""
_COLUMNS_OF_ALL = 100
"""Of what stands above the whole."""
_COLOURS = {
    "waiting": "gray50",
    "running": "blue",
    "verifying": "darkcyan",
    "done": "forestgreen",
    "failed": "red",
    "cancelled": "gray50",
}
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})
"""What means something in a string, or in a label: a label knows entities of HTML."""


def rows(drawing: Drawing) -> Iterator[str]:
    """Line by line."""
    wiring = wired(drawing)
    ids = wiring.ids_in(drawing)
    critical = frozenset(drawing.critical)
    yield "digraph plan {"
    told = _quoted(drawing.title, *drawing.notes, columns=_COLUMNS_OF_ALL)
    yield f"    label={told}; labelloc=t; fontname=Helvetica;"
    yield "    node [shape=box, style=rounded, fontname=Helvetica];"
    yield "    edge [fontname=Helvetica];"
    for number, (group, nodes) in enumerate(drawing.framed):
        families = [each for node in nodes for _, each in node.family]
        inside = [f"{ids[n.id]} [{_node(n, is_critical=n.id in critical)}];" for n in families]
        if group is None:
            yield from (f"    {row}" for row in inside)
            continue
        yield f"    subgraph cluster_{number} {{"
        yield f"        label={_quoted(group.title)}; color=gray70;"
        yield from (f"        {row}" for row in inside)
        yield "    }"
    for joint in wiring.joints:
        yield f"    {ids[joint.id]} [{_joint(joint)}];"
    for line in wiring.lines:
        attributes = ", ".join(_attributes(line))
        told = f" [{attributes}]" if attributes else ""
        yield f"    {ids[line.source]} -> {ids[line.target]}{told};"
    for node in drawing.every:
        ends = (f"{ids[node.id]} -> {ids[part.id]}" for part in node.parts)
        yield from (f"    {each} [style=dotted, arrowhead=none];" for each in ends)
    yield "}"


def _node(node: Node, *, is_critical: bool) -> str:
    more = below(node)
    attributes = [f"label={_quoted(node.title, *([more] if more else []))}"]
    if node.tone:
        attributes.append(f"color={_COLOURS[node.tone]}")
    if node.tone == "cancelled":
        attributes.append('style="rounded,dashed"')
    if is_critical:
        attributes.append("penwidth=3")
    return ", ".join(attributes)


def _joint(joint: Joint) -> str:
    if not joint.title:
        return 'shape=point, label=""'
    return f"shape=plain, label={_quoted(f'all of {joint.title}')}"


def _attributes(line: Line) -> Iterator[str]:
    if line.label:
        yield f"label={_quoted(line.label)}"
    if line.is_loop:
        yield "style=dashed"
        yield "constraint=false"
    if line.is_critical:
        yield "penwidth=3"


def _quoted(*parts: str, columns: int = _COLUMNS) -> str:
    told = [row for part in parts for row in textwrap.wrap(shown(part), columns)]
    return '"' + "\\n".join(row.translate(_ESCAPED) for row in told) + '"'
