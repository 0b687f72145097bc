"""What is written for Mermaid: held against the part of its grammar that is used."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from bernstein.core.drawing import mermaid
from bernstein.core.drawing.labels import shown
from bernstein.core.drawing.model import Drawing, Edge, Group, Node
from bernstein.core.drawing.wiring import wired
from tests.unit.core.drawing.drawings import NASTY, WORDS, chain, drawings, largest

LABEL = r'"(?P<label>[^"]*)"'
NODE = re.compile(rf"(?P<id>n\d+)\[{LABEL}\]")
JOINT = re.compile(rf"(?P<id>j\d+)\(\[{LABEL}\]\)")
FRAME = re.compile(rf"subgraph (?P<id>g\d+)\[{LABEL}\]")
LINE = re.compile(rf"(?P<a>[nj]\d+) (?P<arrow>-->|==>|-\.->|-\.-)(\|{LABEL}\|)? (?P<b>[nj]\d+)")
CLASS = re.compile(r"class (?P<ids>n\d+(,n\d+)*) (?P<name>[a-z]+)")
CLASS_DEF = re.compile(r"classDef [a-z]+ [a-z0-9:,-]+")
CODE = re.compile(r"#(\d+);")
LOOSE = re.compile(r"(?:[\w ,()/.+='?\x80-\U0010ffff-]|<br>|#\d+;)*")

SMALL = """\
graph TD
    subgraph g0["group 0"]
        n1["node 0.0"]
        n2["node 0.1"]
    end
    subgraph g1["group 1"]
        n3["node 1.0"]
    end
    n1 ==> n3
    n2 --> n3
    classDef critical stroke-width:3px
    class n1,n3 critical
"""


def decoded(label: str) -> str:
    """As a viewer shows it."""
    assert LOOSE.fullmatch(label), label
    return CODE.sub(lambda found: chr(int(found[1])), label)


def one(title: str) -> str:
    """The label of a node."""
    found = NODE.fullmatch([*mermaid.rows(Drawing("", (Node("a", title),)))][1].strip())
    assert found is not None
    return found["label"]


def test_a_small_plan_is_drawn_as_people_write_it() -> None:
    assert "".join(f"{row}\n" for row in mermaid.rows(chain(2, 1))) == SMALL


def test_what_a_node_is_stands_below_its_title() -> None:
    node = Node("a", "Title", "qa", "30 min", "in progress", "running")

    told = "\n".join(mermaid.rows(Drawing("", (node,))))

    assert 'n1["Title<br>qa · 30 min · in progress"]' in told
    assert "class n1 running" in told


def test_a_loop_and_a_condition_are_seen() -> None:
    nodes = (Node("a", "a"), Node("b", "b"))
    edges = (Edge("a", "b", "status == 'failed'"), Edge("b", "a", is_loop=True))

    rows = [*mermaid.rows(Drawing("", nodes, (), edges))]

    assert rows[3:5] == ["    n1 -->|\"status == 'failed'\"| n2", "    n2 -.-> n1"]


def test_what_a_node_was_split_into_hangs_on_it_by_a_dotted_line() -> None:
    inner = Node("a.1.1", "inner", tone="running")
    node = Node("a", "whole", parts=(Node("a.1", "part", parts=(inner,)),))
    held = Drawing("", (node, Node("b", "next")), (Group("g", "g", ("a",)),), (Edge("g", "b"),))

    assert [row.strip() for row in mermaid.rows(held)][2:] == [
        'subgraph g1["g"]',
        'n1["whole"]',
        'n3["part"]',
        'n4["inner"]',
        "end",
        "n1 --> n2",
        "n1 -.- n3",
        "n3 -.- n4",
        "classDef running stroke:blue",
        "class n4 running",
    ]


@pytest.mark.parametrize("words", NASTY)
def test_no_words_mean_anything_to_mermaid(words: str) -> None:
    assert decoded(one(words)) == shown(words)


def test_a_note_of_nothing_but_signs_is_no_empty_comment() -> None:
    rows = [*mermaid.rows(Drawing("", (Node("a", "a"),), notes=("{",)))]

    assert rows[1] == "    %% (no words)"


@pytest.mark.parametrize("words", ["1. one", "12) two", "- three", "+ four", "see WWW.x"])
def test_words_that_would_be_a_list_or_a_link_are_none(words: str) -> None:
    """Of these a viewer says that it does not know them, in place of the words."""
    assert re.search(r"^\d+[.)]|^[-+]|www\.", one(words), re.IGNORECASE) is None


@given(WORDS)
def test_no_line_ends_with_what_mermaid_cuts_off(words: str) -> None:
    """Behind `style` and a colon it takes the last character of a line away."""
    assert ":" not in one(f"style {words}:x{words}")


@given(drawings())
def test_every_node_is_drawn_once_and_every_line_leads_to_one(drawing: Drawing) -> None:
    first, *rows = mermaid.rows(drawing)
    wiring = wired(drawing)
    ids, every = wiring.ids_in(drawing), [*drawing.every]
    by_id = {ids[node.id]: node for node in every}
    nodes: list[str] = []
    joints: list[str] = []
    lines: list[tuple[str, str]] = []
    depth = 0

    for row in map(str.strip, rows):
        if found := NODE.fullmatch(row):
            nodes.append(found["id"])
            node = by_id[found["id"]]
            assert decoded(found["label"]).startswith(shown(node.title))
        elif found := JOINT.fullmatch(row):
            joints.append(found["id"])
            decoded(found["label"])
        elif found := LINE.fullmatch(row):
            lines.append((found["a"], found["b"]))
            decoded(found["label"] or "")
        elif found := FRAME.fullmatch(row):
            depth += 1
            decoded(found["label"])
        elif row.startswith("%% "):
            assert re.fullmatch(r"%% [^%{}\n]*", row)
        elif row == "end":
            depth -= 1
        else:
            assert CLASS.fullmatch(row) or CLASS_DEF.fullmatch(row), row
        assert depth in (0, 1)

    assert (first, depth) == ("graph TD", 0)
    assert sorted(nodes) == sorted(f"n{n}" for n in range(1, len(every) + 1))
    assert joints == [f"j{n}" for n in range(1, len(wiring.joints) + 1)]
    parts = [(ids[node.id], ids[part.id]) for node in every for part in node.parts]
    assert lines == [*((ids[line.source], ids[line.target]) for line in wiring.lines), *parts]
    assert {end for line in lines for end in line} <= {*nodes, *joints}


def test_what_viewers_refuse_is_known() -> None:
    assert not mermaid.is_too_large([*mermaid.rows(chain(200, 250))])
    assert mermaid.is_too_large([*mermaid.rows(chain(250, 251))])
    assert mermaid.is_too_large([*mermaid.rows(Drawing("", (Node("a", "x" * 250),) * 200))])
    assert mermaid.is_too_large([*mermaid.rows(largest())])
    parts = tuple(Node(f"a.{n}", "") for n in range(501))
    assert mermaid.is_too_large([*mermaid.rows(Drawing("", (Node("a", "x", parts=parts),)))])
    assert not mermaid.is_too_large([*mermaid.rows(Drawing("", (Node("a", "", parts=parts[1:]),)))])
