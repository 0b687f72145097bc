"""Rows of the tables that tests are run with."""

from __future__ import annotations

import pytest

from tests.unit.checks.weakening.told import found

A, B = "tests/test_a.py", "src/a.test.ts"
PYTHON = """\
import pytest

def test_first():
    assert one()

@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, f(2, 3)),
        pytest.param(2, 3, id="more"),
        ("x, y", [4, 5]),
    ],
    ids=str,
)
def test_takes(a, b, n):
    assert take(a, b)
"""
SCRIPT = """\
describe.each([[1], [2]])('a %i', (n) => {
  it.each([
    [1, 2],
    [3, { b: 4 }],
  ])('adds %i', (a, b) => { expect(add(a)).toBe(b) })
  test.each`
    a    | b
    ${1} | ${2}
    ${3} | ${4}
  `('takes $a', ({ a, b }) => { expect(take(a)).toBe(b) })
})
"""


@pytest.mark.parametrize(
    ("gone", "instead", "left"),
    [
        ('        ("x, y", [4, 5]),\n', "", "5 of 6"),
        ('        pytest.param(2, 3, id="more"),\n', '        # (2, 3, "more"),\n', "5 of 6"),
        ("[1, 2, 3]", "[1]", "4 of 6"),
        ("[1, 2, 3]", "[\n    1,\n]", "4 of 6"),
        ("[1, 2, 3]", "ROWS", "3 of 6"),
        ("[1, 2, 3]", "list((1, 2, 3))", "3 of 6"),
    ],
)
def test_a_row_that_a_test_in_python_loses_is_told(gone: str, instead: str, left: str) -> None:
    assert gone in PYTHON

    assert found({A: PYTHON}, {A: PYTHON.replace(gone, instead)}) == [
        f"{A}: test_takes has {left} rows left"
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[1, 2, 3]", "(1, 2, 3,)"),
        ("[1, 2, 3]", "[3, 4, 5, 6]"),
        ("[1, 2, 3]", "[\n    1,\n    2,  # two, or more\n    3,\n]"),
        ('        ("x, y", [4, 5]),\n', '        ("x", [4]),\n'),
        ("ids=str", "ids=[1]"),
        ("def test_takes", "def test_takes_all"),
    ],
)
def test_rows_that_are_others_are_as_many(old: str, new: str) -> None:
    assert old in PYTHON

    assert found({A: PYTHON}, {A: PYTHON.replace(old, new)}) == []


def test_a_test_takes_its_rows_along() -> None:
    first, _, takes = PYTHON.partition("\n@")

    assert found({A: PYTHON}, {A: first, "tests/test_b.py": f"import pytest\n\n@{takes}"}) == []


def test_rows_beside_the_tests_are_counted_together() -> None:
    marks = 'pytestmark = pytest.mark.parametrize("m", [1, 2])\n'
    less = f"{marks.replace(', 2', '')}{PYTHON}"

    assert found({A: marks + PYTHON}, {A: less}) == [f"{A}: has 1 of 2 rows left beside its tests"]
    assert found({A: marks + PYTHON}, {A: PYTHON, "tests/test_b.py": marks}) == []


@pytest.mark.parametrize(
    ("gone", "instead", "told"),
    [
        ("    [3, { b: 4 }],\n", "", "it.each( has 1 of 2 rows left"),
        ("[\n    [1, 2],\n    [3, { b: 4 }],\n  ]", "ROWS", "it.each( has 0 of 2 rows left"),
        ("    ${3} | ${4}\n", "", "test.each( has 1 of 2 rows left"),
        ("[[1], [2]]", "[[1]]", "has 1 of 2 rows left beside its tests"),
    ],
)
def test_a_row_that_a_test_in_a_script_loses_is_told(gone: str, instead: str, told: str) -> None:
    assert gone in SCRIPT

    assert found({B: SCRIPT}, {B: SCRIPT.replace(gone, instead)}) == [f"{B}: {told}"]


def test_what_else_is_called_each_is_no_table() -> None:
    before = f"{SCRIPT}\nlist.each([1, 2, 3])\n_.each([1, 2])\n"

    assert found({B: before}, {B: SCRIPT}) == []
    assert found({B: SCRIPT}, {B: SCRIPT.replace("[3, {", "[5, {")}) == []
