"""Circles among stages and among Tasks."""

from __future__ import annotations

from bernstein.core.graph import circle

RING = {"a": ("x", "b"), "b": ("c",), "c": ("a", "b"), "x": ()}


def test_a_circle_is_a_shortest_one_through_its_start() -> None:
    assert circle(RING, "a") == ("a", "b", "c", "a")
    assert circle(RING, "b") == ("b", "c", "b")
    assert circle(RING, "x") == ()
    assert circle({"a": ("a",)}, "a") == ("a", "a")
    assert circle({"a": ("gone",)}, "a") == ()


def test_a_search_ends_after_as_many_edges_as_it_may_see() -> None:
    chain = {f"n{n}": (f"n{(n + 1) % 100}",) for n in range(100)}

    assert len(circle(chain, "n0", 100)) == 101
    assert circle(chain, "n0", 50) == ()
