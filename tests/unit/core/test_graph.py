"""Circles among stages and among Tasks."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.core.graph import circle, rings

RING = {"a": ("x", "b"), "b": ("c",), "c": ("a", "b"), "x": ()}


def test_a_circle_is_a_shortest_one_through_its_start() -> None:
    assert circle(RING, "a") == ("a", "b", "c", "a")
    assert circle(RING, "b") == ("b", "c", "b")
    assert circle(RING, "x") == ()
    assert circle({"a": ("a",)}, "a") == ("a", "a")
    assert circle({"a": ("gone",)}, "a") == ()


def test_names_that_keep_each_other_from_an_order_run_into_a_circle() -> None:
    knots = RING | {"y": ("x", "c"), "z": ("z",), "w": ("y", "gone")}

    found = rings(knots)

    assert set(found) == {"a", "b", "c", "z"}, "not what only waits for a circle"
    assert found["a"].circle is found["c"].circle
    for name, (ring, at) in found.items():
        assert ring[at] == name
        assert ring[(at + 1) % len(ring)] in knots[name]
    assert rings({"a": ("b", "c"), "b": ("c",), "c": ("gone",)}) == {}


class Counted(tuple[str, ...]):
    """Names that count how often one of them is looked at."""

    looks = 0

    def __iter__(self) -> Iterator[str]:
        for name in super().__iter__():
            Counted.looks += 1
            yield name


def test_every_edge_is_looked_at_once() -> None:
    number, edges = 300, 40
    ring = {str(n): Counted(str((n + k) % number) for k in range(edges)) for n in range(number)}
    order = {str(n): Counted(str(k) for k in range(max(0, n - edges), n)) for n in range(number)}

    for graph in (ring, order):
        Counted.looks = 0
        rings(graph)
        assert Counted.looks <= sum(map(len, graph.values()))
