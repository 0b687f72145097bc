"""A drawing in the language of Mermaid, which forges draw in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bernstein.core.drawing.labels import below, shown
from bernstein.core.drawing.model import Drawing, Node
from bernstein.core.drawing.wiring import Joint, Line, wired

MOST_LINES = 500
"""Lines between nodes that a viewer draws, unless it is configured otherwise."""
MOST_CHARACTERS = 50_000
"""Of a drawing, likewise."""

_STYLES = {
    "critical": "stroke-width:3px",
    "waiting": "stroke:gray",
    "running": "stroke:blue",
    "verifying": "stroke:teal",
    "done": "stroke:green",
    "failed": "stroke:red",
    "cancelled": "stroke:gray,stroke-dasharray:4",
}
_ARROW = re.compile(r" +[nj][0-9]+ (?:-->|==>|-\.->|-\.-)")
_UNSAFE = re.compile(r"[^\w ,()/.+='?\x80-\U0010ffff-]|_")
"""What could mean something in a label: quotes, entities, tags, Markdown, comments, icons."""
_DIRECTIVE = re.compile(r"[%{}]")
"""What could make a directive of a comment."""
_LIST_OR_LINK = re.compile(r"^[-+]|(?:^\d+|\bwww)[.)]", re.IGNORECASE)
"""Markdown all the same: what begins an item of a list, or an address."""


def rows(drawing: Drawing) -> Iterator[str]:
    """Line by line."""
    wiring = wired(drawing)
    ids = wiring.ids_in(drawing)
    yield "graph TD"
    yield from (f"    %% {shown(_DIRECTIVE.sub('', note))}" for note in drawing.notes)
    for number, (group, nodes) in enumerate(drawing.framed):
        families = [each for node in nodes for _, each in node.family]
        inside = [f"{ids[each.id]}[{_label(each)}]" for each in families]
        if group is None:
            yield from (f"    {row}" for row in inside)
            continue
        yield f"    subgraph g{number}[{_quoted(group.title)}]"
        yield from (f"        {row}" for row in inside)
        yield "    end"
    for joint in wiring.joints:
        yield f"    {_joint(ids[joint.id], joint)}"
    for line in wiring.lines:
        yield f"    {ids[line.source]} {_arrow(line)} {ids[line.target]}"
    for node in drawing.every:
        yield from (f"    {ids[node.id]} -.- {ids[part.id]}" for part in node.parts)
    yield from (f"    {row}" for row in _styled(drawing, ids))


def is_too_large(rows: Sequence[str]) -> bool:
    """Whether most viewers refuse to draw it."""
    arrows = sum(_ARROW.match(row) is not None for row in rows)
    return arrows > MOST_LINES or sum(map(len, rows)) + len(rows) > MOST_CHARACTERS


def _joint(id_: str, joint: Joint) -> str:
    title = f"all of {joint.title}" if joint.title else "all of these"
    return f"{id_}([{_quoted(title)}])"


def _label(node: Node) -> str:
    more = below(node)
    return _quoted(node.title, *([more] if more else []))


def _quoted(*parts: str) -> str:
    told = [_escaped(shown(part)) for part in parts]
    return f'"{"<br>".join(told)}"'


def _escaped(words: str) -> str:
    """Each as a character by its number, which is none of the language and none of Markdown."""
    safe = _UNSAFE.sub(lambda found: f"#{ord(found[0])};", words)
    return _LIST_OR_LINK.sub(lambda found: f"{found[0][:-1]}#{ord(found[0][-1])};", safe)


def _arrow(line: Line) -> str:
    arrow = "-.->" if line.is_loop else "==>" if line.is_critical else "-->"
    return f"{arrow}|{_quoted(line.label)}|" if line.label else arrow


def _styled(drawing: Drawing, ids: dict[str, str]) -> Iterator[str]:
    """Which nodes are on the critical path, and how each stands."""
    of_class: dict[str, list[str]] = {"critical": [ids[each] for each in drawing.critical]}
    for node in drawing.every:
        if node.tone:
            of_class.setdefault(node.tone, []).append(ids[node.id])
    for name, those in of_class.items():
        if those:
            yield f"classDef {name} {_STYLES[name]}"
            yield f"class {','.join(those)} {name}"
