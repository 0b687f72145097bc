"""A test that ends before its assertions, told by its text."""

from __future__ import annotations

import pytest

from tests.unit.checks.weakening.told import found

A = "tests/test_a.py"
TEST = """\
def test_adds(
    one,
):
    "What it adds."
    assert add(
one) == 3
    assert add(0, 0) == 0

def helper():
    return 1
"""


def after(text: str, before: str = TEST) -> list[str]:
    return found({A: before}, {A: text})


@pytest.mark.parametrize(
    "text",
    [
        TEST.replace("):\n", "):\n    return\n", 1),
        TEST.replace("):\n", "):\n    yield\n", 1),
        TEST.replace("):\n", "):\n    return None  # later\n", 1),
        TEST.replace('adds."\n', 'adds."; return\n'),
        TEST.replace("    assert add(0", "    if one:\n        return\n    assert add(0"),
        TEST.replace("    assert add(0", "    if False: yield\n    assert add(0"),
        TEST.replace("):\n", "):\n    x = \\\n1\n    return\n", 1),
        TEST.replace("):\n", "):\n    def f(a):\n        return a\n    return\n", 1),
        TEST.replace("):\n", "):\n# a comment\n\n    return\n", 1),
        TEST.replace("):\n", "):\r\n    return\r\n", 1),
        TEST.replace("one,\n):", "one,\n): return;", 1),
        TEST.replace("    ", "\t").replace("):\n", "):\n\treturn\n", 1),
    ],
)
def test_one_that_returns_or_yields_ends_early(text: str) -> None:
    assert text != TEST
    assert after(text) == [f"{A}: test_adds is marked as one to skip, or ends early"]


@pytest.mark.parametrize(
    "text",
    [
        TEST.replace("return 1", "if one:\n        return 2\n    return 1"),
        TEST + "\n@pytest.fixture\ndef one():\n    yield 1\n",
        TEST.replace("):\n", "):\n    def f(a):\n        yield a\n        return\n", 1),
        TEST.replace("):\n", "):\n    class A:\n        def f(self): return 1\n", 1),
        TEST.replace("one) == 3", "one) == returned"),
        TEST.replace("What it adds.", "return"),
    ],
)
def test_what_is_beside_it_or_in_a_function_of_its_own_may_return(text: str) -> None:
    assert text != TEST
    assert after(text) == []


def test_one_that_ended_early_before_may_go_on_to() -> None:
    early = TEST.replace("):\n", "):\n    return\n", 1)

    assert after(early, early) == []
    assert after(TEST, early) == []


def test_one_that_becomes_async_is_told_unless_others_were() -> None:
    becomes = TEST.replace("def test_adds", "async def test_adds")
    other = "\nasync def test_waits():\n    assert await wait()\n"

    assert after(becomes) == [f"{A}: test_adds becomes async: pytest runs none without a plugin"]
    assert after(becomes, becomes) == []
    assert after(TEST, becomes) == []
    assert after(becomes + other) != []
    assert after(becomes + other, TEST + other) == []


def test_a_bracket_that_nobody_closes_hides_no_test_behind_it() -> None:
    broken = f"x = (\n{TEST}"

    assert after(broken) == []
    assert after(broken.replace("    assert add(0, 0) == 0\n", "")) == [
        f"{A}: test_adds has 1 of 2 assertions left"
    ]
