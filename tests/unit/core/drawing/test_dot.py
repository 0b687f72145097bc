"""What is written for Graphviz: held against the part of its grammar that is used."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest
from hypothesis import given

from bernstein.core.drawing import dot
from bernstein.core.drawing.labels import shown
from bernstein.core.drawing.model import Drawing, Edge, Group, Node
from bernstein.core.drawing.wiring import wired
from tests.unit.core.drawing.drawings import NASTY, chain, drawings, largest

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|->|[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[{}\[\]=;,]|\s+')
ESCAPE = re.compile(r'\\(["\\n])')
SMALL = """\
digraph plan {
    label="chain"; labelloc=t; fontname=Helvetica;
    node [shape=box, style=rounded, fontname=Helvetica];
    edge [fontname=Helvetica];
    subgraph cluster_0 {
        label="group 0"; color=gray70;
        n1 [label="node 0.0", penwidth=3];
        n2 [label="node 0.1"];
    }
    subgraph cluster_1 {
        label="group 1"; color=gray70;
        n3 [label="node 1.0", penwidth=3];
    }
    n1 -> n3 [penwidth=3];
    n2 -> n3;
}
"""


def tokens(text: str) -> list[str]:
    """Fails where there is anything else between them."""
    found, place = [], 0
    while place < len(text):
        token = TOKEN.match(text, place)
        assert token is not None, text[place : place + 20]
        place = token.end()
        found.append(token[0])
    return [token for token in found if token.strip()]


def statements(text: str) -> Iterator[list[str]]:
    """Those within the outermost braces; braces of frames are balanced and stand alone."""
    name, graph, opened, *rest, closed = tokens(text)
    assert (name, graph, opened, closed) == ("digraph", "plan", "{", "}")
    depth, current = 0, list[str]()
    for token in rest:
        if token == "{":
            assert current[0] == "subgraph"
            depth, current = depth + 1, []
        elif token == "}":
            assert not current
            depth -= 1
        elif token == ";":
            yield current
            current = []
        else:
            current.append(token)
        assert depth in (0, 1)
    assert not current
    assert depth == 0


def read(label: str) -> str:
    """As it is shown; lines that were broken are one."""
    inner = label[1:-1]
    assert "\\" not in ESCAPE.sub("", inner)
    return html.unescape(ESCAPE.sub(lambda found: found[1].replace("n", " "), inner))


def attributes(statement: list[str]) -> dict[str, str]:
    if "[" not in statement:
        return {}
    opened = statement.index("[")
    inside = statement[opened + 1 : -1]
    assert statement[-1] == "]"
    assert all(sign in ",=" for sign in inside[1::2])
    return dict(zip(inside[::4], inside[2::4], strict=True))


def test_a_small_plan_is_drawn() -> None:
    assert "".join(f"{row}\n" for row in dot.rows(chain(2, 1))) == SMALL


def test_a_loop_a_condition_and_how_a_node_stands_are_seen() -> None:
    nodes = (Node("a", "a", "qa", "30 min", "failed", "failed"), Node("b", "b", tone="cancelled"))
    edges = (Edge("a", "b", "no"), Edge("b", "a", is_loop=True))

    rows = [row.strip() for row in dot.rows(Drawing("", nodes, (), edges))]

    assert 'n1 [label="a\\nqa · 30 min · failed", color=red];' in rows
    assert 'n2 [label="b", color=gray50, style="rounded,dashed"];' in rows
    assert 'n1 -> n2 [label="no"];' in rows
    assert "n2 -> n1 [style=dashed, constraint=false];" in rows


def test_what_a_node_was_split_into_stands_in_its_frame_and_hangs_on_it() -> None:
    node = Node("a", "whole", parts=(Node("a.1", "part", tone="done"),))

    rows = [row.strip() for row in dot.rows(Drawing("", (node,), (Group("g", "g", ("a",)),)))]

    assert rows[4:] == [
        "subgraph cluster_0 {",
        'label="g"; color=gray70;',
        'n1 [label="whole"];',
        'n2 [label="part", color=forestgreen];',
        "}",
        "n1 -> n2 [style=dotted, arrowhead=none];",
        "}",
    ]


@pytest.mark.parametrize("words", NASTY)
def test_no_words_mean_anything_to_graphviz(words: str) -> None:
    (found,) = (s for s in statements(_text(Drawing("", (Node("a", words),)))) if s[0] == "n1")

    assert read(attributes(found)["label"]) == shown(words)


def _text(drawing: Drawing) -> str:
    return "\n".join(dot.rows(drawing))


@given(drawings())
def test_every_node_is_drawn_once_and_every_line_leads_to_one(drawing: Drawing) -> None:
    wiring = wired(drawing)
    declared: list[str] = []
    lines: list[tuple[str, str]] = []

    for statement in statements(_text(drawing)):
        found = attributes(statement)
        if "->" in statement:
            lines.append((statement[0], statement[2]))
        elif re.fullmatch(r"[nj]\d+", statement[0]):
            declared.append(statement[0])
        if "label" in found:
            read(found["label"])

    ids, every = wiring.ids_in(drawing), [*drawing.every]
    nodes = [f"n{n}" for n in range(1, len(every) + 1)]
    joints = [f"j{n}" for n in range(1, len(wiring.joints) + 1)]
    assert sorted(declared) == sorted((*nodes, *joints))
    parts = [(ids[node.id], ids[part.id]) for node in every for part in node.parts]
    assert lines == [*((ids[line.source], ids[line.target]) for line in wiring.lines), *parts]


def test_the_largest_plan_has_some_lines_for_each_step_and_dependency() -> None:
    drawing = largest()

    assert len([*dot.rows(drawing)]) < 4 * len(drawing.nodes)
