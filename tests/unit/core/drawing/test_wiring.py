"""Which lines are drawn for edges between groups."""

from __future__ import annotations

from hypothesis import given

from bernstein.core.drawing.model import Drawing, Edge, Group
from bernstein.core.drawing.wiring import Wiring, wired
from tests.unit.core.drawing.drawings import chain, drawings, largest


def pairs(wiring: Wiring) -> list[tuple[str, str]]:
    return [(line.source, line.target) for line in wiring.lines]


def reached(drawing: Drawing) -> set[tuple[str, str]]:
    """The nodes that lines lead from and to, by way of joints."""
    wiring = wired(drawing)
    onward: dict[str, set[str]] = {}
    for source, target in pairs(wiring):
        onward.setdefault(source, set()).add(target)
    nodes = {node.id for node in drawing.nodes}

    def ends(name: str) -> set[str]:
        return {name} if name in nodes else set().union(*map(ends, onward.get(name, ())))

    return {
        (node, end) for node in nodes for target in onward.get(node, ()) for end in ends(target)
    }


def test_between_a_few_steps_there_is_a_line_from_each_to_each_other() -> None:
    wiring = wired(chain(2, 3, 2))

    assert wiring.joints == ()
    assert len(wiring.lines) == 2 * 3 + 3 * 2


def test_between_many_they_meet() -> None:
    wiring = wired(chain(5, 5))

    (joint,) = wiring.joints
    assert joint.title == "group 0"
    assert pairs(wiring) == [
        *((f"n0.{n}", joint.id) for n in range(5)),
        *((joint.id, f"n1.{n}") for n in range(5)),
    ]


def test_what_waits_for_several_groups_waits_at_a_joint_of_its_own() -> None:
    parts = chain(3, 3, 5)
    edges = (Edge("g0", "g2"), Edge("g1", "g2"))

    wiring = wired(Drawing("", parts.nodes, parts.groups, edges))

    assert [joint.title for joint in wiring.joints] == ["group 0", "group 1", ""]
    assert len(wiring.lines) == 3 + 3 + 2 + 5


def test_a_group_that_is_not_drawn_has_lines_all_the_same() -> None:
    parts = chain(4, 1)
    repository = Group("r", "the repository", ("n0.1", "n0.3"), framed=False)
    edges = (Edge("r", "n1.0"),)

    wiring = wired(Drawing("", parts.nodes, (*parts.groups, repository), edges))

    assert pairs(wiring) == [("n0.1", "n1.0"), ("n0.3", "n1.0")]


def test_the_critical_path_goes_from_node_to_node_and_through_joints() -> None:
    few, many = wired(chain(2, 2)), wired(chain(5, 5))

    assert [pair for pair, line in zip(pairs(few), few.lines, strict=True) if line.is_critical] == [
        ("n0.0", "n1.0")
    ]
    ends = [(line.source, line.target) for line in many.lines if line.is_critical]
    assert ends == [("n0.0", "behind g0"), ("behind g0", "n1.0")]


def test_a_shorter_way_between_two_nodes_of_the_critical_path_is_not_on_it() -> None:
    parts = chain(1, 1, 1)
    edges = (*parts.edges, Edge("g0", "g2"))

    wiring = wired(Drawing("", parts.nodes, parts.groups, edges, parts.critical))

    assert [(line.source, line.target) for line in wiring.lines if line.is_critical] == [
        ("n0.0", "n1.0"),
        ("n1.0", "n2.0"),
    ]


def test_of_the_largest_plan_there_are_some_lines_for_each_step_and_dependency() -> None:
    drawing = largest()

    assert len(wired(drawing).lines) <= 2 * len(drawing.nodes) + len(drawing.edges)


@given(drawings())
def test_lines_lead_from_each_node_of_an_edge_to_each_other_and_nowhere_else(
    drawing: Drawing,
) -> None:
    members = drawing.members
    meant = {
        (a, b) for edge in drawing.edges for a in members[edge.source] for b in members[edge.target]
    }

    assert meant == reached(drawing)


@given(drawings())
def test_lines_are_no_more_than_nodes_in_groups_and_edges_ask_for(drawing: Drawing) -> None:
    wiring = wired(drawing)
    inside = sum(len(members) for members in drawing.members.values())
    ends = [*(node.id for node in drawing.nodes), *(joint.id for joint in wiring.joints)]

    assert len(wiring.lines) <= 2 * (inside + len(drawing.edges)) + 5 * len(drawing.members)
    assert {end for pair in pairs(wiring) for end in pair} <= set(ends)
    assert len(set(ends)) == len(ends)
