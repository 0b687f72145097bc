"""Drawings as text, on terminals of all widths and in pipes."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bernstein.cli.output import drawing as drawings
from bernstein.core.drawing.labels import shown
from bernstein.core.drawing.model import Drawing, Edge, Group, Node
from tests.unit.cli.scenes import terminal
from tests.unit.core.drawing import drawings as examples

PATH = """\
limits

  design
┃ ✓  Pick an algorithm that suits what the gatew…  architect-of-ga…  1 h 05 min  closed
  ●  Document the keys                             docs                  30 min  in progress

  implement, after design
┃ ○  Add the middleware                            backend               30 min  open
"""
LOOP = """\
ci

  build
┃  1  run                              qa       30 min

  verify
┃  2  test                             qa       30 min
        after 1
        again after 3
   3  fix                              backend  30 min
        after 2 if status == 'failed'
"""


def told(drawing: Drawing, *, width: int = 92, tty: bool = True) -> list[str]:
    found, console = terminal(width=width, tty=tty)
    drawings.tell(found, drawing)
    return [row.rstrip() for row in console.export_text().splitlines()]


def small() -> Drawing:
    title = "Pick an algorithm that suits what the gateways see at their peak"
    nodes = (
        Node("a", title, "architect-of-gateways", "1 h 05 min", "closed", "done"),
        Node("b", "Document the keys", "docs", "30 min", "in progress", "running"),
        Node("c", "Add the middleware", "backend", "30 min", "open", "waiting"),
    )
    groups = (Group("1", "design", ("a", "b")), Group("2", "implement", ("c",)))
    return Drawing("limits", nodes, groups, (Edge("1", "2"),), ("a", "c"))


def test_steps_stand_below_their_stage_with_role_minutes_and_state() -> None:
    assert "".join(f"{row}\n" for row in told(small())) == PATH


def test_a_pipe_gets_all_of_every_title() -> None:
    rows = told(small(), tty=False, width=10_000)

    assert f"┃ ✓  {small().nodes[0].title}  architect-of-gateways  1 h 05 min  closed" in rows


def test_a_loop_and_a_condition_are_told_by_number() -> None:
    nodes = (
        Node("a", "run", "qa", "30 min"),
        Node("b", "test", "qa", "30 min"),
        Node("c", "fix", "backend", "30 min"),
    )
    groups = (Group("1", "build", ("a",)), Group("2", "verify", ("b", "c")))
    edges = (
        Edge("a", "b"),
        Edge("b", "c", "status == 'failed'"),
        Edge("c", "b", is_loop=True),
    )

    rows = told(Drawing("ci", nodes, groups, edges, ("a", "b")), tty=False, width=10_000)

    assert "".join(f"{row}\n" for row in rows) == LOOP


def test_the_critical_path_is_told_by_stages_once_each() -> None:
    drawing = small()
    alone = Drawing("", drawing.nodes, (drawing.groups[0],), (), ("a", "b", "c"))

    assert drawings.critical_titles(drawing) == ["design", "implement"]
    assert drawings.critical_titles(alone) == ["design", "Add the middleware"]


@pytest.mark.parametrize("tty", [True, False])
@given(drawing=examples.drawings(), width=st.sampled_from([60, 80, 200]))
def test_every_node_has_its_row_once_and_no_row_is_wider_than_the_terminal(
    tty: bool, drawing: Drawing, width: int
) -> None:
    rows = told(drawing, width=width if tty else 10_000, tty=tty)

    assert "\x1b" not in "".join(rows)
    if tty:
        assert max(map(cell_len, rows)) <= width
        return
    for title, times in Counter(shown(node.title) for node in drawing.nodes).items():
        alone = re.compile(rf"(?:^|  ){re.escape(title)}(?:  |$)")
        assert sum(alone.search(row) is not None for row in rows) >= times


def test_the_largest_plan_has_a_row_for_each_step() -> None:
    rows = told(examples.largest(), tty=False, width=10_000)

    assert len(rows) == 1 + 40 * 2 + 2000
