"""A test whose name is given to something else further down is not run."""

from __future__ import annotations

import pytest

from bernstein.checks.weakening.rebound_tests import newly_rebound
from tests.unit.checks.weakening.told import found

TOO_LARGE = "is too large, or too deep, to tell which of its tests are run"
TESTS = """\
import pytest

def test_a():
    assert f() == 1

class TestB:
    def test_c(self):
        assert f() == 1
"""


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ("def test_a():\n    pass\n", "test_a"),
        ("async def test_a():\n    pass\n", "test_a"),
        ("test_a = lambda: None\n", "test_a"),
        ("test_a: object = None\n", "test_a"),
        ("x = (test_a, y) = 1, 2\n", "test_a"),
        ("del test_a\n", "test_a"),
        ("from easy import test_a\n", "test_a"),
        ("import easy as test_a\n", "test_a"),
        ("if True:\n    def test_a(): pass\n", "test_a"),
        ("try:\n    from easy import test_a\nexcept ImportError:\n    pass\n", "test_a"),
        ("for test_a in (1,): pass\n", "test_a"),
        ("class TestB:\n    pass\n", "TestB"),
        ("    def test_c(self): pass\n", "TestB.test_c"),
        ("match 1:\n    case _:\n        def test_a(): pass\n", "test_a"),
        ("match 1:\n    case test_a: pass\n", "test_a"),
        ("print(test_a := 1)\n", "test_a"),
        ("def f(x=(test_a := 1)): pass\n", "test_a"),
        ("with f() as test_a: pass\n", "test_a"),
        ("try: f()\nexcept* E as test_a: pass\n", "test_a"),
        ("while f(): pass\nelse: test_a = 1\n", "test_a"),
        ("type X = int\ntest_a = 1\n", "test_a"),
        ("def f[T](): pass\ndel test_a\n", "test_a"),
    ],
)
def test_what_takes_a_tests_name_is_told(more: str, name: str) -> None:
    assert newly_rebound(TESTS.encode(), (TESTS + more).encode()) == [name]
    (said, *_) = found({"test_a.py": TESTS}, {"test_a.py": TESTS + more})
    assert said == f"test_a.py: {name} is bound again: only what comes last is run"


@pytest.mark.parametrize(
    "text",
    [
        TESTS,
        TESTS + "def test_d():\n    pass\n",
        TESTS + "class TestE:\n    def test_c(self): pass\n",
        TESTS + "def helper():\n    test_a = 1\n",
        TESTS + "def test_new(): pass\ndef test_new(): pass\n",
        TESTS + "(",
        TESTS + "assert test_a\n",
        TESTS + "match 1:\n    case 1: pass\n",
        TESTS + "def f[T](): pass\n# test_a = 1\n",
        "from easy import *\n" + TESTS,
        "type X = int\n" + TESTS,
    ],
)
def test_other_names_and_other_places_are_not(text: str) -> None:
    assert newly_rebound(TESTS.encode(), text.encode()) == []


def test_one_that_was_there_twice_already_stays() -> None:
    twice = TESTS + "def test_a(): pass\n"
    assert newly_rebound(twice.encode(), (twice + "x = 1\n").encode()) == []
    thrice = twice + "def test_a(): pass\n"
    assert newly_rebound(twice.encode(), thrice.encode()) == ["test_a"]


def test_branches_that_exclude_one_another_are_one_place() -> None:
    before = "def test_a():\n    assert f()\n"
    indented = before.replace("\n", "\n    ")
    both = f"if NEW:\n    def test_a():\n        assert f()\nelse:\n    {indented}"
    assert newly_rebound(before.encode(), both.encode()) == []


@pytest.mark.parametrize("text", ["(" * 5000, "x" * 600_000, "\0", "if 1:\n " * 300])
def test_what_cannot_be_read_has_none(text: str) -> None:
    assert newly_rebound(b"def test_a(): pass", text.encode()) == []


def test_what_is_imported_with_a_star_may_be_each_test_above_it() -> None:
    star = "from easy import *\n"
    both = ["TestB", "test_a"]

    assert newly_rebound(TESTS.encode(), (TESTS + star).encode()) == both
    assert newly_rebound(TESTS.encode(), (TESTS + f"if f():\n    {star}").encode()) == both
    many = (TESTS + star * 20_000).encode()
    assert newly_rebound(TESTS.encode(), many) == both


DEEP = {
    "elif": "if f():\n    pass\n" + "elif f():\n    pass\n" * 600,
    "dots": "f" + ".f" * 5000 + "\n",
    "signs": "-" * 5000 + "1\n",
}


@pytest.mark.parametrize("deep", DEEP.values(), ids=DEEP)
def test_a_file_that_becomes_too_deep_to_be_parsed_is_told(deep: str) -> None:
    hidden = f"{TESTS}test_a = None\n{deep}"

    assert found({"test_a.py": TESTS}, {"test_a.py": hidden}) == [f"test_a.py: {TOO_LARGE}"]
    assert found({"test_a.py": TESTS}, {"test_b.py": hidden}) == [f"test_b.py: {TOO_LARGE}"]
    assert found({"test_a.py": TESTS + deep}, {"test_a.py": hidden}) == []
    assert found({}, {"test_a.py": hidden}) == []


def test_a_test_that_moves_and_is_bound_again_is_told() -> None:
    (told,) = found({"test_a.py": TESTS}, {"test_b.py": f"{TESTS}test_a = None\n"})

    assert told == "test_b.py: test_a is bound again: only what comes last is run"


def test_a_file_that_becomes_too_large_to_look_through_is_told() -> None:
    padded = TESTS + "#" * 600_000 + "\ntest_a = None\n"

    (told,) = found({"test_a.py": TESTS}, {"test_a.py": padded})

    assert told == f"test_a.py: {TOO_LARGE}"
    assert found({"test_a.py": padded}, {"test_a.py": padded + "x = 1\n"}) == []
