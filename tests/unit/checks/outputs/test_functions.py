"""Functions that were measured, known again under another name."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bernstein.checks.outputs.functions import under_new_names

BODY = "    data = load()\n    result = benchmark(work, data)\n    assert result\n"


def code(name: str, body: str = BODY) -> str:
    return f"def {name}(benchmark) -> None:\n{body}\n\n"


def renamed(before: str, after: str, was: Mapping[str, float], now: list[str]) -> dict[str, float]:
    trees = ({"a.py": before.encode()}, {"a.py": after.encode()})
    return dict(under_new_names(was, now, trees[0].get, trees[1].get))


def test_a_function_with_half_of_its_lines_is_the_same_one() -> None:
    after = code("test_new", BODY + "    assert result > 1\n")

    found = renamed(code("test_old"), after, {"a.py::test_old": 1}, ["a.py::test_new"])

    assert found == {"a.py::test_new": 1}


def test_each_of_several_is_known_by_its_own_lines() -> None:
    other = "    benchmark(other)\n"
    before = code("test_a") + code("test_b", other)
    after = code("test_c", other) + code("test_d")

    found = renamed(
        before, after, {"a.py::test_a": 1, "a.py::test_b": 2}, ["a.py::test_c", "a.py::test_d"]
    )

    assert found == {"a.py::test_d": 1, "a.py::test_c": 2}


def test_its_parameters_are_the_same_ones() -> None:
    was = {"a.py::test_old[1]": 1.0, "a.py::test_old[2]": 2.0}

    found = renamed(code("test_old"), code("test_new"), was, ["a.py::test_new[2]"])

    assert found == {"a.py::test_old[1]": 1, "a.py::test_new[2]": 2}


def test_a_method_may_move_into_a_class() -> None:
    inside = "class TestAll:\n" + "".join(f"    {line}\n" for line in code("test_it").split("\n"))
    now = ["a.py::TestAll::test_it"]

    assert renamed(code("test_it"), inside, {"a.py::test_it": 1}, now) == {now[0]: 1}


@pytest.mark.parametrize(
    ("after", "now"),
    [
        (code("test_new", "    benchmark(nothing)\n"), ["a.py::test_new"]),
        (code("test_old") + code("test_new"), ["a.py::test_new", "a.py::test_old"]),
        (code("test_new"), ["b.py::test_new"]),
        ("no python (", ["a.py::test_new"]),
        ("", []),
    ],
    ids=["other lines", "still there", "another file", "no python", "nothing"],
)
def test_another_function_is_another_one(after: str, now: list[str]) -> None:
    assert renamed(code("test_old"), after, {"a.py::test_old": 1}, now) == {"a.py::test_old": 1}
